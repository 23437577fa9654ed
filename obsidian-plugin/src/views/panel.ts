import { ItemView, type WorkspaceLeaf } from "obsidian";
import type { Fault } from "../api/client";
import type { Kit } from "../features/kit";
import type { Key } from "../text/en";

/** A side view: its states are drawn in one way, and a late answer never overwrites a newer one. */
export abstract class Panel extends ItemView {
  private turn = 0;
  protected body!: HTMLElement;

  constructor(
    leaf: WorkspaceLeaf,
    protected readonly kit: Kit,
  ) {
    super(leaf);
    this.navigation = false;
  }

  protected abstract readonly title: Key;
  protected abstract readonly symbol: string;
  /** Asks for what is to be shown and draws it, unless `stale()` by then. */
  protected abstract fill(stale: () => boolean): Promise<void>;

  override getDisplayText(): string {
    return this.kit.t.say(this.title);
  }

  override getIcon(): string {
    return this.symbol;
  }

  override async onOpen(): Promise<void> {
    this.contentEl.empty();
    this.contentEl.addClass("omk-panel");
    this.body = this.contentEl.createDiv({ cls: "omk-body" });
    this.say("list.loading");
    this.register(
      this.kit.sidecar.health.on((health) => {
        if (health.state === "up") this.refresh();
      }),
    );
    this.refresh();
    return Promise.resolve();
  }

  refresh(): void {
    const turn = ++this.turn;
    void this.fill(() => turn !== this.turn);
  }

  /** One sentence in the place of the list. */
  protected say(key: Key): void {
    this.body.empty();
    this.body.createDiv({ cls: "omk-empty", text: this.kit.t.say(key) });
  }

  protected fail(fault: Fault): void {
    this.body.empty();
    const box = this.body.createDiv({ cls: "omk-empty" });
    box.createDiv({ text: this.kit.t.fault(fault) });
    const again = box.createEl("button", { text: this.kit.t.say("list.retry") });
    again.addEventListener("click", () => this.refresh());
  }

  protected section(title: string, count?: number): HTMLElement {
    const section = this.body.createDiv({ cls: "omk-section" });
    const head = section.createDiv({ cls: "omk-section-title" });
    head.createSpan({ text: title });
    if (count !== undefined) head.createSpan({ cls: "omk-count", text: String(count) });
    return section;
  }

  protected button(parent: HTMLElement, text: string, act: () => unknown, cls = ""): HTMLButtonElement {
    const button = parent.createEl("button", { text, cls });
    button.addEventListener("click", (event) => {
      event.stopPropagation();
      button.disabled = true;
      void Promise.resolve(act()).finally(() => (button.disabled = false));
    });
    return button;
  }
}
