/** The Node side of the test app: the page, and the disk, network and processes that a page has not. */

import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { watch } from "node:fs";
import { access, mkdir, readdir, readFile, realpath, rename, stat, writeFile } from "node:fs/promises";
import { createServer, request as httpRequest, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { build } from "esbuild";
import { PLUGIN } from "./places";

export interface Page {
  vault: string;
  language: string;
  theme: string;
  env: Record<string, string>;
  plugin: boolean;
}

interface Stat {
  path: string;
  folder: boolean;
  ctime: number;
  mtime: number;
  size: number;
}

const HTML =
  '<!doctype html><meta charset="utf-8"><title>Test app</title><link rel="stylesheet" href="/app.css">' +
  '<link rel="stylesheet" href="/styles.css"><script src="/app.js" defer></script><body></body>';

let bundled: Promise<string> | null = null;

async function bundle(): Promise<string> {
  const built = await build({
    entryPoints: [join(PLUGIN, "tests/app/shim/boot.ts")],
    bundle: true,
    write: false,
    format: "iife",
    target: "es2022",
    logLevel: "warning",
  });
  return built.outputFiles[0]?.text ?? "";
}

export class AppServer {
  readonly token = randomBytes(16).toString("hex");
  /** Asked before a request of the plugin goes out: to answer in its place, to hold it, or to let it pass (null). */
  intercept: ((url: string) => Promise<{ status: number; text: string } | null>) | null = null;
  /** What the plugin asked for, in order: method and path. */
  readonly asked: string[] = [];
  private readonly children = new Map<number, ChildProcess>();
  private readonly streams = new Set<ServerResponse>();
  private server: Server | null = null;
  private watcher: ReturnType<typeof watch> | null = null;

  constructor(private readonly page: Page) {}

  get address(): string {
    const { port } = this.server?.address() as AddressInfo;
    return `http://127.0.0.1:${port}/?token=${this.token}`;
  }

  async start(): Promise<void> {
    const app = await (bundled ??= bundle());
    const files: Record<string, () => Promise<string>> = {
      "/": () => Promise.resolve(HTML),
      "/app.js": () => Promise.resolve(app),
      "/app.css": () => readFile(join(PLUGIN, "tests/app/app.css"), "utf8"),
      "/styles.css": () => readFile(join(PLUGIN, "dist/styles.css"), "utf8"),
    };
    this.server = createServer((request, response) => {
      const url = new URL(request.url ?? "/", "http://127.0.0.1");
      const file = files[url.pathname];
      if (request.method === "GET" && file !== undefined) {
        const type = url.pathname.endsWith(".js") ? "text/javascript" : url.pathname.endsWith(".css") ? "text/css" : "text/html";
        void file().then((text) => response.writeHead(200, { "Content-Type": `${type}; charset=utf-8` }).end(text));
        return;
      }
      if (url.searchParams.get("token") !== this.token) return void response.writeHead(401).end();
      if (url.pathname === "/events") {
        response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store" });
        response.write(": here\n\n");
        this.streams.add(response);
        request.on("close", () => this.streams.delete(response));
        return;
      }
      let body = "";
      request.setEncoding("utf8");
      request.on("data", (part: string) => (body += part));
      request.on("end", () => {
        const { method, args } = JSON.parse(body) as { method: string; args: unknown[] };
        this.call(method, args).then(
          (value) => response.end(JSON.stringify({ value: value ?? null })),
          (error: unknown) => response.end(JSON.stringify({ error: error instanceof Error ? error.message : String(error) })),
        );
      });
    });
    await new Promise<void>((resolve) => this.server?.listen(0, "127.0.0.1", resolve));
    this.watcher = watch(this.page.vault, { recursive: true }, (_kind, name) => {
      if (name !== null && !name.startsWith(".")) this.tell({ kind: "disk", path: name.replaceAll("\\", "/") });
    });
    this.watcher.on("error", () => undefined); // a folder that went while it was looked at
  }

  async stop(): Promise<void> {
    this.watcher?.close();
    for (const stream of this.streams) stream.end();
    for (const child of this.children.values()) child.kill();
    this.server?.closeAllConnections();
    await new Promise<void>((resolve) => (this.server === null ? resolve() : this.server.close(() => resolve())));
  }

  private tell(event: object): void {
    for (const stream of this.streams) stream.write(`data: ${JSON.stringify(event)}\n\n`);
  }

  private async call(method: string, args: unknown[]): Promise<unknown> {
    const [a, b] = args as [string, string];
    switch (method) {
      case "config":
        return {
          ...this.page,
          system: { platform: process.platform, home: this.page.env["HOME"], env: this.page.env },
          manifest: JSON.parse(await readFile(join(PLUGIN, "dist/manifest.json"), "utf8")) as unknown,
          main: await readFile(join(PLUGIN, "dist/main.js"), "utf8"),
        };
      case "read":
        return readFile(a, "utf8");
      case "write":
        await mkdir(dirname(a), { recursive: true });
        return writeFile(a, b);
      case "exists":
        return stat(a).then(
          () => true,
          () => false,
        );
      case "access":
        return access(a);
      case "realpath":
        return realpath(a);
      case "mkdir":
        return mkdir(a, { recursive: true });
      case "rename":
        return rename(a, b);
      case "trash": {
        const to = join(a, ".trash", b);
        await mkdir(dirname(to), { recursive: true });
        return rename(join(a, b), to);
      }
      case "stat":
        return stats(a, b);
      case "tree":
        return tree(a, b ?? "");
      case "request":
        return this.request(args[0] as { url: string; method: string; headers: Record<string, string>; body?: string });
      case "spawn":
        return this.spawn(args[0] as number, b, args[2] as string[]);
      case "end":
        return void this.children.get(args[0] as number)?.stdin?.end();
      case "kill":
        return void this.children.get(args[0] as number)?.kill();
      default:
        throw new Error(`There is no ${method}`);
    }
  }

  private async request(asked: { url: string; method: string; headers: Record<string, string>; body?: string }): Promise<unknown> {
    const { pathname } = new URL(asked.url);
    this.asked.push(`${asked.method} ${pathname.replace("/api/v1", "")}`);
    const instead = (await this.intercept?.(asked.url)) ?? null;
    if (instead !== null) return instead;
    return new Promise((resolve, reject) => {
      const request = httpRequest(asked.url, { method: asked.method, headers: asked.headers }, (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (part: string) => (text += part));
        response.on("end", () => resolve({ status: response.statusCode, text }));
      });
      request.on("error", reject);
      request.end(asked.body);
    });
  }

  private spawn(id: number, command: string, args: string[]): void {
    const child = spawn(command, args, { env: this.page.env, stdio: "pipe" });
    this.children.set(id, child);
    const tell = (name: string, data: unknown): void => this.tell({ kind: "process", id, name, data });
    child.stdout.on("data", (data: Buffer) => tell("stdout", data.toString()));
    child.stderr.on("data", (data: Buffer) => tell("stderr", data.toString()));
    child.stdin.on("error", () => undefined); // it ended before
    child.on("error", (error) => tell("error", error.message));
    child.on("exit", (code) => {
      this.children.delete(id);
      tell("exit", code);
    });
  }
}

async function stats(full: string, path: string): Promise<Stat | null> {
  const found = await stat(full).catch(() => null);
  if (found === null) return null;
  return { path, folder: found.isDirectory(), ctime: found.ctimeMs, mtime: found.mtimeMs, size: found.size };
}

async function tree(base: string, prefix: string): Promise<Stat[]> {
  const found: Stat[] = [];
  for (const entry of await readdir(base, { withFileTypes: true }).catch(() => [])) {
    if (entry.name.startsWith(".")) continue;
    const full = join(base, entry.name);
    const path = prefix === "" ? entry.name : `${prefix}/${entry.name}`;
    const own = await stats(full, path);
    if (own === null) continue;
    found.push(own);
    if (own.folder) found.push(...(await tree(full, path)));
  }
  return found;
}
