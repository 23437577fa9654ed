/** What the sidecar answers, as far as it is used here. Held to the recordings in tests/contract. */

import { type Decoded, type Decoder, either, flag, list, maybe, number, object, oneOf, text } from "./decode";

export const fault = object({ error: object({ code: text, message: text, fix: text }) });
export const hello = object({ version: text, api: number, vault: text, pid: number, capabilities: list(text) });

export const status = object({
  on_disk: number,
  indexed: number,
  pending: number,
  unencoded: number,
  problems: number,
  write: object({ mode: oneOf("off", "suggest", "auto"), device: maybe(text), this_device: text }),
  work: object({
    state: oneOf("starting", "indexing", "ready", "paused", "failed", "stopped"),
    done: number,
    total: number,
    message: text,
    held: number,
  }),
  remarks: list(text),
});
export type Status = Decoded<typeof status>;

const problem = object({ path: text, line: maybe(number), code: text, message: text });
export const problems = object({ problems: list(problem) });
export type Problem = Decoded<typeof problem>;

export const hit = object({
  path: text,
  title: text,
  score: number,
  confidence: oneOf("high", "medium", "low"),
  why: list(text),
  heading: maybe(text),
  line: number,
  snippet: text,
  cite: text,
});
export type Hit = Decoded<typeof hit>;
export const probe = object({
  query: text,
  mode: text,
  verdict: oneOf("read", "glance", "skip"),
  results: list(hit),
  degraded: maybe(text),
});
export type Probe = Decoded<typeof probe>;

const relatedNote = object({
  path: text,
  title: maybe(text),
  score: number,
  shared: list(text),
  reasons: list(text),
  nearness: maybe(number),
});
export type RelatedNote = Decoded<typeof relatedNote>;
export const related = object({ note: text, related: list(relatedNote), degraded: maybe(text) });
export const dismissed = object({ note: text, other: text });

const link = object({ source: text, target: maybe(text), raw: text, kind: text, line: maybe(number) });
export const note = object({
  path: text,
  title: text,
  tags: list(text),
  links: list(link),
  backlinks: list(link),
  problems: list(problem),
});
export type Note = Decoded<typeof note>;

export const changes = object({ revision: number, paths: list(text), removed: list(text), reset: flag, due: number });
export type Changes = Decoded<typeof changes>;

const candidate = object({ path: text, score: number, rule: text });
export type Candidate = Decoded<typeof candidate>;
const mend = object({
  source: text,
  line: maybe(number),
  raw: text,
  replacement: text,
  target: maybe(text),
  rule: text,
  confidence: number,
  certain: flag,
  applied: flag,
  reasons: list(text),
  candidates: list(candidate),
});
export type Mend = Decoded<typeof mend>;
const refused = list(object({ path: text, message: text }));
export const plan = object({
  plan: text,
  plans: list(mend),
  applied: number,
  queued: number,
  op: maybe(text),
  dead: list(object({ source: text, line: maybe(number), raw: text })),
  refused,
});
export type Plan = Decoded<typeof plan>;

const edit = object({ start: number, end: number, text });
export type Edit = Decoded<typeof edit>;
const toWriteFile = object({ path: text, before: maybe(text), after: maybe(text), edits: maybe(list(edit)) });
export type FileToWrite = Decoded<typeof toWriteFile>;
export const toWrite = object({ op: text, files: list(toWriteFile) });
export type ToWrite = Decoded<typeof toWrite>;

const undoes: Decoder<string[]> = (value, where) => {
  const found = maybe(either(text, list(text)))(value, where);
  return found === null ? [] : typeof found === "string" ? [found] : found;
};
export const operation = object({
  id: text,
  kind: text,
  at: text,
  hand: text,
  decider: text,
  reasons: list(text),
  state: oneOf("prepared", "committed", "dropped", "conflict"),
  undoes,
  files: list(object({ path: text, before: maybe(text), after: maybe(text) })),
});
export type Operation = Decoded<typeof operation>;
export const operations = object({
  operations: list(operation),
  problems: list(object({ op: text, message: text })),
  size_bytes: number,
});

const item = object({
  id: text,
  kind: text,
  summary: text,
  diff: text,
  confidence: number,
  reasons: list(text),
  rule: maybe(text),
  source: text,
  line: maybe(number),
  target: maybe(text),
  candidates: list(candidate),
});
export type Item = Decoded<typeof item>;
export const review = object({ items: list(item), total: number });
export const decided = object({ verb: text, done: number, op: maybe(text), refused });
export const renamed = object({ from: text, to: text });
export const settings = object({
  write: object({ mode: oneOf("off", "suggest", "auto"), device: maybe(text), git: flag }),
});
export type VaultSettings = Decoded<typeof settings>;
export const rejected = object({ rejected: number });
export const started = object({ task: text });

export const drawnMap = object({
  title: text,
  name: text,
  cards: number,
  edges: number,
  kept: number,
  added: number,
  hidden: number,
  groups: list(object({ name: text, cards: number })),
  changed: flag,
  file: maybe(text),
  canvas: maybe(text),
  to_write: maybe(toWrite),
});
export type DrawnMap = Decoded<typeof drawnMap>;
