// Builds the release twice: the same bytes must come out, for the directory builds it from source as well.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync } from "node:fs";

function built() {
  rmSync("dist", { recursive: true, force: true });
  execFileSync(process.execPath, ["esbuild.config.mjs"], { stdio: "inherit" });
  return readdirSync("dist").sort().map((name) => {
    return `${createHash("sha256").update(readFileSync(`dist/${name}`)).digest("hex")}  ${name}`;
  });
}

const [first, second] = [built(), built()];
if (first.join() !== second.join()) throw new Error(`Two builds differ:\n${first.join("\n")}\n${second.join("\n")}`);
console.log(first.join("\n"));
