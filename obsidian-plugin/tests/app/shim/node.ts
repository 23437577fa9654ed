/** Node's modules as the plugin uses them: the asynchronous ones go over the line, the others are the same here. */

import { listen, rpc } from "./rpc";

class Emitter {
  private readonly told = new Map<string, ((...data: unknown[]) => void)[]>();
  on(name: string, tell: (...data: unknown[]) => void): this {
    this.told.set(name, [...(this.told.get(name) ?? []), tell]);
    return this;
  }
  emit(name: string, ...data: unknown[]): void {
    for (const tell of this.told.get(name) ?? []) tell(...data);
  }
}

let next = 0;

function spawn(command: string, args: string[]): unknown {
  const id = ++next;
  const child = Object.assign(new Emitter(), {
    stdout: new Emitter(),
    stderr: new Emitter(),
    stdin: { end: () => void rpc("end", id) },
    kill: () => void rpc("kill", id),
    pid: undefined as number | undefined,
  });
  listen((event) => {
    if (event.kind !== "process" || event["id"] !== id) return;
    const name = event["name"] as string;
    if (name === "stdout" || name === "stderr") child[name].emit("data", event["data"]);
    else child.emit(name, name === "error" ? new Error(event["data"] as string) : event["data"]);
  });
  void rpc("spawn", id, command, args);
  return child;
}

export function requireNode(system: { platform: string; home: string; env: Record<string, string> }): (name: string) => unknown {
  const modules: Record<string, unknown> = {
    "fs/promises": {
      readFile: (path: string) => rpc("read", path),
      realpath: (path: string) => rpc("realpath", path),
      access: (path: string) => rpc("access", path),
    },
    child_process: { spawn },
    os: { homedir: () => system.home },
    path: { join: (...parts: string[]) => parts.filter((part) => part !== "").join("/").replace(/\/{2,}/g, "/") },
    process: { env: system.env, platform: system.platform },
  };
  return (name) => modules[name.replace(/^node:/, "")];
}
