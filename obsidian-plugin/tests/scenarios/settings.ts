import assert from "node:assert/strict";
import { scenario } from "../app/scenario";
import { NOTES } from "./vaults";

scenario("settings: what may be written is the vault's, the rest this device's", { files: NOTES }, async (desk) => {
  await desk.ready();
  await desk.page.keyboard.press("Control+,");
  await desk.page.selectOption('[data-key="mode"]', "auto");
  await desk.disk(".kb/config.toml", (text) => /mode = "auto"/.test(text) && /device = "/.test(text));
  await desk.picture("settings-light-en");
  await desk.page.selectOption('[data-key="mode"]', "off");
  await desk.disk(".kb/config.toml", (text) => /mode = "off"/.test(text));
  await desk.page.selectOption('[data-key="cite"]', "heading");
  await desk.disk(".obsidian/plugins/oh-my-kb/data.json", (text) => /"cite": "heading"/.test(text));
  await desk.page.fill('[data-key="mapName"]', "Map of {title}");
  await desk.page.locator('[data-key="mapName"]').blur();
  await desk.disk(".obsidian/plugins/oh-my-kb/data.json", (text) => /"mapName": "Map of \{title\}"/.test(text));
  await desk.page.keyboard.press("Escape");
  await desk.openNote("Perpetuals.md");
  await desk.command("Draw a map around this note");
  await desk.see(".omk-map-preview");
  assert.equal(await desk.page.inputValue(".omk-map-file input"), "Map of Perpetuals.canvas");
  assert.doesNotMatch(await desk.text(".obsidian/plugins/oh-my-kb/data.json"), /token/i);
});

scenario("settings: in Chinese and dark, at double size", { files: NOTES, language: "zh", theme: "dark", width: 640 }, async (desk) => {
  await desk.ready();
  await desk.page.keyboard.press("Control+,");
  await desk.see(".setting-item-name", "自动修链");
  await desk.picture("settings-dark-zh");
});
