import { type App, MarkdownView } from "obsidian";

export type Place = "here" | "tab" | "split";

/** Opens a file of the vault; a note at this line, from 1. */
export async function openAt(app: App, path: string, line: number | null = null, place: Place = "here"): Promise<void> {
  const file = app.vault.getFileByPath(path);
  if (file === null) return;
  const leaf = app.workspace.getLeaf(place === "here" ? false : place);
  const wanted = line !== null && line > 0 ? { eState: { line: line - 1 } } : {};
  await leaf.openFile(file, { active: true, ...wanted });
  if (line === null || line < 1 || !(leaf.view instanceof MarkdownView)) return;
  const { editor } = leaf.view;
  const at = { line: Math.min(line - 1, editor.lastLine()), ch: 0 };
  editor.setCursor(at);
  editor.scrollIntoView({ from: at, to: at }, true);
}
