/**
 * Writes what the sidecar planned, through Obsidian's own API: it archives first (prepare), the active note is changed
 * in its editor and others by `Vault.process`, and the sidecar checks the result on the disk (commit).
 */

import { type App, MarkdownView, type TFile } from "obsidian";
import { operation, type FileToWrite, type Operation, type ToWrite } from "../api/answers";
import { type Answer, type Client, refused } from "../api/client";
import { applyEdits, linesOf, sha256 } from "./edits";

export interface Care {
  /** Nothing is written while the cursor stands in a line that would change. */
  sparing: boolean;
}

export class Pen {
  private busy: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly app: App,
    private readonly client: Client,
  ) {}

  /** One after the other: two plans may concern one note. */
  write(prepare: () => Promise<Answer<ToWrite>>, care: Care): Promise<Answer<Operation>> {
    const next = this.busy.then(() => this.carryOut(prepare, care));
    this.busy = next.catch(() => undefined);
    return next;
  }

  private async carryOut(prepare: () => Promise<Answer<ToWrite>>, care: Care): Promise<Answer<Operation>> {
    const prepared = await prepare();
    if (!prepared.ok) return prepared;
    const { op, files } = prepared.value;
    const why = await this.refusal(files, care);
    if (why !== null) {
      await this.client.post(`/operations/${op}/abandon`, operation);
      return refused(why);
    }
    const written: FileToWrite[] = [];
    for (const file of files) {
      if (!(await this.writeOne(file))) break;
      written.push(file);
    }
    // Whatever was written: the sidecar looks at the disk, and says what became of it.
    const end = written.length > 0 ? "commit" : "abandon";
    const done = await this.client.post(`/operations/${op}/${end}`, operation);
    if (!done.ok) return done;
    return done.value.state === "committed" ? done : refused("changed");
  }

  /** Why none of it may be written, looked at before the first byte is. */
  private async refusal(files: readonly FileToWrite[], care: Care): Promise<string | null> {
    for (const file of files) {
      if (file.before === null) continue;
      const found = this.app.vault.getFileByPath(file.path);
      if (found === null) return "changed";
      const view = this.viewOf(found);
      const disk = await this.app.vault.read(found);
      const shown = view?.editor.getValue() ?? disk;
      if (lines(shown) !== lines(disk)) return "changed"; // typed, and not saved yet
      if (view !== null && care.sparing && underCursor(view, shown, file)) return "cursor";
      if ((await sha256(shown)) !== file.before && (await sha256(disk)) !== file.before) return "changed";
    }
    return null;
  }

  private async writeOne(file: FileToWrite): Promise<boolean> {
    const { vault } = this.app;
    const found = vault.getFileByPath(file.path);
    if (file.edits === null) {
      if (found !== null) await this.app.fileManager.trashFile(found);
      return found !== null;
    }
    if (file.before === null) {
      if (found !== null) return false;
      const folder = file.path.slice(0, Math.max(0, file.path.lastIndexOf("/")));
      if (folder !== "" && vault.getFolderByPath(folder) === null) await vault.createFolder(folder);
      await vault.create(file.path, applyEdits("", file.edits));
      return true;
    }
    if (found === null) return false;
    const view = this.viewOf(found);
    const shown = view?.editor.getValue();
    if (view !== null && shown !== undefined && (await sha256(shown)) === file.before) {
      if (view.editor.getValue() !== shown) return false; // typed at this moment
      await intoEditor(view, file);
      return true;
    }
    const before = await vault.read(found);
    if ((await sha256(before)) !== file.before) return false;
    const edits = file.edits;
    let same = true;
    await vault.process(found, (now) => {
      same = now === before;
      return same ? applyEdits(now, edits) : now;
    });
    return same;
  }

  private viewOf(file: TFile): MarkdownView | null {
    for (const leaf of this.app.workspace.getLeavesOfType("markdown")) {
      if (leaf.view instanceof MarkdownView && leaf.view.file === file && leaf.view.getMode() === "source") {
        return leaf.view;
      }
    }
    return null;
  }
}

/** The editor knows one kind of line end only. */
function lines(text: string): string {
  return text.replace(/\r\n?/g, "\n");
}

function underCursor(view: MarkdownView, text: string, file: FileToWrite): boolean {
  const touched = linesOf(text, file.edits ?? []);
  return view.editor.listSelections().some(({ anchor, head }) => {
    const [first, last] = [Math.min(anchor.line, head.line), Math.max(anchor.line, head.line)];
    for (let line = first; line <= last; line++) if (touched.has(line)) return true;
    return false;
  });
}

async function intoEditor(view: MarkdownView, file: FileToWrite): Promise<void> {
  const { editor } = view;
  editor.transaction({
    changes: (file.edits ?? []).map((edit) => ({
      from: editor.offsetToPos(edit.start),
      to: editor.offsetToPos(edit.end),
      text: edit.text,
    })),
  });
  await view.save();
}
