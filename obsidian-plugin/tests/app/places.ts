import { existsSync } from "node:fs";
import { join, resolve } from "node:path";

/** The folder of the plugin; the runner is started there. */
export const PLUGIN = resolve(process.cwd());
export const REPO = resolve(PLUGIN, "..");

/** The command of this checkout: `$OMK_KB`, else what `make` installed. */
export function kbCommand(): string {
  const named = process.env["OMK_KB"];
  if (named !== undefined && named !== "") return named;
  const built = join(process.env["OMK_VENV"] ?? join(REPO, ".venv"), "bin", "kb");
  if (existsSync(built)) return built;
  throw new Error(`${built} is not there: run \`make test\` once, or name the command with OMK_KB`);
}
