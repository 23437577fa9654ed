import assert from "node:assert/strict";
import { scenario } from "../app/scenario";
import { NOTES } from "./vaults";

const fresh = { files: NOTES, data: { chosen: false } };

scenario("first run: what was found, and nothing written before the choice", fresh, async (desk) => {
  await desk.see(".omk-first p", "5 notes");
  await desk.picture("first-run-light-en");
  assert.equal(await desk.exists(".kb"), false);
  assert.equal(await desk.exists(".history"), false);
  await desk.click(".omk-choice", "Suggest");
  await desk.gone(".omk-first");
  assert.match(await desk.text(".kb/config.toml"), /mode = "suggest"/);
  assert.match(await desk.text(".obsidian/plugins/oh-my-kb/data.json"), /"chosen": true/);
});

scenario("first run: mend by itself names this device", { ...fresh, language: "zh", theme: "dark" }, async (desk) => {
  await desk.see(".omk-first p", "5 条笔记");
  await desk.picture("first-run-dark-zh");
  await desk.click(".omk-choice", "在本设备上自动修复");
  await desk.gone(".omk-first");
  assert.match(await desk.text(".kb/config.toml"), /mode = "auto"[\s\S]*device = "[0-9a-f]{8}"/);
});

scenario("first run: without the companion program, a line to copy", { ...fresh, kb: null }, async (desk) => {
  await desk.see(".omk-first code", "uv tool install oh-my-kb");
  assert.equal(await desk.page.locator(".omk-choice").first().isVisible(), false);
  await desk.picture("first-run-missing-light-en");
  await desk.page.keyboard.press("Escape");
  assert.equal(await desk.exists(".kb"), false);
  await desk.command("Welcome screen");
  await desk.see(".omk-first code", "uv tool install oh-my-kb");
});
