/** Changes of a text as the sidecar names them: places in UTF-16 units of the text before. */

import type { Edit } from "../api/answers";

export function applyEdits(before: string, edits: readonly Edit[]): string {
  let text = before;
  for (const edit of [...edits].sort((a, b) => b.start - a.start)) {
    text = text.slice(0, edit.start) + edit.text + text.slice(edit.end);
  }
  return text;
}

export async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** 0-based numbers of the lines that the edits touch. */
export function linesOf(before: string, edits: readonly Edit[]): Set<number> {
  const found = new Set<number>();
  for (const edit of edits) {
    const first = before.slice(0, edit.start).split("\n").length - 1;
    const last = first + before.slice(edit.start, edit.end).split("\n").length - 1;
    for (let line = first; line <= last; line++) found.add(line);
  }
  return found;
}
