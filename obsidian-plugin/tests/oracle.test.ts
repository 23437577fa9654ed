/** The stand-in app reads and resolves links as the real one reported for a public vault. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { linkpathOf, names, references, resolve } from "./app/shim/links";

const SHARED = process.env["OHMYKB_SHARED"] ?? join(import.meta.dirname, "../../../shared");
const ORACLE = join(SHARED, "oracle/obsidian-tasks");

describe.skipIf(!existsSync(ORACLE))("the real app's own report (set OHMYKB_SHARED where it is not found)", () => {
  const vault = join(ORACLE, "vault");
  const paths = (readdirSync(vault, { recursive: true }) as string[]).filter((path) => /\.\w+$/.test(path));
  const byName = names(paths);
  const resolved = JSON.parse(readFileSync(join(ORACLE, "resolvedLinks.json"), "utf8")) as Record<string, Record<string, number>>;

  it("resolved links of the bodies of all notes", () => {
    const wrong: string[] = [];
    let right = 0;
    for (const [source, wanted] of Object.entries(resolved)) {
      const text = readFileSync(join(vault, source), "utf8");
      const found = references(text).map((one) => linkpathOf(one.link));
      const aims = found.map((path) => resolve(path, source, byName));
      for (const [aim, count] of Object.entries(wanted)) {
        const own = aims.filter((one) => one === aim).length + inProperties(text, source, aim);
        if (own === count) right++;
        else wrong.push(`${source} → ${aim}: ${own}, not ${count}`);
      }
    }
    expect(right).toBeGreaterThan(30);
    expect(wrong.length, wrong.join("\n")).toBeLessThanOrEqual(1); // one entry of the report is known to be stale
  });

  it("links and embeds of single notes, as written and where", () => {
    interface Dump {
      fileContents: string;
      cachedMetadata: Record<"links" | "embeds", { original: string; position: { start: { offset: number } } }[] | undefined>;
    }
    for (const name of readdirSync(join(ORACLE, "metadata"))) {
      const dump = JSON.parse(readFileSync(join(ORACLE, "metadata", name), "utf8")) as Dump;
      const { links = [], embeds = [] } = dump.cachedMetadata;
      const wanted = [...links, ...embeds].map((one) => [one.position.start.offset, one.original]);
      const found = references(dump.fileContents).map((one) => [one.start, one.original]);
      expect([name, found]).toEqual([name, wanted.sort((a, b) => Number(a[0]) - Number(b[0]))]);
    }
  });

  /** The app counts links in properties as well, which the stand-in does not read. */
  function inProperties(text: string, source: string, aim: string): number {
    const front = /^---\n([\s\S]*?)\n---/.exec(text)?.[1] ?? "";
    return references(front).filter((one) => resolve(linkpathOf(one.link), source, byName) === aim).length;
  }
});
