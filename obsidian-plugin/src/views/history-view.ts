import type { WorkspaceLeaf } from "obsidian";
import { type Operation, operations } from "../api/answers";
import type { Kit } from "../features/kit";
import type { MendLinks } from "../features/mend";
import { openAt } from "./open";
import { Panel } from "./panel";

export const HISTORY_VIEW = "oh-my-kb-history";
const MOST = 200;

/** What was written, the latest first, each with its undo. */
export class HistoryView extends Panel {
  protected readonly title = "history.open";
  protected readonly symbol = "history";

  constructor(
    leaf: WorkspaceLeaf,
    kit: Kit,
    private readonly mend: MendLinks,
  ) {
    super(leaf, kit);
  }

  override getViewType(): string {
    return HISTORY_VIEW;
  }

  override async onOpen(): Promise<void> {
    this.register(this.kit.news.changes.on(() => this.refresh()));
    await super.onOpen();
  }

  protected async fill(stale: () => boolean): Promise<void> {
    const answer = await this.kit.client.get("/operations", operations, { n: MOST });
    if (stale()) return;
    if (!answer.ok) return this.fail(answer.fault);
    const done = answer.value.operations.filter((op) => op.state === "committed" || op.state === "conflict");
    if (done.length === 0) return this.say("history.none");
    const { t } = this.kit;
    this.body.empty();
    const size = sizeOf(answer.value.size_bytes);
    this.body.createDiv({ cls: "omk-head", text: t.say("history.size", { count: done.length, size }) });
    const undone = undoneOf(done);
    [...done].reverse().forEach((op, index) => this.draw(op, undone.has(op.id), done.slice(done.length - 1 - index), undone));
  }

  private draw(op: Operation, undone: boolean, since: readonly Operation[], gone: ReadonlySet<string>): void {
    const { app, t } = this.kit;
    const box = this.body.createDiv({ cls: "omk-item" });
    const head = box.createDiv({ cls: "omk-mend-head" });
    head.createSpan({ text: `${new Date(op.at).toLocaleString()} · ${t.word("kind", op.kind)}` });
    if (undone) head.createSpan({ cls: "omk-why", text: t.say("history.undone") });
    const files = box.createEl("details");
    files.createEl("summary", { text: t.say("history.files", { count: op.files.length }) });
    for (const file of op.files) {
      const link = files.createEl("a", { cls: "omk-file", text: file.path });
      link.addEventListener("click", () => void openAt(app, file.path, null, "tab"));
    }
    const reasons = op.reasons.map((reason) => t.word("rule", reason)).join(", ");
    if (reasons !== "") box.createDiv({ cls: "omk-reason", text: reasons });
    if (undone || op.state !== "committed") return;
    const buttons = box.createDiv({ cls: "omk-buttons" });
    this.button(buttons, t.say("history.undo"), () => this.take([op.id]));
    const later = since.filter((one) => one.state === "committed" && !gone.has(one.id)).map((one) => one.id);
    if (later.length > 1) this.button(buttons, t.say("history.undoSince"), () => this.take(later));
  }

  private async take(ops: readonly string[]): Promise<void> {
    await this.mend.undo(ops);
    this.refresh();
  }
}

/** Ids of what was taken back, and not done again since. */
export function undoneOf(operations: readonly Operation[]): Set<string> {
  const gone = new Set<string>();
  for (const op of [...operations].reverse()) {
    if (op.state === "committed" && !gone.has(op.id)) for (const id of op.undoes) gone.add(id);
  }
  return gone;
}

function sizeOf(bytes: number): string {
  return bytes < 1_000_000 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
