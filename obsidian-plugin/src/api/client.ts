/** Asks the sidecar over loopback. Whatever comes back is an Answer: a value that was checked, or a fault in words. */

import type { Decoder } from "./decode";
import { MisfitError } from "./decode";
import { fault as faultShape } from "./answers";

/** Where a sidecar answers, and what it asks to be shown. */
export interface Address {
  port: number;
  token: string;
}

export interface Fault {
  /** `offline`: nobody answers; `late`: no answer in time; `misfit`: not as agreed; else the sidecar's own code. */
  code: string;
  message: string;
  fix: string;
}
export type Answer<T> = { ok: true; value: T } | { ok: false; fault: Fault };

export interface Request {
  url: string;
  method: string;
  headers: Record<string, string>;
  body?: string;
}
/** Obsidian's `requestUrl`, which cannot be broken off and knows no CORS. */
export type Send = (request: Request) => Promise<{ status: number; text: string }>;
export type Query = Record<string, string | number | boolean | undefined>;

const TIMEOUT_MS = 15_000;

export class Client {
  constructor(
    private readonly send: Send,
    private readonly address: () => Address | null,
    private readonly failed: () => void = () => undefined,
  ) {}

  get<T>(path: string, shape: Decoder<T>, query: Query = {}, timeoutMs = TIMEOUT_MS): Promise<Answer<T>> {
    const asked = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
    const tail = asked.map(([key, value]) => `${key}=${encodeURIComponent(String(value))}`).join("&");
    return this.ask("GET", tail ? `${path}?${tail}` : path, shape, undefined, timeoutMs);
  }

  post<T>(path: string, shape: Decoder<T>, body: object = {}, timeoutMs = TIMEOUT_MS): Promise<Answer<T>> {
    return this.ask("POST", path, shape, body, timeoutMs);
  }

  patch<T>(path: string, shape: Decoder<T>, body: object): Promise<Answer<T>> {
    return this.ask("PATCH", path, shape, body, TIMEOUT_MS);
  }

  private async ask<T>(
    method: string,
    path: string,
    shape: Decoder<T>,
    body: object | undefined,
    timeoutMs: number,
  ): Promise<Answer<T>> {
    const address = this.address();
    if (address === null) return refused("offline");
    let answer: { status: number; text: string } | null;
    try {
      answer = await within(
        this.send({
          url: `http://127.0.0.1:${address.port}/api/v1${path}`,
          method,
          headers: { Authorization: `Bearer ${address.token}`, ...(body ? { "Content-Type": "application/json" } : {}) },
          ...(body ? { body: JSON.stringify(body) } : {}),
        }),
        timeoutMs,
      );
    } catch {
      this.failed();
      return refused("offline");
    }
    if (answer === null) {
      this.failed();
      return refused("late");
    }
    return read(answer, shape);
  }
}

export function read<T>(answer: { status: number; text: string }, shape: Decoder<T>): Answer<T> {
  let body: unknown;
  try {
    body = JSON.parse(answer.text);
  } catch {
    return refused("misfit", `status ${answer.status}, not JSON`);
  }
  try {
    if (answer.status >= 400) return { ok: false, fault: faultShape(body, "").error };
    return { ok: true, value: shape(body, "") };
  } catch (error) {
    if (error instanceof MisfitError) return refused("misfit", error.message);
    throw error;
  }
}

export function refused(code: string, message = "", fix = ""): { ok: false; fault: Fault } {
  return { ok: false, fault: { code, message, fix } };
}

async function within<T>(asked: Promise<T>, ms: number): Promise<T | null> {
  let timer: number | undefined;
  const late = new Promise<null>((resolve) => {
    timer = window.setTimeout(() => resolve(null), ms);
  });
  try {
    return await Promise.race([asked, late]);
  } finally {
    window.clearTimeout(timer);
  }
}
