import { type App, Modal } from "obsidian";
import { problems } from "../api/answers";
import type { Kit } from "../features/kit";
import { drawHealth } from "./health";
import { openAt } from "./open";

const MOST = 200;

/** How far the index is, and which notes have what problem. */
export class DetailsModal extends Modal {
  private ends: (() => void)[] = [];

  constructor(
    app: App,
    private readonly kit: Kit,
  ) {
    super(app);
  }

  override onOpen(): void {
    const { t, sidecar, news } = this.kit;
    this.setTitle(t.say("details.title"));
    const health = this.contentEl.createDiv();
    const counts = this.contentEl.createDiv();
    const list = this.contentEl.createDiv({ cls: "omk-problems" });
    const draw = (): void => {
      health.empty();
      drawHealth(health, this.kit, sidecar.health.value);
      counts.empty();
      const status = news.status.value;
      if (status === null) return;
      const { indexed, on_disk: disk, unencoded } = status;
      counts.createEl("p", { text: t.say("details.counts", { indexed, disk, unencoded }) });
      for (const remark of [status.work.message, ...status.remarks]) {
        if (remark !== "") counts.createEl("p", { cls: "omk-remark", text: remark });
      }
    };
    this.ends = [sidecar.health.on(draw), news.status.on(draw)];
    draw();
    void this.list(list);
  }

  override onClose(): void {
    for (const end of this.ends) end();
    this.contentEl.empty();
  }

  private async list(parent: HTMLElement): Promise<void> {
    const { t, client } = this.kit;
    const answer = await client.get("/problems", problems);
    if (!answer.ok) return;
    if (answer.value.problems.length === 0) parent.createEl("p", { cls: "omk-empty", text: t.say("details.none") });
    for (const problem of answer.value.problems.slice(0, MOST)) {
      const row = parent.createDiv({ cls: "omk-problem" });
      const link = row.createEl("a", { text: problem.line === null ? problem.path : `${problem.path}:${problem.line}` });
      link.addEventListener("click", () => {
        this.close();
        void openAt(this.app, problem.path, problem.line);
      });
      row.createDiv({ text: problem.message });
    }
  }
}
