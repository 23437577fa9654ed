/** What changed in the vault's index, told as it happens: one long poll at a time, for as long as the plugin lives. */

import { type Changes, changes, type Status, status } from "../api/answers";
import { Signal } from "../signal";
import type { Sidecar } from "./sidecar";

const WAIT_S = 20;
const BUSY_MS = 700;
const IDLE_MS = 3_000;

export class News {
  readonly status = new Signal<Status | null>(null);
  /** The latest changes; `reset` means: look at everything again. */
  readonly changes = new Signal<Changes | null>(null);
  /** How many links wait to be written by us. */
  readonly due = new Signal(0);
  private revision: number | undefined;
  private over = false;

  constructor(private readonly sidecar: Sidecar) {}

  start(): void {
    void this.poll();
  }

  stop(): void {
    this.over = true;
  }

  private async poll(): Promise<void> {
    while (!this.over) {
      if (this.sidecar.health.value.state !== "up") {
        this.revision = undefined;
        this.status.set(null);
        await pause(BUSY_MS);
        continue;
      }
      await this.refresh();
      const now = this.status.value;
      const working = now !== null && (now.work.state !== "ready" || now.pending > 0 || now.unencoded > 0);
      const wait = this.revision === undefined ? 0 : working ? 1 : WAIT_S;
      const answer = await this.sidecar.client.get(
        "/changes",
        changes,
        { since: this.revision, wait, pen: "yes" },
        (WAIT_S + 10) * 1000,
      );
      if (this.over) return;
      if (!answer.ok) {
        await pause(IDLE_MS);
        continue;
      }
      const first = this.revision === undefined;
      this.revision = answer.value.revision;
      if (first || answer.value.reset || answer.value.paths.length > 0) {
        this.changes.set({ ...answer.value, reset: first || answer.value.reset });
      }
      if (answer.value.due > 0) {
        this.due.set(answer.value.due);
        await pause(BUSY_MS);
      }
    }
  }

  private async refresh(): Promise<void> {
    const answer = await this.sidecar.client.get("/status", status);
    if (answer.ok && !this.over) this.status.set(answer.value);
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => window.setTimeout(resolve, ms));
}
