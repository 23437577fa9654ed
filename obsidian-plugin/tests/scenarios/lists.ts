import assert from "node:assert/strict";
import { scenario } from "../app/scenario";
import { NOTES } from "./vaults";

const broken = { ...NOTES, "a.md": "[[Funding rates]] [[ｇａｒｄｅｎ]]\n", "b.md": "[[Perpetual]] and [[Nothing like it]]\n" };

scenario("broken links: all that is certain at once, one by one, and put aside", { files: broken }, async (desk) => {
  await desk.ready();
  await desk.command("Broken links");
  await desk.see(".omk-head", "4 broken links");
  await desk.picture("broken-light-en");
  await desk.click(".omk-head button.mod-cta");
  await desk.disk("a.md", (text) => text === "[[Funding rates]] [[Garden]]\n");
  await desk.see(".omk-head", "3 broken links");
  await desk.page.locator(".omk-mend", { hasText: "[[Perpetual]]" }).locator("button.mod-cta").click();
  await desk.disk("b.md", (text) => text === "[[Perpetuals]] and [[Nothing like it]]\n");
  await desk.page.locator(".omk-mend", { hasText: "Funding rates" }).locator("button", { hasText: "Not this" }).click();
  await desk.page.waitForFunction(() => document.querySelectorAll(".omk-mend").length === 1);
  assert.equal(await desk.text("a.md"), "[[Funding rates]] [[Garden]]\n");
});

scenario("broken links: to another note", { files: broken, language: "zh", theme: "dark" }, async (desk) => {
  await desk.ready();
  await desk.command("断链");
  await desk.see(".omk-head", "4 个断链");
  await desk.picture("broken-dark-zh");
  await desk.page.locator(".omk-mend", { hasText: "Nothing like it" }).locator("button", { hasText: "另选笔记" }).click();
  await desk.page.keyboard.type("可转债");
  await desk.see(".suggestion-item.is-selected", "可转债.md");
  await desk.page.keyboard.press("Enter");
  await desk.disk("b.md", (text) => text.includes("[[可转债]]") || text.includes("[[可转债|Nothing like it]]"));
});

scenario("review: accept, reject, in a batch; and history with undo", { files: broken, mode: "suggest" }, async (desk) => {
  await desk.ready();
  await desk.kb("repair", "--apply");
  await desk.command("Review proposals");
  await desk.see(".omk-head", /proposals wait/);
  await desk.see(".omk-line-in", "[[Funding rate]]");
  await desk.picture("review-light-en");
  await desk.page.locator(".omk-item", { hasText: "Funding rates" }).locator("button", { hasText: "Accept" }).first().click();
  await desk.disk("a.md", (text) => text.includes("[[Funding rate]]"));
  await desk.page.locator(".omk-item", { hasText: "[[Perpetual]]" }).locator("button", { hasText: "Reject" }).first().click();
  await desk.see(".omk-empty", "Nothing waits");
  assert.match(await desk.text("b.md"), /\[\[Perpetual\]\]/);
  await desk.command("History of changes");
  await desk.see(".omk-item", "links mended");
  await desk.picture("history-light-en");
  await desk.page.locator(".omk-item").first().locator("button", { hasText: /^Undo$/ }).click();
  await desk.disk("a.md", (text) => text.includes("[[Funding rates]]"));
  await desk.see(".omk-why", "undone");
});

scenario("review and history: empty, in Chinese and dark", { files: NOTES, language: "zh", theme: "dark" }, async (desk) => {
  await desk.ready();
  await desk.command("审阅提议");
  await desk.see(".omk-empty", "没有等待");
  await desk.command("改动历史");
  await desk.see(".omk-empty", "还没有写过");
  await desk.picture("history-empty-dark-zh");
});

const spoken = {
  ...NOTES,
  "Lonely harbour.md": "Nobody links here.\n",
  "灯塔守护者.md": "没有人链接这里。\n",
  "t.md": "Of the Lonely harbour, and `Lonely harbour` in code.\n\n昨天读了灯塔守护者的故事。\n",
};

scenario("links to orphans: made where they are spoken of, and undone", { files: spoken }, async (desk) => {
  await desk.ready();
  await desk.openNote("t.md");
  await desk.command("Links to orphans");
  await desk.see(".omk-head", "2 places");
  await desk.picture("relink-light-en");
  await desk.page.locator(".omk-mend", { hasText: "Lonely harbour" }).locator("button.mod-cta").click();
  await desk.disk("t.md", (text) => text.startsWith("Of the [[Lonely harbour]], and `Lonely harbour` in code."));
  await desk.click(".notice .omk-undo");
  await desk.disk("t.md", (text) => text === spoken["t.md"]);
});

scenario("links to orphans: rejected for good, in Chinese", { files: spoken, language: "zh", theme: "dark" }, async (desk) => {
  await desk.ready();
  await desk.command("给孤立笔记加链接");
  await desk.see(".omk-change ins", "[[灯塔守护者]]");
  await desk.picture("relink-dark-zh");
  await desk.page.locator(".omk-mend", { hasText: "灯塔守护者" }).locator("button", { hasText: "不是它" }).click();
  await desk.page.waitForFunction(() => document.querySelectorAll(".omk-mend").length === 1);
  const { plans } = JSON.parse(await desk.kb("relink", "--json")) as { plans: { target: string }[] };
  assert.deepEqual(plans.map((one) => one.target), ["Lonely harbour.md"]);
});
