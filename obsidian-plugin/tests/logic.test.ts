import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join as joinPath } from "node:path";
import { describe, expect, it } from "vitest";
import type { Hit, Operation } from "../src/api/answers";
import { compare, diffRows } from "../src/diff/rows";
import { fileFor, readCanvas } from "../src/maps/canvas";
import { readQuestion, typedFrom } from "../src/probe/question";
import { join, marked } from "../src/probe/rows";
import { readSettings } from "../src/settings";
import { commands, discover, stateFolder, vaultKey } from "../src/sidecar/places";
import { findCommand } from "../src/sidecar/process";
import { Signal } from "../src/signal";
import { en } from "../src/text/en";
import { Text } from "../src/text/text";
import { zh } from "../src/text/zh";
import { applyEdits, linesOf, sha256 } from "../src/vault/edits";
import { undoneOf } from "../src/views/history-view";

const hit = (path: string, title = path): Hit => ({
  path, title, score: 1, confidence: "high", why: [], heading: null, line: 1, snippet: "", cite: "",
});

describe("the question", () => {
  it.each([
    ["tomatoes", { q: "tomatoes" }],
    ["tomatoes in:notes/ tag:#food", { q: "tomatoes", in: "notes", tag: "food" }],
    ['in:"my notes" what is this', { q: "what is this", in: "my notes" }],
    ["since:2026-01-01 资金费率", { q: "资金费率", since: "2026-01-01" }],
    ["since:2026-1 x", { q: "x" }],
    ["written in: haste", { q: "written in: haste" }],
    ["http://a.b/tag:x", { q: "http://a.b/tag:x" }],
    ["   ", { q: "" }],
  ])("%s", (typed, wanted) => expect(readQuestion(typed)).toEqual(wanted));

  it("comes back from a link as one would type it", () => {
    expect(typedFrom({ probe: "a b", in: "my notes", tag: "x" })).toBe('a b in:"my notes" tag:x');
    expect(readQuestion(typedFrom({ probe: "a", in: "my notes" }))).toEqual({ q: "a", in: "my notes" });
  });
});

describe("the list", () => {
  const paths = (hits: Hit[]): string[] => hits.map((one) => one.path);

  it("takes the new order while nobody moved", () => {
    expect(paths(join([hit("a"), hit("b")], [hit("c"), hit("a")], 0, false))).toEqual(["c", "a"]);
  });

  it("keeps what stands above the chosen row, and the row", () => {
    const fresh = [hit("c"), hit("b", "newer"), hit("d")];
    const rows = join([hit("a"), hit("b"), hit("e")], fresh, 1, true);
    expect(paths(rows)).toEqual(["a", "b", "c", "d"]);
    expect(rows[1]?.title).toBe("newer");
  });

  it.each([
    ["What is put up as security.", "security put", ["put", "security"]],
    ["资金费率由多头付给空头", "资金费率怎么算", ["资金费率"]],
    ["Nothing here", "absent", []],
    ["a.b (c)", "(c) .b", []],
  ])("marks in %s what %s asks for", (snippet, question, wanted) => {
    const parts = marked(snippet, question);
    expect(parts.map((part) => part.text).join("")).toBe(snippet);
    expect(parts.filter((part) => part.mark).map((part) => part.text)).toEqual(wanted);
  });
});

describe("a diff", () => {
  const unified = "--- a.md\n+++ a.md\n@@ -1,3 +1,3 @@\n same\n-To [[Funding rates]] 去\n+To [[Funding rate]] 去\n\\ No newline at end of file\n";

  it("becomes rows with the words that differ", () => {
    const rows = diffRows(unified);
    expect(rows.map((row) => row.kind)).toEqual(["same", "out", "in"]);
    expect(rows[1]?.parts.filter((part) => part.changed).map((part) => part.text)).toEqual(["rates"]);
    expect(rows[2]?.parts.map((part) => part.text).join("")).toBe("To [[Funding rate]] 去");
  });

  it("is by characters in Chinese", () => {
    expect(compare("资金费率高", "资金费用高").filter((part) => part.changed)).toEqual([{ text: "率", changed: true }]);
  });

  it("marks whole lines that were only added", () => {
    expect(diffRows("+new").map((row) => row.parts)).toEqual([[{ text: "new", changed: true }]]);
  });
});

describe("edits", () => {
  it("are places in UTF-16 units, all of the text before", () => {
    const before = "𠮷 [[a]] and [[b]]\n";
    expect(applyEdits(before, [{ start: 5, end: 6, text: "aa" }, { start: 15, end: 16, text: "B" }])).toBe("𠮷 [[aa]] and [[B]]\n");
  });

  it("touch lines", () => {
    expect([...linesOf("one\ntwo\nthree\n", [{ start: 5, end: 9, text: "" }])]).toEqual([1, 2]);
  });

  it("are checked by hash", async () => {
    expect(await sha256("资金")).toBe(createHash("sha256").update("资金").digest("hex"));
  });
});

