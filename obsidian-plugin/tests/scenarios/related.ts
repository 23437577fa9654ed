import assert from "node:assert/strict";
import { scenario } from "../app/scenario";
import { NOTES } from "./vaults";

const VIEW = ".omk-panel";

scenario("related: follows the note, says why, and inserts a link", { files: NOTES, indexed: true }, async (desk) => {
  await desk.ready();
  await desk.openNote("notes/Garden.md");
  await desk.command("Related notes");
  await desk.see(`${VIEW} .omk-row`, "花园");
  await desk.see(`${VIEW} .omk-reason`, "% alike");
  await desk.picture("related-light-en");
  await desk.cursor(2, 0);
  await desk.page.locator(`${VIEW} .omk-row`, { hasText: "花园" }).locator("button").first().click();
  await desk.disk("notes/Garden.md", (text) => text.includes("[[花园]]Tomatoes"));
  await desk.openNote("Perpetuals.md");
  await desk.see(`${VIEW} .omk-row-title`, "↔ Funding rate");
});

scenario("related: a dismissed pair stays away", { files: NOTES, language: "zh", theme: "dark" }, async (desk) => {
  await desk.ready();
  await desk.openNote("notes/花园.md");
  await desk.command("相关笔记");
  await desk.see(`${VIEW} .omk-row`, "Garden");
  await desk.picture("related-dark-zh");
  await desk.page.locator(`${VIEW} .omk-row`, { hasText: "Garden" }).locator("button").nth(1).click();
  await desk.see(".notice", "Garden");
  await desk.page.waitForFunction(() => !document.querySelector(".omk-panel")?.textContent?.includes("Garden"));
  await desk.openNote("Perpetuals.md");
  await desk.see(`${VIEW} .omk-row-title`, "Funding rate");
  await desk.openNote("notes/花园.md");
  await desk.page.waitForFunction(() => !document.querySelector(".omk-panel")?.textContent?.includes("Funding"));
  assert.equal(await desk.page.locator(`${VIEW} .omk-row`, { hasText: "Garden" }).count(), 0);
});

scenario("related: offline, and back", { files: NOTES, kb: null }, async (desk) => {
  await desk.openNote("Perpetuals.md");
  await desk.command("Related notes");
  await desk.see(`${VIEW} .omk-empty`, "does not answer");
  await desk.see(`${VIEW} button`, "Try again");
  await desk.picture("related-offline-light-en");
});

scenario("related: broken links of the note, mended by a click", { files: { ...NOTES, "s.md": "To [[Funding rates]] and on.\n" } }, async (desk) => {
  await desk.ready();
  await desk.openNote("s.md");
  await desk.command("Related notes");
  await desk.see(`${VIEW} .omk-change ins`, "[[Funding rate]]");
  await desk.picture("related-broken-light-en");
  await desk.click(`${VIEW} .omk-mend button.mod-cta`);
  await desk.disk("s.md", (text) => text === "To [[Funding rate]] and on.\n");
  await desk.see(".notice", "Links mended: 1");
  await desk.click(".notice .omk-undo");
  await desk.disk("s.md", (text) => text === "To [[Funding rates]] and on.\n");
});

scenario("related: a link that is meant as it stands", { files: { ...NOTES, "s.md": "To [[Funding rates]] and on.\n" } }, async (desk) => {
  await desk.ready();
  await desk.openNote("s.md");
  await desk.command("Related notes");
  await desk.click(`${VIEW} .omk-mend button`, "Meant so");
  await desk.gone(`${VIEW} .omk-mend`);
  assert.equal(await desk.text("s.md"), "To [[Funding rates]] and on.\n");
});
