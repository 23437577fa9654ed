/** Starts the sidecar for this vault and ends it: it ends by itself when its standard input does. */

import { type ChildProcess, spawn } from "child_process";
import { access } from "fs/promises";

const LINES = 20;

export interface Started {
  process: ChildProcess;
  /** The last lines it wrote to standard error. */
  lines: string[];
}

/** The first of these that is there; a bare name is left to the system to find. */
export async function findCommand(candidates: string[]): Promise<string | null> {
  for (const candidate of candidates) {
    if (!/[\\/]/.test(candidate)) return candidate;
    try {
      await access(candidate);
      return candidate;
    } catch {
      continue;
    }
  }
  return null;
}

/** Calls one of the three, once: it answers, it could not be started, or it ended. */
export function start(
  command: string,
  vault: string,
  told: { ready: () => void; ended: (code: number | null) => void },
): Started {
  const child = spawn(command, ["--vault", vault, "serve", "--exit-on-stdin-eof"], {
    windowsHide: true,
    stdio: ["pipe", "pipe", "pipe"],
  });
  const lines: string[] = [];
  let ended = false;
  const end = (code: number | null): void => {
    if (!ended) told.ended(code);
    ended = true;
  };
  child.stdout.on("data", (data: unknown) => {
    if (String(data).includes('"port"')) told.ready();
  });
  child.stderr.on("data", (data: unknown) => {
    lines.push(...String(data).split("\n").filter((line) => line.trim() !== ""));
    lines.splice(0, Math.max(0, lines.length - LINES));
  });
  child.on("error", (error: Error) => {
    lines.push(error.message);
    end(null);
  });
  child.on("exit", end);
  return { process: child, lines };
}

export function stop(started: Started): void {
  started.process.stdin?.end();
}
