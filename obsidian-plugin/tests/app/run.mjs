// Bundles the runner (or what --entry= names) for Node, and runs it.
import { mkdirSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";

const entry = process.env.OMK_ENTRY ?? "runner";
mkdirSync("node_modules/.omk", { recursive: true });
const outfile = `node_modules/.omk/${entry}.mjs`;
await build({
  entryPoints: [`tests/app/${entry}.ts`],
  outfile,
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20",
  packages: "external",
  logLevel: "warning",
});
await import(pathToFileURL(outfile).href);
