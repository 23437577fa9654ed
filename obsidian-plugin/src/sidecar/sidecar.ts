/** The sidecar of this vault: found, or started and then ended with the app; watched, and started again with pauses. */

import { hello } from "../api/answers";
import { type Address, Client, type Send } from "../api/client";
import { Signal } from "../signal";
import { commands, type Discovery, discover, type System } from "./places";
import { findCommand, start, type Started, stop } from "./process";

export const API = 1;
const AGAIN_MS = 3_000;
const PAUSES_MS = [1_000, 4_000, 15_000];

export type Health =
  | { state: "starting" }
  | { state: "up"; version: string; ours: boolean }
  /** No `kb` was found. */
  | { state: "missing" }
  | { state: "misfit"; version: string; api: number }
  | { state: "failed"; lines: string[] }
  | { state: "stopped" };

export interface Settings {
  command: string;
  start: boolean;
}

export class Sidecar {
  readonly health = new Signal<Health>({ state: "starting" });
  readonly client: Client;
  private found: Discovery | null = null;
  private started: Started | null = null;
  private failures = 0;
  private timer: number | null = null;
  private looking = false;
  private over = false;

  constructor(
    private readonly vault: string,
    private readonly system: System,
    private readonly send: Send,
    private readonly settings: () => Settings,
  ) {
    this.client = new Client(send, () => this.address(), () => void this.look());
  }

  address(): Address | null {
    return this.health.value.state === "up" && this.found !== null ? this.found : null;
  }

  /** Adopts one that answers; else starts one. Called again whenever an answer fails to come. */
  async look(): Promise<void> {
    if (this.looking || this.over) return;
    this.looking = true;
    try {
      if (!(await this.adopt(this.started !== null))) await this.begin();
    } finally {
      this.looking = false;
    }
  }

  /** A person asked for it: counted from the beginning again. */
  async restart(): Promise<void> {
    this.end();
    this.over = false;
    this.failures = 0;
    this.health.set({ state: "starting" });
    await this.look();
  }

  /** Ends what was started here, and nothing else. */
  end(): void {
    this.over = true;
    if (this.timer !== null) window.clearTimeout(this.timer);
    this.timer = null;
    if (this.started !== null) stop(this.started);
    this.started = null;
    this.found = null;
    this.health.set({ state: "stopped" });
  }

  private async adopt(ours: boolean): Promise<boolean> {
    const found = await discover(this.vault, this.system);
    if (found === null) return false;
    const answer = await new Client(this.send, () => found).get("/hello", hello, {}, 3_000);
    if (!answer.ok) return false;
    if (answer.value.api !== API) {
      this.health.set({ state: "misfit", version: answer.value.version, api: answer.value.api });
      this.again(AGAIN_MS);
      return true;
    }
    if (this.over) return true;
    this.found = found;
    this.health.set({ state: "up", version: answer.value.version, ours });
    return true;
  }

  private async begin(): Promise<void> {
    if (this.started !== null) return this.again(AGAIN_MS); // it is on its way up, or hangs
    if (!this.settings().start) {
      this.health.set({ state: "stopped" });
      return this.again(AGAIN_MS);
    }
    const command = await findCommand(commands(this.settings().command, this.system));
    if (command === null) {
      this.health.set({ state: "missing" });
      return this.again(AGAIN_MS);
    }
    this.health.set({ state: "starting" });
    const started = start(command, this.vault, {
      ready: () => void this.adopt(true).then(() => (this.failures = 0)),
      ended: () => this.lost(started),
    });
    this.started = started;
  }

  private lost(started: Started): void {
    if (this.over || this.started !== started) return;
    this.started = null;
    this.found = null;
    const pause = PAUSES_MS[this.failures++];
    if (pause === undefined) {
      this.health.set({ state: "failed", lines: started.lines });
      return;
    }
    this.health.set({ state: "starting" });
    this.again(pause);
  }

  private again(ms: number): void {
    if (this.over || this.timer !== null) return;
    this.timer = window.setTimeout(() => {
      this.timer = null;
      void this.look();
    }, ms);
  }
}