describe("where the sidecar is found", () => {
  const system = { platform: "linux", env: {} as Record<string, string | undefined>, home: "/home/me" };

  it("by the key of the vault", async () => {
    const folder = realpathSync(mkdtempSync(joinPath(tmpdir(), "omk-unit-")));
    const key = createHash("sha256").update(folder.normalize("NFC")).digest("hex").slice(0, 16);
    expect(await vaultKey(folder, "linux")).toBe(key);
    expect(await vaultKey(folder, "win32")).toBe(createHash("sha256").update(folder.toLowerCase()).digest("hex").slice(0, 16));
    const home = joinPath(folder, "home");
    const state = joinPath(home, "state", key);
    expect(await discover(folder, { ...system, env: { OHMYKB_HOME: home } })).toBeNull();
    mkdirSync(state, { recursive: true });
    const said = { port: 5, pid: 6, token: "t", api: 1, version: "1", vault: folder };
    writeFileSync(joinPath(state, "sidecar.json"), JSON.stringify(said));
    expect(await discover(folder, { ...system, env: { OHMYKB_HOME: home } })).toEqual(said);
    writeFileSync(joinPath(state, "sidecar.json"), "{");
    expect(await discover(folder, { ...system, env: { OHMYKB_HOME: home } })).toBeNull();
  });

  it.each([
    ["linux", {}, "/home/me/.local/state/oh-my-kb"],
    ["linux", { XDG_STATE_HOME: "/x" }, "/x/oh-my-kb"],
    ["darwin", {}, "/home/me/Library/Application Support/oh-my-kb/state"],
    ["win32", { LOCALAPPDATA: "/l" }, "/l/oh-my-kb/State"],
    ["linux", { OHMYKB_HOME: "/o" }, "/o/state"],
  ])("on %s with %o", (platform, env, wanted) => {
    expect(stateFolder({ platform, env, home: "/home/me" })).toBe(wanted);
  });

  it("by the setting alone where there is one", () => {
    expect(commands("  /opt/kb ", system)).toEqual(["/opt/kb"]);
    expect(commands("", { ...system, env: { PATH: "/a:/usr/bin" } })).toEqual([
      "/home/me/.local/bin/kb", "/opt/homebrew/bin/kb", "/usr/local/bin/kb", "/usr/bin/kb", "/a/kb",
    ]);
    expect(commands("", { ...system, platform: "win32" })).toContain("kb.exe");
  });

  it("the first that is there", async () => {
    expect(await findCommand(["/nowhere/kb", process.execPath])).toBe(process.execPath);
    expect(await findCommand(["/nowhere/kb"])).toBeNull();
    expect(await findCommand(["/nowhere/kb", "kb.exe"])).toBe("kb.exe");
  });
});

describe("words", () => {
  it("are the same in both languages, with the same places to fill", () => {
    const places = (words: string): string[] => (words.match(/\{\w+\}/g) ?? []).sort();
    expect(Object.keys(zh).sort()).toEqual(Object.keys(en).sort());
    for (const key of Object.keys(en) as (keyof typeof en)[]) expect([key, places(zh[key])]).toEqual([key, places(en[key])]);
  });

  it("follow the app's language", () => {
    expect(new Text("zh-TW").say("probe.open")).toBe("探问知识库");
    expect(new Text("de").say("state.ready", { notes: 5 })).toBe("KB: 5 notes");
    expect(new Text("en").word("rule", "unheard-of")).toBe("unheard-of");
    expect(new Text("en").fault({ code: "busy", message: "It is busy.", fix: "Wait" })).toBe("It is busy. Wait");
    expect(new Text("en").fault({ code: "misfit", message: "x", fix: "" })).toContain(": x");
  });
});

describe("a canvas in small", () => {
  it("is boxes and lines, whatever else is in it", () => {
    const node = (id: string, more: object): object => ({ id, x: 0, y: 0, width: 10, height: 10, ...more });
    const { boxes, lines } = readCanvas(
      JSON.stringify({
        nodes: [
          node("1", { type: "file", file: "a/b 资金.md", color: "3" }),
          node("2", { type: "text", text: "one\ntwo", color: "#ff0000" }),
          node("3", { type: "group", label: "G" }),
          { id: "4", type: "file" },
          5,
        ],
        edges: [{ fromNode: "1", toNode: "2" }, { fromNode: "1", toNode: "9" }],
      }),
    );
    expect(boxes.map((box) => [box.name, box.color])).toEqual([["b 资金", "3"], ["one", ""], ["G", ""]]);
    expect(lines.map(([a, b]) => [a.id, b.id])).toEqual([["1", "2"]]);
    expect(readCanvas("{").boxes).toEqual([]);
    expect(readCanvas("null").boxes).toEqual([]);
  });
});

it.each([
  ["", "{title} map", "资金费率", "资金费率 map.canvas"],
  ["maps", "{title}", 'a/b: "c"?', "maps/a b c.canvas"],
  ["/", "Map of {title}", "x", "Map of x.canvas"],
  ["m", "...", "x", "m/Map.canvas"],
])("a map in %s named %s", (folder, pattern, title, wanted) => expect(fileFor(folder, pattern, title)).toBe(wanted));

describe("small things", () => {
  it("settings of any shape are read", () => {
    expect(readSettings(null)).toMatchObject({ start: true, chosen: false, cite: "link" });
    expect(readSettings({ start: "no", cite: "heading", command: 5, chosen: 1 })).toMatchObject({
      start: true, cite: "heading", command: "", chosen: false,
    });
  });

  it("a signal tells, until it is told not to", () => {
    const heard: number[] = [];
    const signal = new Signal(1);
    const end = signal.on((value) => heard.push(value));
    signal.set(2);
    end();
    signal.set(3);
    expect([heard, signal.value]).toEqual([[2], 3]);
  });

  it("what was undone, and done again by undoing the undo", () => {
    const op = (id: string, undoes: string[] = []): Operation => ({
      id, kind: "", at: "", hand: "", decider: "", reasons: [], state: "committed", undoes, files: [],
    });
    expect([...undoneOf([op("a"), op("b"), op("c", ["a"])])]).toEqual(["a"]);
    expect([...undoneOf([op("a"), op("c", ["a"]), op("d", ["c"])])]).toEqual(["c"]);
  });
});
