import type { App } from "./app";
import { Component } from "./events";

const open: Modal[] = [];

export class Modal {
  readonly containerEl = createDiv({ cls: "modal-container" });
  readonly modalEl: HTMLElement;
  readonly titleEl: HTMLElement;
  readonly contentEl: HTMLElement;
  private before: Element | null = null;

  constructor(readonly app: App) {
    this.containerEl.createDiv({ cls: "modal-bg" }).addEventListener("click", () => this.close());
    this.modalEl = this.containerEl.createDiv({ cls: "modal", attr: { role: "dialog" } });
    this.modalEl.createDiv({ cls: "modal-close-button" }).addEventListener("click", () => this.close());
    this.titleEl = this.modalEl.createDiv({ cls: "modal-title" });
    this.contentEl = this.modalEl.createDiv({ cls: "modal-content" });
  }

  setTitle(title: string): this {
    this.titleEl.setText(title);
    return this;
  }

  open(): void {
    this.before = document.activeElement;
    document.body.appendChild(this.containerEl);
    open.push(this);
    void this.onOpen();
  }

  close(): void {
    if (!open.includes(this)) return;
    open.splice(open.indexOf(this), 1);
    this.containerEl.remove();
    this.onClose();
    if (this.before instanceof HTMLElement) this.before.focus();
  }

  onOpen(): unknown {
    return undefined;
  }

  onClose(): void {}
}

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !event.isComposing) open[open.length - 1]?.close();
});

export abstract class SuggestModal<T> extends Modal {
  readonly inputEl: HTMLInputElement;
  readonly resultContainerEl: HTMLElement;
  #shown: T[] = [];
  #chosen = 0;

  constructor(app: App) {
    super(app);
    this.modalEl.addClass("prompt");
    this.inputEl = this.contentEl.createEl("input", { cls: "prompt-input", type: "text" });
    this.resultContainerEl = this.contentEl.createDiv({ cls: "prompt-results" });
    this.inputEl.addEventListener("input", () => void this.update());
    this.inputEl.addEventListener("keydown", (event) => {
      if (event.isComposing) return;
      if (event.key === "ArrowDown") this.choose(this.#chosen + 1);
      else if (event.key === "ArrowUp") this.choose(this.#chosen - 1);
      else if (event.key === "Enter") {
        event.preventDefault();
        this.take(this.#chosen, event);
      }
    });
  }

  abstract getSuggestions(query: string): T[] | Promise<T[]>;
  abstract renderSuggestion(value: T, el: HTMLElement): void;
  abstract onChooseSuggestion(value: T, event: MouseEvent | KeyboardEvent): void;

  setPlaceholder(text: string): void {
    this.inputEl.placeholder = text;
  }

  setInstructions(): void {}

  override open(): void {
    super.open();
    this.inputEl.focus();
    void this.update();
  }

  private async update(): Promise<void> {
    this.#shown = (await this.getSuggestions(this.inputEl.value)).slice(0, 100);
    this.resultContainerEl.empty();
    this.#shown.forEach((value, index) => {
      const row = this.resultContainerEl.createDiv({ cls: "suggestion-item" });
      this.renderSuggestion(value, row);
      row.addEventListener("click", (event) => this.take(index, event));
    });
    this.choose(0);
  }

  private choose(index: number): void {
    if (this.#shown.length === 0) return;
    this.#chosen = (index + this.#shown.length) % this.#shown.length;
    Array.from(this.resultContainerEl.children).forEach((row, at) => row.toggleClass("is-selected", at === this.#chosen));
  }

  private take(index: number, event: MouseEvent | KeyboardEvent): void {
    const value = this.#shown[index];
    if (value === undefined) return;
    this.close();
    this.onChooseSuggestion(value, event);
  }
}

export abstract class FuzzySuggestModal<T> extends SuggestModal<{ item: T }> {
  abstract getItems(): T[];
  abstract getItemText(item: T): string;
  abstract onChooseItem(item: T, event: MouseEvent | KeyboardEvent): void;

  getSuggestions(query: string): { item: T }[] {
    const wanted = query.toLowerCase();
    return this.getItems()
      .filter((item) => this.getItemText(item).toLowerCase().includes(wanted))
      .map((item) => ({ item }));
  }

  renderSuggestion(value: { item: T }, el: HTMLElement): void {
    el.setText(this.getItemText(value.item));
  }

  onChooseSuggestion(value: { item: T }, event: MouseEvent | KeyboardEvent): void {
    this.onChooseItem(value.item, event);
  }
}

export class Notice {
  readonly noticeEl: HTMLElement;

  constructor(message: string | DocumentFragment, duration = 5_000) {
    const box = document.querySelector(".notice-container") ?? document.body.createDiv({ cls: "notice-container" });
    this.noticeEl = box.createDiv({ cls: "notice" });
    if (typeof message === "string") this.noticeEl.setText(message);
    else this.noticeEl.appendChild(message);
    this.noticeEl.addEventListener("click", () => this.hide());
    if (duration > 0) window.setTimeout(() => this.hide(), duration);
  }

  setMessage(message: string): this {
    this.noticeEl.setText(message);
    return this;
  }

  hide(): void {
    this.noticeEl.remove();
  }
}

export class MenuItem {
  readonly el = createDiv({ cls: "menu-item" });
  setTitle(title: string): this {
    this.el.setText(title);
    return this;
  }
  setIcon(): this {
    return this;
  }
  setSection(): this {
    return this;
  }
  setDisabled(off: boolean): this {
    this.el.toggleClass("is-disabled", off);
    return this;
  }
  onClick(callback: (event: MouseEvent) => unknown): this {
    this.el.addEventListener("click", (event) => {
      document.querySelector(".menu")?.remove();
      callback(event);
    });
    return this;
  }
}

export class Menu extends Component {
  private readonly el = createDiv({ cls: "menu" });

  addItem(make: (item: MenuItem) => unknown): this {
    const item = new MenuItem();
    make(item);
    this.el.appendChild(item.el);
    return this;
  }

  addSeparator(): this {
    this.el.createDiv({ cls: "menu-separator" });
    return this;
  }

  showAtMouseEvent(event: MouseEvent): this {
    return this.showAtPosition({ x: event.clientX, y: event.clientY });
  }

  showAtPosition(at: { x: number; y: number }): this {
    document.querySelector(".menu")?.remove();
    this.el.style.left = `${at.x}px`;
    this.el.style.top = `${at.y}px`;
    document.body.appendChild(this.el);
    return this;
  }
}
