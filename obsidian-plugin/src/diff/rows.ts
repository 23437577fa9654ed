/** A unified diff as rows for people: context, and lines taken out and put in with the words that differ marked. */

export interface Part {
  text: string;
  changed: boolean;
}
export interface Row {
  kind: "same" | "out" | "in";
  parts: Part[];
}

export function diffRows(unified: string): Row[] {
  const rows: Row[] = [];
  let out: string[] = [];
  let into: string[] = [];
  const flush = (): void => {
    const pairs = Math.min(out.length, into.length);
    const left: Row[] = [];
    const right: Row[] = [];
    out.forEach((line, index) => {
      const other = index < pairs ? into[index] : undefined;
      left.push({ kind: "out", parts: other === undefined ? [{ text: line, changed: true }] : compare(line, other) });
    });
    into.forEach((line, index) => {
      const other = index < pairs ? out[index] : undefined;
      right.push({ kind: "in", parts: other === undefined ? [{ text: line, changed: true }] : compare(line, other) });
    });
    rows.push(...left, ...right);
    out = [];
    into = [];
  };
  for (const line of unified.split("\n")) {
    if (/^(---|\+\+\+) /.test(line) || line.startsWith("\\")) continue;
    if (line.startsWith("-")) out.push(line.slice(1));
    else if (line.startsWith("+")) into.push(line.slice(1));
    else {
      flush();
      if (line.startsWith(" ")) rows.push({ kind: "same", parts: [{ text: line.slice(1), changed: false }] });
    }
  }
  flush();
  return rows;
}

/** `line`, what is not in `other` at its place marked: by words, and by characters in Chinese. */
export function compare(line: string, other: string): Part[] {
  const a = tokens(line);
  const b = tokens(other);
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const parts = [
    { text: a.slice(0, start).join(""), changed: false },
    { text: a.slice(start, a.length - end).join(""), changed: true },
    { text: a.slice(a.length - end).join(""), changed: false },
  ];
  return parts.filter((part) => part.text !== "");
}

function tokens(text: string): string[] {
  return text.match(/\p{Script=Han}|[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}\s]/gu) ?? [];
}
