import assert from "node:assert/strict";
import { scenario } from "../app/scenario";
import { NOTES } from "./vaults";

scenario("the app itself: a note is opened, typed in and saved; the disk is followed", { files: NOTES, kb: null }, async (desk) => {
  await desk.openNote("Perpetuals.md");
  await desk.cursor(2, 0);
  await desk.page.keyboard.type("Typed 字. ");
  await desk.disk("Perpetuals.md", (text) => text.includes("\nTyped 字. A swap"));
  await desk.put("Perpetuals.md", "# Perpetuals\n\nWritten by another program.\n");
  await desk.page.waitForFunction(() => window.app.workspace.lastEditor()?.getValue().includes("another program"));
  await desk.move("Funding rate.md", "moved/Rate.md");
  await desk.page.waitForFunction(() => window.app.vault.getFileByPath("moved/Rate.md") !== null);
});

scenario("the app itself: a rename inside rewrites the links", { files: NOTES, kb: null }, async (desk) => {
  await desk.page.evaluate(() => {
    const file = window.app.vault.getFileByPath("Funding rate.md");
    return file === null ? undefined : window.app.fileManager.renameFile(file, "notes/Rate.md");
  });
  assert.match(await desk.text("Perpetuals.md"), /See \[\[Rate\]\]/);
  assert.match(await desk.text("可转债.md"), /\[\[Rate\|资金费率\]\]/);
});
