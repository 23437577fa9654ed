import type { Fault } from "../api/client";
import { en, type Key } from "./en";
import { zh } from "./zh";

export type Values = Record<string, string | number>;

/** The words of the interface, in the language of the app: Chinese or English. */
export class Text {
  private readonly words: Record<Key, string>;
  readonly chinese: boolean;

  constructor(language: string) {
    this.chinese = language.toLowerCase().startsWith("zh");
    this.words = this.chinese ? zh : en;
  }

  say(key: Key, values: Values = {}): string {
    return this.words[key].replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
  }

  /** A word the sidecar uses, where there is one for it here; else as it is. */
  word(group: "why" | "rule" | "kind" | "confidence", name: string): string {
    const key = `${group}.${name}`;
    return key in this.words ? this.words[key as Key] : name;
  }

  /** What happened and what to do; the sidecar's own sentences stay as they are. */
  fault(fault: Fault): string {
    const key = `fault.${fault.code}`;
    if (key in this.words) return this.say(key as Key, { message: fault.message });
    return [fault.message, fault.fix].filter((part) => part !== "").join(" ");
  }
}
