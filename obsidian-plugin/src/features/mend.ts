import { Component, Notice } from "obsidian";
import { type Mend, type Operation, plan, type Plan, rejected, toWrite } from "../api/answers";
import type { Answer } from "../api/client";
import type { Kit } from "./kit";

const NOTICE_MS = 10_000;

/** Links that mend: what is due is written through Obsidian; proposals are made, accepted and put aside here. */
export class MendLinks extends Component {
  private taking = false;

  constructor(private readonly kit: Kit) {
    super();
  }

  override onload(): void {
    this.register(this.kit.news.due.on(() => void this.take()));
  }

  /** What links of this note, or of the whole vault, could be mended to. */
  proposals(note?: string): Promise<Answer<Plan>> {
    return this.kit.client.post("/repair", plan, note === undefined ? {} : { note }, 60_000);
  }

  /** Links that could be made to notes nobody links to, or to this one. */
  links(note?: string): Promise<Answer<Plan>> {
    return this.kit.client.post("/relink", plan, note === undefined ? {} : { note }, 60_000);
  }

  /** Writes some proposals of a plan, to another note than proposed if one is named. */
  async accept(made: Plan, mends: readonly Mend[], target?: string): Promise<boolean> {
    const places = mends.map((mend) => made.plans.indexOf(mend));
    const body = { mends: places, ...(target === undefined ? {} : { target }) };
    return this.told(
      await this.kit.pen.write(() => this.kit.client.post(`/plans/${made.plan}/prepare`, toWrite, body), { sparing: false }),
      mends.length,
    );
  }

  /** They do not come back; with `keep` the links are meant as they stand. */
  async reject(made: Plan, mends: readonly Mend[], keep: boolean): Promise<boolean> {
    const body = { mends: mends.map((mend) => made.plans.indexOf(mend)), keep };
    const answer = await this.kit.client.post(`/plans/${made.plan}/reject`, rejected, body);
    if (!answer.ok) new Notice(this.kit.t.fault(answer.fault));
    return answer.ok;
  }

  /** Takes operations back, through Obsidian too. */
  async undo(ops: readonly string[]): Promise<boolean> {
    const { client, pen, t } = this.kit;
    const answer = await pen.write(() => client.post("/operations/undo", toWrite, { ops, prepare: true }), { sparing: false });
    new Notice(answer.ok ? t.say("mend.undone") : t.fault(answer.fault));
    return answer.ok;
  }

  private async take(): Promise<void> {
    if (this.taking) return;
    this.taking = true;
    try {
      const { client, pen } = this.kit;
      const due = await client.post("/repair/due", plan);
      if (!due.ok || due.value.plans.length === 0) return;
      const { plan: name, plans } = due.value;
      const done: Operation[] = [];
      let count = 0;
      // Note by note: where one is in the way, the others are mended all the same.
      for (const source of new Set(plans.map((mend) => mend.source))) {
        const own = plans.filter((mend) => mend.source === source);
        const mends = own.map((mend) => plans.indexOf(mend));
        const answer = await pen.write(() => client.post(`/plans/${name}/prepare`, toWrite, { mends }), { sparing: true });
        if (!answer.ok) continue;
        done.push(answer.value);
        count += own.length;
      }
      if (done.length > 0 && this.kit.settings.notices) this.notice(done, count);
    } finally {
      this.taking = false;
    }
  }

  private told(answer: Answer<Operation>, count: number): boolean {
    if (answer.ok) this.notice([answer.value], count);
    else new Notice(this.kit.t.fault(answer.fault));
    return answer.ok;
  }

  private notice(done: readonly Operation[], count: number): void {
    const { t } = this.kit;
    const notes = new Set(done.flatMap((op) => op.files.map((file) => file.path))).size;
    const said = createFragment((fragment) => {
      fragment.createDiv({ text: t.say("mend.done", { count, notes }) });
      const button = fragment.createEl("button", { text: t.say("mend.undo"), cls: "omk-undo" });
      button.addEventListener("click", () => void this.undo(done.map((op) => op.id)));
    });
    new Notice(said, NOTICE_MS);
  }
}
