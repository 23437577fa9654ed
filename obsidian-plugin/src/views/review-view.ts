import { Notice } from "obsidian";
import { decided, type Item, plan, review, toWrite } from "../api/answers";
import { drawDiff } from "./diff";
import { NoteChooser } from "./mend-row";
import { openAt } from "./open";
import { Panel } from "./panel";

export const REVIEW_VIEW = "oh-my-kb-review";
const MOST = 100;

type Verb = "reject" | "snooze" | "keep-new";

/** What waits for a decision, the surest first. */
export class ReviewView extends Panel {
  protected readonly title = "review.open";
  protected readonly symbol = "list-checks";

  override getViewType(): string {
    return REVIEW_VIEW;
  }

  protected async fill(stale: () => boolean): Promise<void> {
    const answer = await this.kit.client.get("/review", review, { n: MOST });
    if (stale()) return;
    if (!answer.ok) return this.fail(answer.fault);
    const { items, total } = answer.value;
    if (items.length === 0) return this.say("review.none");
    const { t } = this.kit;
    this.body.empty();
    this.body.createDiv({ cls: "omk-head", text: t.say("review.count", { count: total }) });
    const rules = new Map<string, Item[]>();
    for (const item of items) rules.set(item.rule ?? item.kind, [...(rules.get(item.rule ?? item.kind) ?? []), item]);
    for (const [rule, some] of rules) {
      const section = this.section(t.word("rule", rule), some.length);
      if (some.length > 1) {
        const buttons = section.createDiv({ cls: "omk-buttons" });
        this.button(buttons, t.say("review.rule"), () => this.accept(some));
        this.button(buttons, t.say("review.ruleReject"), () => this.decide("reject", some));
      }
      for (const item of some) this.draw(section, item);
    }
  }

  private draw(section: HTMLElement, item: Item): void {
    const { app, t } = this.kit;
    const box = section.createDiv({ cls: "omk-item" });
    const head = box.createDiv({ cls: "omk-mend-head" });
    const link = head.createEl("a", { text: item.line === null ? item.source : `${item.source}:${item.line}` });
    link.addEventListener("click", () => void openAt(app, item.source, item.line, "tab"));
    head.createSpan({ cls: "omk-why", text: `${Math.round(item.confidence * 100)} %` });
    if (item.diff === "") box.createDiv({ cls: "omk-reason", text: item.summary });
    else drawDiff(box, item.diff);
    for (const reason of item.reasons) box.createDiv({ cls: "omk-reason", text: reason });
    const buttons = box.createDiv({ cls: "omk-buttons" });
    this.button(buttons, t.say("review.accept"), () => this.accept([item]), "mod-cta");
    this.button(buttons, t.say("mend.other"), () =>
      new NoteChooser(app, t, (file) => void this.accept([item], file.path)).open(),
    );
    this.button(buttons, t.say("review.reject"), () => this.decide("reject", [item]));
    this.button(buttons, t.say("review.keep"), () => this.decide("keep-new", [item]));
    this.button(buttons, t.say("review.snooze"), () => this.decide("snooze", [item]));
  }

  /** A plan of these items, written through Obsidian. */
  private async accept(items: readonly Item[], target?: string): Promise<void> {
    const { client, pen, t } = this.kit;
    const body = { verb: "plan", ids: items.map((item) => item.id), ...(target === undefined ? {} : { target }) };
    const made = await client.post("/review", plan, body);
    if (!made.ok) return void new Notice(t.fault(made.fault));
    const mends = made.value.plans.map((_mend, index) => index);
    const done = await pen.write(() => client.post(`/plans/${made.value.plan}/prepare`, toWrite, { mends }), { sparing: false });
    new Notice(done.ok ? t.say("mend.done", { count: mends.length, notes: done.value.files.length }) : t.fault(done.fault));
    this.refresh();
  }

  private async decide(verb: Verb, items: readonly Item[]): Promise<void> {
    const { client, t } = this.kit;
    const answer = await client.post("/review", decided, { verb, ids: items.map((item) => item.id) });
    if (!answer.ok) new Notice(t.fault(answer.fault));
    this.refresh();
  }
}
