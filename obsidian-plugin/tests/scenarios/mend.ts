import assert from "node:assert/strict";
import { utimes } from "node:fs/promises";
import { join } from "node:path";
import type { Desk } from "../app/desk";
import { scenario } from "../app/scenario";
import { NOTES } from "./vaults";

const auto = { files: NOTES, mode: "auto" as const, indexed: true };

/** Nobody touched these notes for a while. */
async function rest(desk: Desk): Promise<void> {
  const then = new Date(Date.now() - 3_600_000);
  for (const path of Object.keys(NOTES)) await utimes(join(desk.vault, path), then, then).catch(() => undefined);
}

scenario("mend: a rename outside, in the open note and in others, and undone", auto, async (desk) => {
  await rest(desk);
  await desk.ready();
  await desk.openNote("Perpetuals.md");
  await desk.cursor(6, 4);
  const before = { perpetuals: await desk.text("Perpetuals.md"), bond: await desk.text("可转债.md") };
  await desk.move("Funding rate.md", "terms/Funding 资金费率.md");
  await desk.see(".notice", /Links mended: 2, in notes: 2/);
  await desk.disk("Perpetuals.md", (text) => text.includes("[[Funding 资金费率]]"));
  await desk.disk("可转债.md", (text) => text.includes("[[Funding 资金费率|资金费率]]"));
  assert.deepEqual(await desk.cursorNow(), { line: 6, ch: 4 });
  assert.match((await desk.editorText()) ?? "", /\[\[Funding 资金费率\]\]/);
  await desk.picture("mend-notice-light-en");
  const written = JSON.parse(await desk.kb("history", "--json")) as { operations: { hand: string; state: string }[] };
  assert.ok(written.operations.every((op) => op.hand === "plugin" && op.state === "committed"));
  await desk.page.evaluate(() => window.app.workspace.lastEditor()?.undo());
  assert.match((await desk.editorText()) ?? "", /\[\[Funding rate\]\]/, "the editor's own undo takes it back too");
  await desk.page.evaluate(() => window.app.workspace.lastEditor()?.redo());
  await desk.disk("Perpetuals.md", (text) => text.includes("[[Funding 资金费率]]"));
  await desk.click(".notice .omk-undo");
  await desk.disk("Perpetuals.md", (text) => text === before.perpetuals);
  await desk.disk("可转债.md", (text) => text === before.bond);
});

scenario("mend: never in the line under the cursor", auto, async (desk) => {
  await rest(desk);
  await desk.ready();
  await desk.openNote("Perpetuals.md");
  await desk.cursor(2, 3);
  await desk.move("Funding rate.md", "Rate.md");
  await desk.disk("可转债.md", (text) => text.includes("[[Rate|资金费率]]"));
  assert.match(await desk.text("Perpetuals.md"), /\[\[Funding rate\]\]/);
  await desk.cursor(6, 0);
  const until = Date.now() + 30_000;
  while (!(await desk.text("Perpetuals.md")).includes("[[Rate]]") && Date.now() < until) await desk.page.waitForTimeout(200);
  assert.match(await desk.text("Perpetuals.md"), /\[\[Rate\]\]/);
});

scenario("mend: what was typed a moment ago is only proposed", { ...auto, indexed: true }, async (desk) => {
  await desk.ready();
  await desk.openNote("notes/Garden.md");
  await desk.command("Related notes");
  await desk.cursor(2, 0);
  await desk.page.keyboard.type("[[ｐｅｒｐｅｔｕａｌｓ]] ");
  await desk.see(".omk-change ins", "[[Perpetuals]]");
  assert.match(await desk.text("notes/Garden.md"), /\[\[ｐｅｒｐｅｔｕａｌｓ\]\]/);
});

