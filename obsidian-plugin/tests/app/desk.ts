/** What a scenario works with: a vault on disk, the app over it in a page, and a person's hands and eyes. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import type { Browser, Page } from "playwright-core";
import { kbCommand, PLUGIN } from "./places";
import { AppServer } from "./server";

const run = promisify(execFile);
const PATIENCE_MS = 45_000;

export interface How {
  files?: Record<string, string>;
  language?: string;
  theme?: string;
  /** What the plugin remembers from before; `chosen` unless said otherwise. */
  data?: Record<string, unknown>;
  /** `[write] mode`, as chosen before. */
  mode?: "off" | "suggest" | "auto";
  /** The command the plugin is told to start; null: none is to be found. */
  kb?: string | null;
  /** Index before the app opens. */
  indexed?: boolean;
  width?: number;
}

export class Desk {
  page!: Page;
  server!: AppServer;
  readonly errors: string[] = [];
  private readonly pages: Page[] = [];

  private constructor(
    private readonly browser: Browser,
    readonly name: string,
    readonly folder: string,
    private readonly how: How,
  ) {}

  static async open(browser: Browser, name: string, how: How): Promise<Desk> {
    const folder = await mkdtemp(join(tmpdir(), "omk-"));
    const desk = new Desk(browser, name, folder, how);
    await mkdir(join(desk.vault, ".obsidian", "plugins", "oh-my-kb"), { recursive: true });
    await mkdir(join(folder, "user"), { recursive: true });
    for (const [path, text] of Object.entries(how.files ?? {})) await desk.put(path, text);
    const command = how.kb === undefined ? kbCommand() : (how.kb ?? "");
    const data = { chosen: true, command, ...how.data };
    await writeFile(join(desk.vault, ".obsidian", "plugins", "oh-my-kb", "data.json"), JSON.stringify(data));
    if (how.mode !== undefined) {
      const { write } = JSON.parse(await desk.kb("status", "--json")) as { write: { this_device: string } };
      await desk.put(".kb/config.toml", `[write]\nmode = "${how.mode}"\ndevice = "${write.this_device}"\n`);
    }
    if (how.indexed === true) await desk.kb("index", "--no-vectors");
    await desk.start();
    return desk;
  }

  /** A second vault, open at the same time. */
  another(how: How): Promise<Desk> {
    return Desk.open(this.browser, `${this.name}, another`, how);
  }

  get vault(): string {
    return join(this.folder, "vault");
  }

  get env(): Record<string, string> {
    const user = join(this.folder, "user");
    const path = this.how.kb === null ? "/nowhere" : (process.env["PATH"] ?? "");
    return { PATH: path, HOME: user, OHMYKB_HOME: join(this.folder, "home"), LANG: "C.UTF-8" };
  }

  /** Opens the app: at the beginning, and after `closeApp`. */
  async start(plugin = true): Promise<void> {
    const { language = "en", theme = "light", width = 1280 } = this.how;
    this.server = new AppServer({ vault: this.vault, language, theme, env: this.env, plugin });
    await this.server.start();
    this.page = await this.browser.newPage({ viewport: { width, height: 800 } });
    this.pages.push(this.page);
    this.page.setDefaultTimeout(PATIENCE_MS);
    this.page.on("pageerror", (error) => this.errors.push(error.message));
    this.page.on("console", (message) => {
      if (message.type() === "error" && !message.text().includes("Failed to load resource")) this.errors.push(message.text());
    });
    await this.page.goto(this.server.address);
    await this.page.waitForSelector("body[data-ready]");
  }

  /** As when the window is closed: nothing is said to the plugin but `quit`. */
  async closeApp(): Promise<void> {
    await this.page.close({ runBeforeUnload: false });
    await this.server.stop();
  }

