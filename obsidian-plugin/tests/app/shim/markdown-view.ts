import { history, historyKeymap, defaultKeymap, redo, undo } from "@codemirror/commands";
import { EditorSelection, EditorState } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";
import { TFile } from "./vault";
import { FileView } from "./view";

const SAVE_MS = 2_000;

export interface Position {
  line: number;
  ch: number;
}

/** Obsidian's Editor over a real CodeMirror 6. */
export class Editor {
  constructor(readonly cm: EditorView) {}

  getValue(): string {
    return this.cm.state.doc.toString();
  }

  setValue(text: string): void {
    this.cm.dispatch({ changes: { from: 0, to: this.cm.state.doc.length, insert: text } });
  }

  getLine(line: number): string {
    return this.cm.state.doc.line(line + 1).text;
  }

  lastLine(): number {
    return this.cm.state.doc.lines - 1;
  }

  lineCount(): number {
    return this.cm.state.doc.lines;
  }

  offsetToPos(offset: number): Position {
    const line = this.cm.state.doc.lineAt(offset);
    return { line: line.number - 1, ch: offset - line.from };
  }

  posToOffset(at: Position): number {
    return this.cm.state.doc.line(at.line + 1).from + at.ch;
  }

  getCursor(which: "from" | "to" | "head" | "anchor" = "head"): Position {
    return this.offsetToPos(this.cm.state.selection.main[which]);
  }

  setCursor(at: Position | number, ch = 0): void {
    const place = typeof at === "number" ? { line: at, ch } : at;
    this.cm.dispatch({ selection: EditorSelection.cursor(this.posToOffset(place)) });
  }

  setSelection(anchor: Position, head: Position = anchor): void {
    this.cm.dispatch({ selection: EditorSelection.single(this.posToOffset(anchor), this.posToOffset(head)) });
  }

  listSelections(): { anchor: Position; head: Position }[] {
    return this.cm.state.selection.ranges.map((range) => ({
      anchor: this.offsetToPos(range.anchor),
      head: this.offsetToPos(range.head),
    }));
  }

  somethingSelected(): boolean {
    return !this.cm.state.selection.main.empty;
  }

  getSelection(): string {
    const { from, to } = this.cm.state.selection.main;
    return this.cm.state.sliceDoc(from, to);
  }

  replaceSelection(text: string): void {
    this.cm.dispatch(this.cm.state.replaceSelection(text));
  }

  replaceRange(text: string, from: Position, to: Position = from): void {
    this.cm.dispatch({ changes: { from: this.posToOffset(from), to: this.posToOffset(to), insert: text } });
  }

  getRange(from: Position, to: Position): string {
    return this.cm.state.sliceDoc(this.posToOffset(from), this.posToOffset(to));
  }

  transaction(tx: { changes?: { text: string; from: Position; to?: Position }[] }): void {
    this.cm.dispatch({
      changes: (tx.changes ?? []).map((change) => ({
        from: this.posToOffset(change.from),
        to: this.posToOffset(change.to ?? change.from),
        insert: change.text,
      })),
    });
  }

  scrollIntoView(range: { from: Position }): void {
    this.cm.dispatch({ effects: EditorView.scrollIntoView(this.posToOffset(range.from), { y: "center" }) });
  }

  focus(): void {
    this.cm.focus();
  }

  undo(): void {
    undo(this.cm);
  }

  redo(): void {
    redo(this.cm);
  }
}

export class MarkdownView extends FileView {
  editor!: Editor;
  private dirty = false;
  private timer: number | null = null;
  private reading = false;

  override getViewType(): string {
    return "markdown";
  }

  getMode(): "source" | "preview" {
    return "source";
  }

  getViewData(): string {
    return this.editor.getValue();
  }

  override async setFile(file: TFile, state?: { line?: number }): Promise<void> {
    if (this.file !== null && this.dirty) await this.save();
    this.file = file;
    this.contentEl.empty();
    const cm = new EditorView({
      parent: this.contentEl,
      state: EditorState.create({
        doc: await this.app.vault.read(file),
        extensions: [
          history(),
          keymap.of([...defaultKeymap, ...historyKeymap]),
          EditorView.lineWrapping,
          EditorView.updateListener.of((update) => {
            if (update.docChanged && !this.reading) this.changed();
          }),
        ],
      }),
    });
    this.editor = new Editor(cm);
    if (state?.line !== undefined) this.editor.setCursor({ line: Math.min(state.line, this.editor.lastLine()), ch: 0 });
  }

  override async onOpen(): Promise<void> {
    this.registerEvent(this.app.vault.on("modify", ((file: TFile) => void this.reread(file)) as never));
    return Promise.resolve();
  }

  override async onClose(): Promise<void> {
    if (this.dirty) await this.save();
  }

  async save(): Promise<void> {
    if (this.timer !== null) window.clearTimeout(this.timer);
    this.timer = null;
    this.dirty = false;
    if (this.file !== null) await this.app.vault.modify(this.file, this.editor.getValue());
  }

  private changed(): void {
    this.dirty = true;
    this.app.workspace.trigger("editor-change", this.editor, this);
    if (this.timer !== null) window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.save(), SAVE_MS);
  }

  /** Somebody else wrote the file: what differs is taken in, and the cursor stays where it was. */
  private async reread(file: TFile): Promise<void> {
    if (file !== this.file || this.dirty) return;
    const now = await this.app.vault.read(file);
    const was = this.editor.getValue();
    if (now === was || this.dirty || file !== this.file) return;
    let from = 0;
    while (from < now.length && from < was.length && now[from] === was[from]) from++;
    let end = 0;
    while (end < now.length - from && end < was.length - from && now[now.length - 1 - end] === was[was.length - 1 - end]) end++;
    this.reading = true;
    this.editor.cm.dispatch({ changes: { from, to: was.length - end, insert: now.slice(from, now.length - end) } });
    this.reading = false;
  }
}