scenario("mend: a note edited while the plan is open is not written", { files: { ...NOTES, "s.md": "To [[Funding rates]].\n" } }, async (desk) => {
  await desk.ready();
  await desk.openNote("s.md");
  await desk.command("Related notes");
  await desk.see(".omk-change ins", "[[Funding rate]]");
  desk.server.intercept = async (url) => {
    if (url.endsWith("/prepare")) {
      desk.server.intercept = null;
      await desk.put("s.md", "Another thought. To [[Funding rates]].\n");
    }
    return null;
  };
  await desk.click(".omk-mend button.mod-cta");
  await desk.see(".notice", /changed meanwhile|nothing was/i);
  assert.equal(await desk.text("s.md"), "Another thought. To [[Funding rates]].\n");
});

scenario("mend: Obsidian closes between prepare and commit", { files: { ...NOTES, "s.md": "To [[Funding rates]].\n" } }, async (desk) => {
  await desk.ready();
  await desk.openNote("s.md");
  await desk.command("Related notes");
  await desk.see(".omk-change ins", "[[Funding rate]]");
  let closed = (): void => undefined;
  const gone = new Promise<void>((resolve) => (closed = resolve));
  desk.server.intercept = (url) => {
    if (!url.includes("/commit")) return Promise.resolve(null);
    closed();
    return new Promise(() => undefined);
  };
  await desk.click(".omk-mend button.mod-cta");
  await gone;
  await desk.closeApp();
  await desk.kb("stop").catch(() => "");
  await desk.start();
  await desk.ready();
  assert.equal(await desk.text("s.md"), "To [[Funding rate]].\n");
  const { operations } = JSON.parse(await desk.kb("history", "--json")) as { operations: { id: string; state: string }[] };
  assert.deepEqual(operations.map((op) => op.state), ["committed"]);
  await desk.kb("undo", operations[0]?.id ?? "");
  assert.equal(await desk.text("s.md"), "To [[Funding rates]].\n");
});

scenario("mend: what Obsidian renames is left to Obsidian", auto, async (desk) => {
  await rest(desk);
  await desk.ready();
  await desk.page.evaluate(() => {
    const file = window.app.vault.getFileByPath("Funding rate.md");
    return file === null ? undefined : window.app.fileManager.renameFile(file, "notes/Rate.md");
  });
  await desk.disk("Perpetuals.md", (text) => text.includes("[[Rate]]"));
  await desk.page.waitForTimeout(3_000);
  assert.ok(desk.server.asked.includes("POST /renames"));
  const { operations } = JSON.parse(await desk.kb("history", "--json")) as { operations: unknown[] };
  assert.deepEqual(operations, []);
});

scenario("mend: off means off", { ...auto, mode: "off" }, async (desk) => {
  await rest(desk);
  await desk.ready();
  await desk.move("Funding rate.md", "Rate.md");
  await desk.page.waitForTimeout(3_000);
  assert.match(await desk.text("Perpetuals.md"), /\[\[Funding rate\]\]/);
});

scenario("mend: what is typed and not saved yet is never written over", { files: { ...NOTES, "s.md": "To [[Funding rates]].\n\nEnd.\n" } }, async (desk) => {
  await desk.ready();
  await desk.openNote("s.md");
  await desk.command("Related notes");
  await desk.see(".omk-change ins", "[[Funding rate]]");
  desk.server.intercept = async (url) => {
    if (url.endsWith("/prepare")) {
      desk.server.intercept = null;
      await desk.page.evaluate(() => window.app.workspace.lastEditor()?.replaceRange("Typed. ", { line: 0, ch: 0 }));
    }
    return null;
  };
  await desk.click(".omk-mend button.mod-cta");
  await desk.see(".notice", /changed meanwhile/);
  await desk.disk("s.md", (text) => text === "Typed. To [[Funding rates]].\n\nEnd.\n");
});

scenario("mend: line ends of other systems stay", { files: { ...NOTES, "s.md": "To [[Funding rates]].\r\n\r\nEnd.\r\n" } }, async (desk) => {
  await desk.ready();
  await desk.openNote("s.md");
  await desk.command("Related notes");
  await desk.click(".omk-mend button.mod-cta");
  await desk.disk("s.md", (text) => text === "To [[Funding rate]].\r\n\r\nEnd.\r\n");
});
