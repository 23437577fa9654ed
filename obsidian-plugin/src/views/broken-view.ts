import type { WorkspaceLeaf } from "obsidian";
import type { Mend, Plan } from "../api/answers";
import type { Kit } from "../features/kit";
import type { MendLinks } from "../features/mend";
import { openAt } from "./open";
import { drawMend } from "./mend-row";
import { Panel } from "./panel";

export const BROKEN_VIEW = "oh-my-kb-broken";
const PAGE = 50;

/** All broken links of the vault, the surest first, a page at a time. */
export class BrokenView extends Panel {
  protected readonly title = "broken.open";
  protected readonly symbol = "link-2-off";

  constructor(
    leaf: WorkspaceLeaf,
    kit: Kit,
    private readonly mend: MendLinks,
  ) {
    super(leaf, kit);
  }

  override getViewType(): string {
    return BROKEN_VIEW;
  }

  protected async fill(stale: () => boolean): Promise<void> {
    if (this.body.childElementCount === 0 || this.body.querySelector(".omk-empty") !== null) this.say("broken.loading");
    const answer = await this.mend.proposals();
    if (stale()) return;
    if (!answer.ok) return this.fail(answer.fault);
    this.draw(answer.value);
  }

  private draw(plan: Plan): void {
    const { t } = this.kit;
    const mends = [...plan.plans].sort((a, b) => Number(b.certain) - Number(a.certain) || b.confidence - a.confidence);
    if (mends.length === 0) return this.say("broken.none");
    this.body.empty();
    const head = this.body.createDiv({ cls: "omk-head" });
    head.createSpan({ text: t.say("broken.count", { count: mends.length }) });
    const certain = mends.filter((mend) => mend.certain);
    if (certain.length > 0) {
      const all = t.say("broken.all", { count: certain.length });
      this.button(head, all, () => this.after(this.mend.accept(plan, certain)), "mod-cta");
    }
    this.page(plan, mends, this.body.createDiv(), 0);
  }

  private page(plan: Plan, mends: readonly Mend[], list: HTMLElement, from: number): void {
    const { app, t } = this.kit;
    for (const mend of mends.slice(from, from + PAGE)) {
      const row = drawMend(list, app, t, mend, {
        open: () => void openAt(app, mend.source, mend.line, "tab"),
        accept: (target) => this.gone(row, this.mend.accept(plan, [mend], target)),
        reject: () => this.gone(row, this.mend.reject(plan, [mend], false)),
        keep: () => this.gone(row, this.mend.reject(plan, [mend], true)),
      }, true);
    }
    if (from + PAGE >= mends.length) return;
    const more = this.button(list, t.say("list.more"), () => {
      more.remove();
      this.page(plan, mends, list, from + PAGE);
    });
  }

  /** The plan still holds for the other notes: only this row goes. Of one note the places may have shifted. */
  private async gone(row: HTMLElement, done: Promise<boolean>): Promise<void> {
    if (await done) row.remove();
    if (this.body.querySelector(".omk-mend") === null) this.refresh();
  }

  private async after(done: Promise<boolean>): Promise<void> {
    if (await done) this.refresh();
  }
}
