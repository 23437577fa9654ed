import { type App, FuzzySuggestModal, type TFile } from "obsidian";
import type { Mend } from "../api/answers";
import type { Text } from "../text/text";

export interface Acts {
  open: () => void;
  accept: (target?: string) => unknown;
  reject: () => unknown;
  keep: () => unknown;
}

/** One broken link: as it stands, what it would become, by which rule, and what can be done. */
export function drawMend(parent: HTMLElement, app: App, t: Text, mend: Mend, acts: Acts, where: boolean): HTMLElement {
  const row = parent.createDiv({ cls: "omk-mend" });
  const head = row.createDiv({ cls: "omk-mend-head" });
  const link = head.createEl("a", { text: where ? `${mend.source}:${mend.line ?? ""}` : `${mend.line ?? ""}` });
  link.addEventListener("click", acts.open);
  head.createSpan({ cls: "omk-why", text: mend.target === null ? t.say("mend.noproposal") : t.word("rule", mend.rule) });
  const change = row.createDiv({ cls: "omk-change" });
  change.createEl("del", { text: mend.raw });
  if (mend.target !== null && mend.replacement !== mend.raw) {
    change.appendText(" → ");
    change.createEl("ins", { text: mend.replacement });
  }
  for (const reason of mend.reasons) row.createDiv({ cls: "omk-reason", text: reason });
  const buttons = row.createDiv({ cls: "omk-buttons" });
  const button = (text: string, act: () => unknown, cls = ""): void => {
    const made = buttons.createEl("button", { text, cls });
    made.addEventListener("click", () => {
      made.disabled = true;
      void Promise.resolve(act()).finally(() => (made.disabled = false));
    });
  };
  if (mend.target !== null && mend.replacement !== mend.raw) button(t.say("mend.accept"), () => acts.accept(), "mod-cta");
  button(t.say("mend.other"), () => new NoteChooser(app, t, (file) => void acts.accept(file.path)).open());
  if (mend.target !== null) button(t.say("mend.reject"), acts.reject);
  button(t.say("mend.leave"), acts.keep);
  return row;
}

/** Which note a link should lead to. */
export class NoteChooser extends FuzzySuggestModal<TFile> {
  constructor(
    app: App,
    t: Text,
    private readonly picked: (file: TFile) => void,
  ) {
    super(app);
    this.setPlaceholder(t.say("mend.other"));
  }

  override getItems(): TFile[] {
    return this.app.vault.getMarkdownFiles();
  }

  override getItemText(file: TFile): string {
    return file.path;
  }

  override onChooseItem(file: TFile): void {
    this.picked(file);
  }
}
