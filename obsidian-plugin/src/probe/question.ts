/** What a person typed: the question, and the filters among it (`in:folder`, `tag:name`, `since:2026-01-01`). */

export interface Question {
  q: string;
  in?: string;
  tag?: string;
  since?: string;
}

const FILTER = /(?:^|\s)(in|tag|since):(?:"([^"]*)"|(\S+))/gu;

export function readQuestion(typed: string): Question {
  const found: Question = { q: "" };
  const rest = typed.replace(FILTER, (_whole, name: "in" | "tag" | "since", quoted?: string, bare?: string) => {
    const value = (quoted ?? bare ?? "").trim();
    if (name === "since" && !/^\d{4}-\d{2}-\d{2}$/.test(value)) return ""; // still being typed
    if (value !== "") found[name] = name === "tag" ? value.replace(/^#/, "") : value.replace(/\/+$/, "");
    return " ";
  });
  found.q = rest.replace(/\s+/g, " ").trim();
  return found;
}

/** A deep link's parameters as one would type them. */
export function typedFrom(data: Record<string, string | undefined>): string {
  const filters = (["in", "tag", "since"] as const)
    .filter((name) => data[name] !== undefined && data[name] !== "")
    .map((name) => `${name}:${/\s/.test(data[name] ?? "") ? `"${data[name]}"` : data[name]}`);
  return [data["probe"] ?? "", ...filters].join(" ").trim();
}
