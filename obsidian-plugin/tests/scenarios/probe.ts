import assert from "node:assert/strict";
import type { Desk } from "../app/desk";
import { scenario } from "../app/scenario";
import { NOTES } from "./vaults";

const withNotes = { files: NOTES };

async function ask(desk: Desk, text: string): Promise<void> {
  await desk.command(desk.chinese ? "探问知识库" : "Probe wiki");
  await desk.page.waitForSelector(".omk-probe .prompt-input");
  await desk.page.keyboard.type(text);
}

scenario("probe: by keyboard alone, to the line", withNotes, async (desk) => {
  await desk.ready();
  await ask(desk, "security put up");
  await desk.see(".omk-hit.is-selected", "Perpetuals");
  await desk.see(".omk-snippet mark", "security");
  await desk.picture("probe-light-en");
  await desk.page.keyboard.press("Enter");
  await desk.gone(".omk-probe");
  await desk.page.waitForFunction(() => window.app.workspace.getActiveFile()?.path === "Perpetuals.md");
  const at = await desk.cursorNow();
  assert.ok((at?.line ?? 0) >= 4, `the cursor stands in line ${at?.line}`);
});

scenario("probe: across languages, in Chinese and dark", { ...withNotes, language: "zh", theme: "dark" }, async (desk) => {
  await desk.encoded();
  await ask(desk, "convertible bond");
  await desk.see(".omk-hit", "可转债");
  await desk.see(".omk-why", /意思|正文/);
  await desk.picture("probe-dark-zh");
});

scenario("probe: an input method's Enter opens nothing", withNotes, async (desk) => {
  await desk.ready();
  await ask(desk, "");
  const client = await desk.page.context().newCDPSession(desk.page);
  await client.send("Input.imeSetComposition", { text: "huayuan", selectionStart: 7, selectionEnd: 7 });
  await desk.page.evaluate(() => {
    const input = document.querySelector(".omk-probe .prompt-input");
    input?.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", isComposing: true, bubbles: true }));
    input?.dispatchEvent(new KeyboardEvent("keydown", { key: "Process", bubbles: true }));
  });
  assert.equal(desk.server.asked.some((one) => one.includes("/probe")), false, "nothing is asked while composing");
  assert.equal(await desk.page.locator(".omk-probe").count(), 1);
  await client.send("Input.insertText", { text: "花园" });
  await desk.see(".omk-hit", "花园");
  await desk.page.keyboard.press("Enter");
  await desk.page.waitForFunction(() => window.app.workspace.getActiveFile()?.path === "notes/花园.md");
});

scenario("probe: new tab, split, and a citation at the cursor", withNotes, async (desk) => {
  await desk.ready();
  await desk.openNote("notes/Garden.md");
  await desk.cursor(2, 0);
  await ask(desk, "perpetuals");
  await desk.see(".omk-hit.is-selected", "Perpetuals");
  await desk.page.keyboard.press("Shift+Enter");
  await desk.gone(".omk-probe");
  assert.match((await desk.editorText()) ?? "", /\n\[\[Perpetuals\]\]Tomatoes/);
  await desk.disk("notes/Garden.md", (text) => text.includes("[[Perpetuals]]Tomatoes"));
  const leaves = (): Promise<number> => desk.page.evaluate(() => window.app.workspace.leaves.filter((leaf) => leaf.side === "main").length);
  const before = await leaves();
  await ask(desk, "perpetuals");
  await desk.see(".omk-hit.is-selected", "Perpetuals");
  await desk.page.keyboard.press("Control+Enter");
  await desk.page.waitForFunction((count) => window.app.workspace.leaves.filter((leaf) => leaf.side === "main").length === count + 1, before);
});

scenario("probe: filters", withNotes, async (desk) => {
  await desk.ready();
  await ask(desk, "tomatoes in:notes");
  await desk.see(".omk-hit", "Garden");
  await desk.page.fill(".omk-probe .prompt-input", "rate tag:crypto");
  await desk.page.waitForFunction(() => document.querySelectorAll(".omk-hit").length === 1);
  await desk.see(".omk-hit", "Funding rate");
  assert.deepEqual((await desk.texts(".omk-hit .omk-path")), ["Funding rate.md"]);
});

scenario("probe: the vault has nothing", withNotes, async (desk) => {
  await desk.ready();
  await ask(desk, "zymurgy of quasars");
  await desk.see(".omk-remark", /nothing on this|may help/);
  await desk.picture("probe-nothing-light-en");
});

scenario("probe: the list does not jump under the hand", withNotes, async (desk) => {
  await desk.ready();
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  desk.server.intercept = async (url) => {
    if (url.includes("mode=hybrid")) await held;
    return null;
  };
  await ask(desk, "rate");
  await desk.see(".omk-hit");
  await desk.page.keyboard.press("ArrowDown");
  const before = await desk.texts(".omk-hit.is-selected .omk-path");
  const above = (await desk.texts(".omk-hit .omk-path")).slice(0, 2);
  release();
  await desk.page.waitForFunction(() => document.querySelectorAll(".omk-hit").length >= 2);
  await desk.page.waitForTimeout(300);
  assert.deepEqual(await desk.texts(".omk-hit.is-selected .omk-path"), before);
  assert.deepEqual((await desk.texts(".omk-hit .omk-path")).slice(0, 2), above);
});

scenario("probe: from a link and from the app's command line", withNotes, async (desk) => {
  await desk.ready();
  const said = await desk.page.evaluate(() => window.app.cli.get("oh-my-kb:probe")?.({ q: "tomatoes" }));
  assert.match(String(said), /\[\[Garden\]\]/);
  await desk.page.evaluate(() => void window.app.protocols.get("oh-my-kb")?.({ probe: "tomatoes", in: "notes" }));
  await desk.see(".omk-hit", "Garden");
  assert.equal(await desk.page.inputValue(".omk-probe .prompt-input"), "tomatoes in:notes");
});

scenario("probe: a canvas is found by its text, and opened", {
  files: { ...NOTES, "Board.canvas": '{"nodes":[{"id":"a","type":"text","text":"quinces and medlars","x":0,"y":0,"width":200,"height":80}],"edges":[]}' },
}, async (desk) => {
  await desk.ready();
  await ask(desk, "medlars");
  await desk.see(".omk-hit.is-selected", "Board");
  await desk.page.keyboard.press("Enter");
  await desk.see(".canvas-node", "quinces");
});