  async end(): Promise<void> {
    for (const page of this.pages) await page.close();
    await this.server.stop();
    await this.kb("stop").catch(() => "");
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  // --- the disk

  async put(path: string, text: string): Promise<void> {
    const full = join(this.vault, path);
    await mkdir(dirname(full), { recursive: true });
    await writeFile(full, text);
  }

  async move(from: string, to: string): Promise<void> {
    await mkdir(dirname(join(this.vault, to)), { recursive: true });
    await rename(join(this.vault, from), join(this.vault, to));
  }

  text(path: string): Promise<string> {
    return readFile(join(this.vault, path), "utf8");
  }

  exists(path: string): Promise<boolean> {
    return stat(join(this.vault, path)).then(
      () => true,
      () => false,
    );
  }

  async kb(...args: string[]): Promise<string> {
    const { stdout } = await run(kbCommand(), ["--vault", this.vault, ...args], { env: { ...process.env, ...this.env } });
    return stdout;
  }

  /** A program in place of `kb`. */
  async program(name: string, script: string): Promise<string> {
    const file = join(this.folder, name);
    await writeFile(file, `#!/bin/sh\n${script}\n`);
    await chmod(file, 0o755);
    return file;
  }

  // --- hands

  /** Waits until the sidecar has everything indexed. */
  async ready(): Promise<void> {
    await this.see(".omk-status", /\d+ (notes|条笔记)|条笔记/);
  }

  /** Waits until every passage has its meaning, too. */
  async encoded(): Promise<void> {
    await this.ready();
    for (let left = 1; left > 0; ) {
      left = (JSON.parse(await this.kb("status", "--json")) as { unencoded: number }).unencoded;
    }
  }

  get chinese(): boolean {
    return this.how.language === "zh";
  }

  async command(name: string): Promise<void> {
    await this.page.keyboard.press("Control+p");
    await this.page.waitForSelector(".prompt-input");
    await this.page.keyboard.type(name);
    await this.page.waitForFunction((wanted) => document.querySelectorAll(".prompt .suggestion-item.is-selected").length === 1 && document.querySelector(".prompt .suggestion-item.is-selected")?.textContent?.includes(wanted), name);
    await this.page.keyboard.press("Enter");
  }

  async openNote(path: string): Promise<void> {
    await this.page.evaluate((wanted) => {
      const file = window.app.vault.getFileByPath(wanted);
      if (file === null) throw new Error(`no file ${wanted}`);
      return window.app.workspace.getLeaf(false).openFile(file);
    }, path);
    await this.page.locator(".cm-content:visible").first().waitFor();
  }

  async cursor(line: number, ch = 0): Promise<void> {
    await this.page.evaluate(
      ([l, c]) => {
        const editor = window.app.workspace.lastEditor();
        editor?.setCursor({ line: l ?? 0, ch: c ?? 0 });
        editor?.focus();
      },
      [line, ch],
    );
  }

  cursorNow(): Promise<{ line: number; ch: number } | undefined> {
    return this.page.evaluate(() => window.app.workspace.lastEditor()?.getCursor());
  }

  editorText(): Promise<string | undefined> {
    return this.page.evaluate(() => window.app.workspace.lastEditor()?.getValue());
  }

  async click(selector: string, text?: string): Promise<void> {
    await this.page.locator(selector, text === undefined ? {} : { hasText: text }).first().click();
  }

  // --- eyes

  /** Waits until an element with this text is seen. */
  async see(selector: string, text: string | RegExp = ""): Promise<void> {
    await this.page.locator(selector, { hasText: text }).first().waitFor({ state: "visible" });
  }

  async gone(selector: string): Promise<void> {
    await this.page.locator(selector).first().waitFor({ state: "detached" });
  }

  texts(selector: string): Promise<string[]> {
    return this.page.locator(selector).allTextContents();
  }

  /** Waits until the disk is so: a file with this text. */
  async disk(path: string, holds: (text: string) => boolean, what = ""): Promise<void> {
    const until = Date.now() + PATIENCE_MS;
    let now = "";
    while (Date.now() < until) {
      now = await this.text(path).catch(() => "");
      if (holds(now)) return;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    assert.fail(`${path} is not as expected${what === "" ? "" : ` (${what})`}:\n${now}`);
  }

  async picture(name: string): Promise<void> {
    const file = join(PLUGIN, "tests", "pictures", `${name}.png`);
    await mkdir(dirname(file), { recursive: true });
    await this.page.screenshot({ path: file });
  }
}
