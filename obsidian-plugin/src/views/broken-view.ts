import type { WorkspaceLeaf } from "obsidian";
import type { Mend, Plan } from "../api/answers";
import type { Answer } from "../api/client";
import type { Kit } from "../features/kit";
import type { MendLinks } from "../features/mend";
import type { Key } from "../text/en";
import { openAt } from "./open";
import { drawMend } from "./mend-row";
import { Panel } from "./panel";

export const BROKEN_VIEW = "oh-my-kb-broken";
export const RELINK_VIEW = "oh-my-kb-relink";
const PAGE = 50;

/** Links of the vault to be mended, or to be made to orphans: the surest first, a page at a time. */
abstract class LinksView extends Panel {
  protected abstract readonly words: Record<"loading" | "none" | "count" | "all", Key>;
  protected abstract ask(): Promise<Answer<Plan>>;

  constructor(
    leaf: WorkspaceLeaf,
    kit: Kit,
    protected readonly mend: MendLinks,
  ) {
    super(leaf, kit);
  }

  protected async fill(stale: () => boolean): Promise<void> {
    if (this.body.childElementCount === 0 || this.body.querySelector(".omk-empty") !== null) this.say(this.words.loading);
    const answer = await this.ask();
    if (stale()) return;
    if (!answer.ok) return this.fail(answer.fault);
    this.draw(answer.value);
  }

  private draw(plan: Plan): void {
    const { t } = this.kit;
    const mends = [...plan.plans].sort((a, b) => Number(b.certain) - Number(a.certain) || b.confidence - a.confidence);
    if (mends.length === 0) return this.say(this.words.none);
    this.body.empty();
    const head = this.body.createDiv({ cls: "omk-head" });
    head.createSpan({ text: t.say(this.words.count, { count: mends.length }) });
    const certain = mends.filter((mend) => mend.certain);
    if (certain.length > 0) {
      const all = t.say(this.words.all, { count: certain.length });
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

export class BrokenView extends LinksView {
  protected readonly title = "broken.open";
  protected readonly symbol = "link-2-off";
  protected readonly words = { loading: "broken.loading", none: "broken.none", count: "broken.count", all: "broken.all" } as const;

  override getViewType(): string {
    return BROKEN_VIEW;
  }

  protected ask(): Promise<Answer<Plan>> {
    return this.mend.proposals();
  }
}

export class RelinkView extends LinksView {
  protected readonly title = "relink.open";
  protected readonly symbol = "link-2";
  protected readonly words = { loading: "relink.loading", none: "relink.none", count: "relink.count", all: "relink.all" } as const;

  override getViewType(): string {
    return RELINK_VIEW;
  }

  protected ask(): Promise<Answer<Plan>> {
    return this.mend.links();
  }
}
