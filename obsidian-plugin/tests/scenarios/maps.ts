import assert from "node:assert/strict";
import { scenario } from "../app/scenario";
import { NOTES } from "./vaults";

const more: Record<string, string> = { ...NOTES };
for (let n = 0; n < 8; n++) more[`garden/Plant ${n}.md`] = `---\ntype: plant\n---\n# Plant ${n}\n\nIn the [[Garden]], beside [[Plant ${(n + 1) % 8}]].\n`;

interface Canvas {
  nodes: { id: string; type: string; file?: string; x: number; y: number; text?: string }[];
  edges: { id: string }[];
}

scenario("maps: previewed, drawn, arranged by hand, and drawn again", { files: more }, async (desk) => {
  await desk.ready();
  await desk.openNote("notes/Garden.md");
  await desk.command("Draw a map around this note");
  await desk.see(".omk-map-counts", /cards, \d+ edges/);
  await desk.see(".omk-map-preview");
  assert.equal(await desk.exists("Garden map.canvas"), false, "nothing is written before it was seen");
  await desk.picture("map-preview-light-en");
  await desk.page.fill(".omk-map-file input", "maps/Garden");
  await desk.click(".omk-map button.mod-cta");
  await desk.see(".canvas-node", "Garden");
  await desk.picture("map-light-en");
  const first = JSON.parse(await desk.text("maps/Garden.canvas")) as Canvas;
  assert.equal(first.nodes.filter((node) => node.type === "file").length, 9);
  for (const [index, node] of first.nodes.entries()) Object.assign(node, { x: index * 500 + 3, y: -77 });
  first.nodes.push({ id: "mine", type: "text", text: "my own card", x: -900, y: 900, width: 200, height: 80 } as Canvas["nodes"][0]);
  const arranged = JSON.stringify(first);
  await desk.put("maps/Garden.canvas", arranged);
  await desk.command("Update this map");
  await desk.see(".notice", "as it should be");
  assert.equal(await desk.text("maps/Garden.canvas"), arranged, "byte for byte");
  await desk.put("garden/Newcomer.md", "# Newcomer\n\nIn the [[Garden]].\n");
  await desk.see(".omk-status", "14 notes");
  await desk.command("Update this map");
  await desk.see(".notice", "New on the map: 1");
  const later = JSON.parse(await desk.text("maps/Garden.canvas")) as Canvas;
  assert.deepEqual(later.nodes.slice(0, first.nodes.length), first.nodes);
  assert.equal(later.nodes.length, first.nodes.length + 1);
  const { operations } = JSON.parse(await desk.kb("history", "--json")) as { operations: { id: string; kind: string; hand: string }[] };
  assert.deepEqual(operations.map((op) => [op.kind, op.hand]), [["canvas", "plugin"], ["canvas", "plugin"]]);
  await desk.kb("undo", operations[1]?.id ?? "");
  assert.equal(await desk.text("maps/Garden.canvas"), arranged);
});

scenario("maps: of a folder, in Chinese and dark, and found from a note", { files: more, language: "zh", theme: "dark" }, async (desk) => {
  await desk.ready();
  await desk.command("绘制文件夹地图");
  await desk.page.fill(".omk-line-input", "garden");
  await desk.page.keyboard.press("Enter");
  await desk.see(".omk-map-counts", "张卡片");
  await desk.picture("map-preview-dark-zh");
  await desk.click(".omk-map button.mod-cta");
  await desk.see(".canvas-node", "Plant 3");
  await desk.picture("map-dark-zh");
  await desk.openNote("garden/Plant 3.md");
  await desk.command("在地图上显示这条笔记");
  await desk.see(".canvas-node", "Plant 3");
  await desk.openNote("Perpetuals.md");
  await desk.command("在地图上显示这条笔记");
  await desk.see(".notice", "还没有地图");
});

scenario("maps: into a file that changed meanwhile nothing is written", { files: more }, async (desk) => {
  await desk.ready();
  await desk.put("Mine.canvas", '{"nodes":[],"edges":[]}');
  await desk.command("Draw a map of clusters");
  await desk.see(".omk-map-preview");
  await desk.page.fill(".omk-map-file input", "Mine");
  await desk.see(".omk-map .omk-reason", "This file is there");
  const theirs = '{"nodes":[{"id":"x","type":"text","text":"just now","x":0,"y":0,"width":9,"height":9}],"edges":[]}';
  await desk.page.evaluate((text) => {
    const read = window.app.vault.read.bind(window.app.vault);
    window.app.vault.read = async (file) => {
      if (file.path === "Mine.canvas") await window.app.vault.adapter.write("Mine.canvas", text);
      return read(file);
    };
  }, theirs);
  await desk.click(".omk-map button.mod-cta");
  await desk.see(".notice", "changed meanwhile");
  assert.equal(await desk.text("Mine.canvas"), theirs);
});

scenario("maps: of orphans, and nothing to draw", { files: { "a.md": "alone\n", "b.md": "lonely too\n" } }, async (desk) => {
  await desk.ready();
  await desk.command("Draw a map of clusters");
  await desk.see(".omk-map .omk-empty", "hang together");
  await desk.page.keyboard.press("Escape");
  await desk.command("Draw a map of orphans");
  await desk.see(".omk-map-counts", "2 cards");
  await desk.click(".omk-map button", "Cancel");
  await desk.gone(".omk-map");
  assert.equal(await desk.exists("Orphans map.canvas"), false);
});
