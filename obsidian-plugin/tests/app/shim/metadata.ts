import { Events } from "./events";
import { linkpathOf, names, type Reference, references, resolve } from "./links";
import type { TFile, Vault } from "./vault";

interface Cache {
  links: Reference[];
  embeds: Reference[];
  headings: { heading: string; level: number; position: { start: { line: number } } }[];
  tags: { tag: string }[];
  frontmatter?: Record<string, unknown>;
}

export class MetadataCache extends Events {
  resolvedLinks: Record<string, Record<string, number>> = {};
  unresolvedLinks: Record<string, Record<string, number>> = {};
  private readonly caches = new Map<string, Cache>();

  constructor(private readonly vault: Vault) {
    super();
    vault.on("modify", ((file: TFile) => void this.index(file)) as never);
    vault.on("create", ((file: TFile) => void this.index(file)) as never);
    vault.on("rename", ((file: TFile, old: string) => {
      const cache = this.caches.get(old);
      if (cache !== undefined) this.caches.set(file.path, cache);
      this.caches.delete(old);
    }) as never);
  }

  getFileCache(file: TFile): Cache | null {
    return this.caches.get(file.path) ?? null;
  }

  getFirstLinkpathDest(linkpath: string, source: string): TFile | null {
    const found = resolve(linkpathOf(linkpath), source, names(this.vault.files.keys()));
    return found === null ? null : this.vault.getFileByPath(found);
  }

  /** The shortest that leads there. */
  fileToLinktext(file: TFile, source: string, omitExtension = true): string {
    const short = file.extension === "md" && omitExtension ? file.basename : file.name;
    if (this.getFirstLinkpathDest(short, source) === file) return short;
    return file.extension === "md" && omitExtension ? file.path.replace(/\.md$/, "") : file.path;
  }

  async index(file: TFile): Promise<void> {
    if (file.extension !== "md") return;
    const text = await this.vault.read(file).catch(() => null);
    if (text === null) return;
    const all = references(text);
    const cache: Cache = {
      links: all.filter((one) => !one.embed),
      embeds: all.filter((one) => one.embed),
      headings: text.split("\n").flatMap((line, index) => {
        const match = /^(#{1,6})\s+(.*)$/.exec(line);
        return match === null
          ? []
          : [{ heading: match[2] ?? "", level: (match[1] ?? "").length, position: { start: { line: index } } }];
      }),
      tags: [...text.matchAll(/(?:^|\s)(#[\p{L}\p{N}_/-]*[\p{L}_/-][\p{L}\p{N}_/-]*)/gu)].map((match) => ({ tag: match[1] ?? "" })),
    };
    this.caches.set(file.path, cache);
    const resolved: Record<string, number> = {};
    const unresolved: Record<string, number> = {};
    for (const one of all) {
      const path = linkpathOf(one.link);
      if (path === "") continue;
      const aim = this.getFirstLinkpathDest(path, file.path)?.path;
      const into = aim === undefined ? unresolved : resolved;
      into[aim ?? path] = (into[aim ?? path] ?? 0) + 1;
    }
    this.resolvedLinks[file.path] = resolved;
    this.unresolvedLinks[file.path] = unresolved;
    this.trigger("changed", file, text, cache);
    this.trigger("resolve", file);
  }
}
