/** The list under the question. Token answers come first; those found by meaning join without the list jumping. */

import type { Hit } from "../api/answers";

/**
 * What is shown keeps its place and its order up to the chosen row; below it, and where nothing is chosen yet, the new
 * answer decides. A row that the new answer knows is shown as it says.
 */
export function join(shown: readonly Hit[], fresh: readonly Hit[], chosen: number, moved: boolean): Hit[] {
  const kept = moved ? shown.slice(0, chosen + 1) : [];
  const byPath = new Map(fresh.map((hit) => [hit.path, hit]));
  const top = kept.map((hit) => byPath.get(hit.path) ?? hit);
  const there = new Set(top.map((hit) => hit.path));
  return [...top, ...fresh.filter((hit) => !there.has(hit.path))];
}

/** Parts of a snippet, those that hold a word of the question marked. */
export function marked(snippet: string, question: string): { text: string; mark: boolean }[] {
  const terms = termsOf(question);
  if (terms.length === 0) return [{ text: snippet, mark: false }];
  const pattern = new RegExp(`(${terms.map(escape).join("|")})`, "giu");
  const parts: { text: string; mark: boolean }[] = [];
  snippet.split(pattern).forEach((text, index) => {
    const mark = index % 2 === 1;
    const last = parts[parts.length - 1];
    if (text === "") return;
    if (last?.mark === mark) last.text += text;
    else parts.push({ text, mark });
  });
  return parts;
}

function termsOf(question: string): string[] {
  const found = new Set<string>();
  for (const word of question.split(/[\s"'“”‘’，。、,.;:!?？！：；()（）[\]{}]+/u)) {
    if (word === "") continue;
    const runs = word.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]+|[^\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]+/gu) ?? [];
    for (const run of runs) {
      found.add(run);
      const chars = [...run];
      if (/\p{Script=Han}/u.test(run)) for (let i = 0; i + 2 <= chars.length; i++) found.add(chars.slice(i, i + 2).join(""));
    }
  }
  return [...found].filter((term) => [...term].length > 1 || !/^[\w]$/.test(term)).sort((a, b) => b.length - a.length);
}

function escape(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
