import { type App, Keymap, MarkdownView, Modal, Notice, Platform } from "obsidian";
import { type Hit, probe, type Probe } from "../api/answers";
import type { Answer, Client } from "../api/client";
import { readQuestion } from "../probe/question";
import { join, marked } from "../probe/rows";
import type { Settings } from "../settings";
import type { Text } from "../text/text";
import { openAt, type Place } from "./open";

/** Between the words of one who types on; the first after a rest is asked at once. */
const PAUSE_MS = 30;
const RESTING_MS = 150;
const MOST = 12;

/** Ask, see, go there: the whole of it by keyboard. */
export class ProbeModal extends Modal {
  private input!: HTMLInputElement;
  private list!: HTMLElement;
  private remark!: HTMLElement;
  private rows: Hit[] = [];
  private chosen = 0;
  /** Whether the person moved through the list since the last word they typed. */
  private moved = false;
  private asked = 0;
  private composing = false;
  private timer: number | null = null;
  private last = -RESTING_MS;
  /** Where a citation would go: the note that was open before. */
  private readonly target: MarkdownView | null;

  constructor(
    app: App,
    private readonly client: Client,
    private readonly settings: Settings,
    private readonly t: Text,
    private readonly first = "",
  ) {
    super(app);
    this.target = app.workspace.getActiveViewOfType(MarkdownView);
  }

  override onOpen(): void {
    const { t } = this;
    this.modalEl.addClass("prompt", "omk-probe");
    this.modalEl.querySelector(".modal-close-button")?.remove();
    this.contentEl.empty();
    const top = this.contentEl.createDiv({ cls: "prompt-input-container" });
    this.input = top.createEl("input", {
      cls: "prompt-input",
      type: "text",
      attr: {
        placeholder: t.say("probe.hint"),
        "aria-label": t.say("probe.open"),
        role: "combobox",
        "aria-expanded": "true",
        "aria-controls": "omk-probe-list",
        spellcheck: "false",
      },
    });
    this.remark = this.contentEl.createDiv({ cls: "omk-remark", attr: { "aria-live": "polite" } });
    this.list = this.contentEl.createDiv({ cls: "prompt-results", attr: { role: "listbox", id: "omk-probe-list" } });
    this.keys();
    this.input.addEventListener("compositionstart", () => (this.composing = true));
    this.input.addEventListener("compositionend", () => {
      this.composing = false;
      this.ask();
    });
    this.input.addEventListener("input", () => {
      if (!this.composing) this.ask();
    });
    this.input.addEventListener("keydown", (event) => this.press(event));
    this.input.value = this.first;
    this.remark.setText(t.say("probe.empty"));
    this.input.focus();
    if (this.first !== "") this.ask();
  }

  override onClose(): void {
    this.asked++;
    if (this.timer !== null) window.clearTimeout(this.timer);
    this.contentEl.empty();
  }

  private keys(): void {
    const hints = this.contentEl.createDiv({ cls: "prompt-instructions" });
    const mod = Platform.isMacOS ? "cmd" : "ctrl";
    for (const [key, what] of [
      ["↵", "probe.key.open"],
      [`${mod} ↵`, "probe.key.tab"],
      [`${mod} alt ↵`, "probe.key.split"],
      ["shift ↵", "probe.key.cite"],
    ] as const) {
      const hint = hints.createDiv({ cls: "prompt-instruction" });
      hint.createSpan({ cls: "prompt-instruction-command", text: key });
      hint.createSpan({ text: this.t.say(what) });
    }
  }

