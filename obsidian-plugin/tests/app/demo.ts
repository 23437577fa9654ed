/** The test app for a person: a demo vault, the plugin in it, and what to try. `make demo` starts it. */

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { kbCommand } from "./places";
import { AppServer } from "./server";

const folder = mkdtempSync(join(tmpdir(), "oh-my-kb-demo-"));
const vault = join(folder, "vault");
const env = { ...process.env, HOME: folder, OHMYKB_HOME: join(folder, "home") } as Record<string, string>;
execFileSync(kbCommand(), ["init", vault], { env, stdio: "ignore" });
const data = join(vault, ".obsidian", "plugins", "oh-my-kb");
mkdirSync(data, { recursive: true });
writeFileSync(join(data, "data.json"), JSON.stringify({ command: kbCommand() }));
const language = /^zh/.test(process.env["LANG"] ?? "") ? "zh" : "en";
const server = new AppServer({ vault, language, theme: "light", env, plugin: true });
await server.start();
console.log(`
A stand-in for Obsidian with the plugin in it, over a demo vault. It is not the app: it shows what the plugin does.

  Open in a browser:  ${server.address}
  The vault:          ${vault}

Try this:
  1. Answer the welcome screen: "Mend by itself on this device".
  2. Press Ctrl+P, choose "Probe wiki", type: funding rate. Some seconds after the start, when the
     meanings are worked out, the Chinese note comes first. Enter opens it.
  3. Ctrl+P, "Related notes": what belongs with the note.
  4. A link that mends. Rename a note as another program would, in a second terminal:
       mv "${vault}/wiki/concepts/资金费率.md" "${vault}/wiki/concepts/资金费率 2.md"
     Within seconds a notice says which links were mended, with an Undo button.
  5. Ctrl+P, "History of changes": everything written, each with Undo.
  Ctrl+, opens the settings.

Ctrl+C ends it, and deletes the demo vault.
`);
let over = false;
async function end(): Promise<void> {
  if (over) return;
  over = true;
  await server.stop();
  try {
    execFileSync(kbCommand(), ["--vault", vault, "stop"], { env, stdio: "ignore" });
  } catch {
    // it ended with the app
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  process.exit(0);
}
process.on("SIGINT", () => void end());
process.on("SIGTERM", () => void end());
