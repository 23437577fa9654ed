import { diffRows } from "../diff/rows";

/** Draws a unified diff; text nodes only. */
export function drawDiff(parent: HTMLElement, unified: string): void {
  const box = parent.createDiv({ cls: "omk-diff" });
  for (const row of diffRows(unified)) {
    const line = box.createDiv({ cls: `omk-line omk-line-${row.kind}` });
    line.createSpan({ cls: "omk-sign", text: row.kind === "same" ? " " : row.kind === "in" ? "+" : "−" });
    const text = line.createSpan();
    for (const part of row.parts) {
      if (part.changed && row.kind !== "same") text.createEl(row.kind === "in" ? "ins" : "del", { text: part.text });
      else text.appendText(part.text);
    }
  }
}