  private press(event: KeyboardEvent): void {
    // An input method uses these keys itself.
    if (event.isComposing || event.key === "Process" || this.composing) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      this.choose(this.chosen + (event.key === "ArrowDown" ? 1 : -1));
    } else if (event.key === "Enter") {
      event.preventDefault();
      const hit = this.rows[this.chosen];
      if (hit === undefined) return;
      if (event.shiftKey) this.cite(hit);
      else this.go(hit, placeOf(event));
    }
  }

  private choose(index: number): void {
    if (this.rows.length === 0) return;
    this.moved = true;
    this.chosen = (index + this.rows.length) % this.rows.length;
    this.mark();
  }

  private ask(): void {
    if (this.timer !== null) window.clearTimeout(this.timer);
    const now = performance.now();
    const resting = now - this.last > RESTING_MS;
    this.last = now;
    this.timer = window.setTimeout(() => void this.answer(), resting ? 0 : PAUSE_MS);
  }

  private async answer(): Promise<void> {
    const number = ++this.asked;
    const question = readQuestion(this.input.value);
    this.moved = false;
    this.chosen = 0;
    if (question.q === "") {
      this.rows = [];
      this.draw(question.q);
      this.remark.setText(this.t.say("probe.empty"));
      return;
    }
    if (this.rows.length === 0) this.remark.setText(this.t.say("probe.searching"));
    const byWords = await this.client.get("/probe", probe, { ...question, mode: "token", n: MOST });
    if (number !== this.asked) return;
    if (!byWords.ok) return this.fail(byWords);
    this.rows = byWords.value.results;
    if (this.rows.length > 0) this.draw(question.q);
    const all = await this.client.get("/probe", probe, { ...question, mode: "hybrid", n: MOST });
    if (number !== this.asked) return;
    if (!all.ok) return this.fail(all);
    this.rows = join(this.rows, all.value.results, this.chosen, this.moved);
    this.draw(question.q);
    this.judge(all.value);
  }

  private judge(answer: Probe): void {
    const said =
      answer.verdict === "skip" || this.rows.length === 0
        ? this.t.say("probe.nothing")
        : answer.verdict === "glance"
          ? this.t.say("probe.glance")
          : "";
    this.remark.setText([said, answer.degraded ?? ""].filter((part) => part !== "").join(" · "));
    this.list.toggleClass("omk-faint", answer.verdict === "skip");
  }

  private fail(answer: Extract<Answer<Probe>, { ok: false }>): void {
    this.remark.setText(this.t.fault(answer.fault));
  }

  private draw(question: string): void {
    const { t } = this;
    if (this.rows.length > 0) this.remark.setText("");
    this.list.empty();
    this.rows.forEach((hit, index) => {
      const row = this.list.createDiv({
        cls: "suggestion-item mod-complex omk-hit",
        attr: { role: "option", id: `omk-hit-${index}` },
      });
      const main = row.createDiv({ cls: "suggestion-content" });
      const head = main.createDiv({ cls: "suggestion-title" });
      head.createSpan({ text: hit.title });
      if (hit.heading !== null && hit.heading !== hit.title) head.createSpan({ cls: "omk-heading", text: ` › ${hit.heading}` });
      const snippet = main.createDiv({ cls: "suggestion-note omk-snippet" });
      for (const part of marked(hit.snippet, question)) {
        if (part.mark) snippet.createEl("mark", { text: part.text });
        else snippet.appendText(part.text);
      }
      const foot = main.createDiv({ cls: "suggestion-note omk-foot" });
      foot.createSpan({ cls: "omk-path", text: hit.path });
      foot.createSpan({ cls: "omk-why", text: hit.why.map((one) => t.word("why", one)).join(", ") });
      row.createDiv({
        cls: `suggestion-aux omk-confidence omk-${hit.confidence}`,
        text: t.word("confidence", hit.confidence),
      });
      row.addEventListener("mousemove", () => {
        if (this.chosen !== index) this.choose(index);
      });
      row.addEventListener("click", (event) => this.go(hit, placeOf(event)));
    });
    this.mark();
  }

  private mark(): void {
    Array.from(this.list.children).forEach((row, index) => {
      const on = index === this.chosen;
      row.toggleClass("is-selected", on);
      row.setAttribute("aria-selected", String(on));
      if (on) row.scrollIntoView({ block: "nearest" });
    });
    this.input.setAttribute("aria-activedescendant", this.rows.length > 0 ? `omk-hit-${this.chosen}` : "");
  }

  private go(hit: Hit, place: Place): void {
    this.close();
    void openAt(this.app, hit.path, hit.line, place);
  }

  private cite(hit: Hit): void {
    const view = this.target;
    if (view === null || view.file === null) {
      new Notice(this.t.say("probe.noeditor"));
      return;
    }
    const heading = this.settings.cite === "heading" && hit.heading !== null && hit.heading !== hit.title ? hit.heading : null;
    const link = heading === null ? hit.cite : hit.cite.replace(/(\|[^\]]*)?\]\]$/, `#${heading}$1]]`);
    this.close();
    view.editor.replaceSelection(link);
  }
}

function placeOf(event: KeyboardEvent | MouseEvent): Place {
  const wanted = Keymap.isModEvent(event);
  return wanted === "split" ? "split" : wanted === false ? "here" : "tab";
}
