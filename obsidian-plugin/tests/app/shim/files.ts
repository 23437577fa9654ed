import { linkpathOf, names, references, resolve } from "./links";
import type { MetadataCache } from "./metadata";
import { type TAbstractFile, TFile, type TFolder, type Vault } from "./vault";

export class FileManager {
  constructor(
    private readonly vault: Vault,
    private readonly metadata: MetadataCache,
  ) {}

  generateMarkdownLink(file: TFile, source: string, subpath = "", alias = ""): string {
    const embed = file.extension === "md" ? "" : "!";
    return `${embed}[[${this.metadata.fileToLinktext(file, source)}${subpath}${alias === "" ? "" : `|${alias}`}]]`;
  }

  getNewFileParent(): TFolder {
    return this.vault.getRoot();
  }

  async trashFile(file: TAbstractFile): Promise<void> {
    await this.vault.trash(file);
  }

  async processFrontMatter(file: TFile, change: (front: Record<string, unknown>) => void): Promise<void> {
    await this.vault.process(file, (text) => {
      const front: Record<string, unknown> = {};
      change(front);
      const lines = Object.entries(front).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
      return `---\n${lines.join("\n")}\n---\n${text.replace(/^---\n[\s\S]*?\n---\n/, "")}`;
    });
  }

  /** Rewrites the links to it, as the app does when a note is renamed inside. */
  async renameFile(file: TAbstractFile, path: string): Promise<void> {
    const old = file.path;
    const before = names(this.vault.files.keys());
    const meant: { source: TFile; text: string }[] = [];
    if (file instanceof TFile) {
      for (const source of this.vault.getMarkdownFiles()) {
        const text = await this.vault.read(source);
        if (references(text).some((one) => resolve(linkpathOf(one.link), source.path, before) === old)) meant.push({ source, text });
      }
    }
    await this.vault.rename(file, path);
    if (!(file instanceof TFile)) return;
    for (const { source, text } of meant) {
      let now = text;
      for (const one of references(text).reverse()) {
        if (resolve(linkpathOf(one.link), source.path === path ? old : source.path, before) !== old) continue;
        const tail = one.link.slice(linkpathOf(one.link).length);
        const link = this.metadata.fileToLinktext(file, source.path) + tail;
        const shown = one.displayText === one.link ? "" : `|${one.displayText}`;
        const fresh = one.original.includes("](") ? `[${one.displayText}](${encodeURI(file.path)}${tail})` : `[[${link}${shown}]]`;
        now = now.slice(0, one.start) + (one.embed ? "!" : "") + fresh + now.slice(one.end);
      }
      await this.vault.modify(source, now);
    }
  }
}
