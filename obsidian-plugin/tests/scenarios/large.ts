import assert from "node:assert/strict";
import { readFile, stat } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import { loadavg } from "node:os";
import { join } from "node:path";
import { measurement, scenario } from "../app/scenario";
import { PLUGIN } from "../app/places";
import { many } from "./vaults";

const COUNT = 10_000;

function middle(values: number[]): string {
  const sorted = [...values].sort((a, b) => a - b);
  return `${(sorted[Math.floor(sorted.length / 2)] ?? 0).toFixed(1)} ms (${sorted.map((value) => value.toFixed(1)).join(", ")})`;
}

measurement("10,000 notes", () => ({ files: many(COUNT), indexed: true }), async (desk) => {
  await desk.page.waitForFunction((count) => document.querySelector(".omk-status")?.textContent?.includes(String(count)), COUNT, { timeout: 180_000 });
  console.log(`load ${loadavg()[0]?.toFixed(1)}`);
  const loads: number[] = [];
  for (let turn = 0; turn < 5; turn++) {
    await desk.page.evaluate(() => window.omk.unload());
    await desk.page.evaluate(() => window.omk.load());
    loads.push(await desk.page.evaluate(() => window.omk.loadMs));
    await desk.page.waitForFunction((count) => document.querySelector(".omk-status")?.textContent?.includes(String(count)), COUNT, { timeout: 60_000 });
  }
  console.log(`plugin load, scripting: ${middle(loads)}`);
  const firsts: number[] = [];
  for (const word of ["lantern", "harbour", "资金", "灯塔", "ledger"]) {
    const ms = await desk.page.evaluate(async (text) => {
      window.app.run("oh-my-kb:probe");
      const input = document.querySelector<HTMLInputElement>(".omk-probe .prompt-input");
      if (input === null) throw new Error("no probe");
      const start = performance.now();
      input.value = text;
      input.dispatchEvent(new Event("input"));
      while (document.querySelector(".omk-hit") === null) await new Promise((resolve) => requestAnimationFrame(resolve));
      return performance.now() - start;
    }, word);
    firsts.push(ms);
    await desk.page.keyboard.press("Escape");
    await desk.gone(".omk-probe");
  }
  console.log(`probe opened, typed → first results: ${middle(firsts)}`);
  await desk.openNote("folder 0/Note 0 river.md");
  await desk.command("Related notes");
  const shown: number[] = [];
  for (const n of [12, 24, 36, 48, 60]) {
    const ms = await desk.page.evaluate(async (path) => {
      const file = window.app.vault.getFileByPath(path);
      if (file === null) throw new Error(path);
      await window.app.workspace.getLeaf(false).openFile(file);
      const start = performance.now();
      const body = document.querySelector(".omk-body");
      const before = body?.firstChild;
      while (body?.firstChild === before || body?.querySelector(".omk-row") === null) await new Promise((resolve) => requestAnimationFrame(resolve));
      return performance.now() - start;
    }, `folder ${n % 50}/Note ${n} river.md`);
    shown.push(ms);
  }
  console.log(`note switched → related view: ${middle(shown)}`);
  const typing = async (): Promise<number> => {
    await desk.cursor(4, 0);
    const client = await desk.page.context().newCDPSession(desk.page);
    await client.send("Performance.enable");
    const scripting = async (): Promise<number> =>
      ((await client.send("Performance.getMetrics")).metrics.find((one) => one.name === "ScriptDuration")?.value ?? 0) * 1000;
    const start = await scripting();
    await desk.page.keyboard.type("the quick brown fox 0123456789 ".repeat(4));
    return ((await scripting()) - start) / 124;
  };
  const withPlugin: number[] = [];
  const without: number[] = [];
  for (let turn = 0; turn < 5; turn++) withPlugin.push(await typing());
  await desk.page.evaluate(() => window.omk.unload());
  for (let turn = 0; turn < 5; turn++) without.push(await typing());
  console.log(`a keystroke, scripting with the plugin: ${middle(withPlugin)}; without: ${middle(without)}`);
  const main = join(PLUGIN, "dist/main.js");
  console.log(`bundle: ${((await stat(main)).size / 1000).toFixed(0)} kB, packed ${(gzipSync(await readFile(main)).length / 1000).toFixed(0)} kB`);
});

scenario("10,000 notes: typing and asking while they are indexed, and the list of broken links", () => {
  const files = many(COUNT);
  for (let n = 0; n < 300; n++) files[`broken ${n}.md`] = `[[Nothing of this name ${n}]]\n`;
  return { files };
}, async (desk) => {
  await desk.see(".omk-status", "indexing");
  await desk.openNote("broken 0.md");
  await desk.cursor(0, 0);
  await desk.page.keyboard.type("Typed while it works. ");
  assert.match((await desk.editorText()) ?? "", /^Typed while it works\. /);
  await desk.page.waitForFunction(() => document.querySelector(".omk-status")?.textContent?.includes("10300"), undefined, { timeout: 120_000 });
  await desk.command("Broken links");
  await desk.page.locator(".omk-head", { hasText: "300 broken links" }).waitFor({ timeout: 60_000 });
  assert.equal((await desk.texts(".omk-mend")).length, 50, "a page at a time");
  await desk.click(".omk-body button", "Show more");
  await desk.page.waitForFunction(() => document.querySelectorAll(".omk-mend").length === 100);
});
