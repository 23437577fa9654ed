/** Links of a note as the app reads them, and where they lead: held to what the real app reported (oracle.test.ts). */

export interface Reference {
  link: string;
  original: string;
  displayText: string;
  start: number;
  end: number;
  embed: boolean;
}

/** The text with code, comments and math put out of sight, place for place. */
function visible(text: string): string {
  const blank = (part: string): string => part.replace(/[^\n]/g, " ");
  let seen = text;
  const front = /^---\r?\n[\s\S]*?\r?\n---(?=\r?\n|$)/.exec(seen);
  if (front !== null) seen = blank(front[0]) + seen.slice(front[0].length);
  seen = seen.replace(/^([ \t>]*)(`{3,}|~{3,})[^\n]*\n[\s\S]*?(?:^[ \t>]*\2[`~]*[ \t]*$|$(?![\s\S]))/gm, blank);
  seen = seen.replace(/(`+)(?!`)([\s\S]*?[^`])\1(?!`)/g, blank);
  seen = seen.replace(/<!--[\s\S]*?-->/g, blank);
  return seen;
}

export function references(text: string): Reference[] {
  const seen = visible(text);
  const found: Reference[] = [];
  for (const match of seen.matchAll(/(!?)\[\[([^[\]\n]+?)\]\]/g)) {
    const inner = text.slice(match.index + match[0].length - 2 - (match[2] ?? "").length, match.index + match[0].length - 2);
    const [link = "", display] = split(inner);
    if (link.trim() === "") continue;
    found.push(reference(text, match.index, match[0].length, link.trim(), display ?? link.trim(), match[1] === "!"));
  }
  for (const match of seen.matchAll(/(!?)\[([^\]\n]*)\]\((<[^>\n]*>|[^\s()]*(?:\([^\s()]*\)[^\s()]*)*)(?:\s+["'][^\n]*?["'])?\)/g)) {
    const aim = (match[3] ?? "").replace(/^<|>$/g, "");
    if (aim === "" || /^[a-z][a-z0-9+.-]*:/i.test(aim)) continue;
    found.push(reference(text, match.index, match[0].length, decode(aim), match[2] ?? "", match[1] === "!"));
  }
  return found.sort((a, b) => a.start - b.start);
}

function split(inner: string): [string, string | undefined] {
  const bar = inner.search(/\\?\|/);
  if (bar <= 0) return [inner, undefined]; // `[[|alias]]` is a link to `|alias`
  return [inner.slice(0, bar), inner.slice(bar).replace(/^\\?\|/, "")];
}

function reference(text: string, at: number, length: number, link: string, displayText: string, embed: boolean): Reference {
  return { link, original: text.slice(at, at + length), displayText, start: at, end: at + length, embed };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The path before `#`. */
export function linkpathOf(link: string): string {
  const hash = link.indexOf("#");
  return (hash < 0 ? link : link.slice(0, hash)).replace(/\u00a0/g, " ").normalize("NFC").trim();
}

/** Where a link leads: facts of the app, as far as they are known. */
export function resolve(linkpath: string, source: string, byName: Map<string, string[]>): string | null {
  if (linkpath === "") return source;
  let path = linkpath.toLowerCase();
  const folder = source.slice(0, source.lastIndexOf("/") + 1).toLowerCase();
  if (path.startsWith("./") || path.startsWith("../")) {
    const parts = folder.split("/").slice(0, -1);
    for (const part of path.split("/")) {
      if (part === "..") parts.pop();
      else if (part !== ".") parts.push(part);
    }
    path = parts.join("/");
    return exact(path, byName);
  }
  if (path.startsWith("/")) return exact(path.slice(1), byName);
  const name = nameKey(path);
  const candidates = (byName.get(name) ?? []).filter((one) => {
    const low = one.toLowerCase();
    return low === path || low === `${path}.md` || low.endsWith(`/${path}`) || low.endsWith(`/${path}.md`);
  });
  const whole = exact(path, byName);
  if (whole !== null) return whole;
  const near = candidates.filter((one) => one.toLowerCase().startsWith(folder) && folder !== "");
  const pool = near.length > 0 ? near : candidates;
  return [...pool].sort((a, b) => a.length - b.length || (a < b ? -1 : 1))[0] ?? null;
}

function exact(path: string, byName: Map<string, string[]>): string | null {
  const all = byName.get(nameKey(path)) ?? [];
  return all.find((one) => one.toLowerCase() === path) ?? all.find((one) => one.toLowerCase() === `${path}.md`) ?? null;
}

export function nameKey(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1).toLowerCase().normalize("NFC").replace(/\.md$/, "");
}

export function names(paths: Iterable<string>): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const path of paths) found.set(nameKey(path), [...(found.get(nameKey(path)) ?? []), path]);
  return found;
}
