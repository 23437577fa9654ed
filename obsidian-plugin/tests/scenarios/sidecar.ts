import assert from "node:assert/strict";
import { scenario } from "../app/scenario";
import { NOTES } from "./vaults";

scenario("sidecar: started with the app, ended with the plugin", { files: NOTES }, async (desk) => {
  await desk.ready();
  assert.match(await desk.kb("status", "--json"), /"running": ?true/);
  await desk.page.evaluate(() => window.omk.unload());
  await desk.gone(".omk-status");
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  assert.match(await desk.kb("status", "--json"), /"running": ?false/);
});

scenario("sidecar: killed, and started again", { files: NOTES }, async (desk) => {
  await desk.ready();
  const pid = async (): Promise<number> => {
    const said = await desk.kb("doctor", "--json").catch((error: { stdout?: string }) => error.stdout ?? "");
    return Number(/process (\d+)/.exec(said)?.[1] ?? 0);
  };
  const before = await pid();
  assert.ok(before > 0, "doctor names the process");
  process.kill(before, "SIGKILL");
  await desk.see(".omk-status", "starting");
  await desk.ready();
  assert.notEqual(await pid(), before);
  await desk.command("Probe wiki");
  await desk.page.keyboard.type("funding");
  await desk.see(".omk-hit", "Funding rate");
});

scenario("sidecar: one that runs already is taken, and left running", { files: NOTES, kb: null }, async (desk) => {
  await desk.see(".omk-status", "error");
  const { spawn } = await import("node:child_process");
  const { kbCommand } = await import("../app/places");
  const served = spawn(kbCommand(), ["--vault", desk.vault, "serve"], { env: { ...process.env, ...desk.env }, stdio: "ignore" });
  try {
    await desk.ready();
    await desk.page.evaluate(() => window.omk.unload());
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    assert.match(await desk.kb("status", "--json"), /"running": ?true/);
  } finally {
    served.kill();
  }
});

scenario("sidecar: one that keeps ending is told with its last lines", { files: NOTES, kb: null }, async (desk) => {
  const broken = await desk.program("kb-broken", "echo 'the disk is on fire' >&2; exit 3");
  await desk.page.keyboard.press("Control+,");
  await desk.page.fill('[data-key="command"]', broken);
  await desk.page.locator('[data-key="command"]').blur();
  await desk.page.keyboard.press("Escape");
  await desk.see(".omk-status", "starting");
  await desk.see(".omk-status", "error"); // after pauses of 20 s in all
  await desk.click(".omk-status");
  await desk.page.locator(".omk-lines", { hasText: "the disk is on fire" }).waitFor({ timeout: 40_000 });
  await desk.picture("sidecar-failed-light-en");
});

scenario("sidecar: another version is said", { files: NOTES }, async (desk) => {
  await desk.ready();
  desk.server.intercept = async (url) =>
    Promise.resolve(
      url.endsWith("/hello")
        ? { status: 200, text: JSON.stringify({ version: "9.0.0", api: 9, vault: "x", pid: 1, capabilities: [] }) }
        : url.includes("/api/")
          ? { status: 500, text: "{}" }
          : null,
    );
  await desk.page.evaluate(() => window.omk.unload());
  await desk.page.evaluate(() => window.omk.load());
  await desk.see(".omk-status", "error");
  await desk.click(".omk-status");
  await desk.see(".modal p", "9.0.0");
  await desk.see(".omk-copy code", "uv tool upgrade");
});

scenario("sidecar: hanging, it keeps nobody waiting", { files: NOTES }, async (desk) => {
  await desk.ready();
  desk.server.intercept = (url) => (url.includes("/probe") ? new Promise(() => undefined) : Promise.resolve(null));
  await desk.command("Probe wiki");
  await desk.page.keyboard.type("funding");
  await desk.see(".omk-remark", "Searching");
  await desk.see(".omk-remark", "takes too long");
  await desk.picture("probe-late-light-en");
  await desk.page.keyboard.press("Escape");
  await desk.gone(".omk-probe");
  await desk.openNote("Perpetuals.md");
});

scenario("sidecar: nonsense is said, not shown", { files: NOTES }, async (desk) => {
  await desk.ready();
  desk.server.intercept = (url) =>
    Promise.resolve(url.includes("/probe") ? { status: 200, text: '{"results": [{"path": 5}]}' } : null);
  await desk.command("Probe wiki");
  await desk.page.keyboard.type("funding");
  await desk.see(".omk-remark", "something unexpected");
});

scenario("status: the notes with problems", { files: { ...NOTES, "bad.md": "---\na: [\n---\nBroken.\n" } }, async (desk) => {
  await desk.see(".omk-status", "1 with problems");
  await desk.click(".omk-status");
  await desk.see(".omk-problem a", "bad.md");
  await desk.picture("details-light-en");
  await desk.click(".omk-problem a");
  await desk.page.waitForFunction(() => window.app.workspace.getActiveFile()?.path === "bad.md");
});

scenario("sidecar: two vaults at once, each with its own", { files: NOTES }, async (desk) => {
  await desk.ready();
  const other = await desk.another({ files: { "Only here.md": "# Only here\n\nZebras in the second vault.\n" } });
  try {
    await other.ready();
    await other.command("Probe wiki");
    await other.page.keyboard.type("zebras");
    await other.see(".omk-hit", "Only here");
    await desk.command("Probe wiki");
    await desk.page.keyboard.type("zebras");
    await desk.see(".omk-remark", /nothing on this|may help/);
    assert.equal((await desk.texts(".omk-hit")).some((text) => text.includes("Only here")), false);
  } finally {
    await other.end();
  }
});
