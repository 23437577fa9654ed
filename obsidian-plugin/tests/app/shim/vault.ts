import { Events } from "./events";
import { listen, rpc, type Stat } from "./rpc";

export class TAbstractFile {
  parent: TFolder | null = null;
  name = "";

  constructor(
    readonly vault: Vault,
    public path: string,
  ) {
    this.name = path.slice(path.lastIndexOf("/") + 1);
  }
}

export class TFile extends TAbstractFile {
  stat = { ctime: 0, mtime: 0, size: 0 };
  basename = "";
  extension = "";

  named(path: string): void {
    this.path = path;
    this.name = path.slice(path.lastIndexOf("/") + 1);
    const dot = this.name.lastIndexOf(".");
    this.extension = dot > 0 ? this.name.slice(dot + 1) : "";
    this.basename = dot > 0 ? this.name.slice(0, dot) : this.name;
  }
}

export class TFolder extends TAbstractFile {
  children: TAbstractFile[] = [];

  isRoot(): boolean {
    return this.path === "/";
  }
}

export class FileSystemAdapter {
  constructor(private readonly base: string) {}

  getBasePath(): string {
    return this.base;
  }

  getFullPath(path: string): string {
    return `${this.base}/${path}`;
  }

  exists(path: string): Promise<boolean> {
    return rpc("exists", this.getFullPath(path));
  }

  read(path: string): Promise<string> {
    return rpc("read", this.getFullPath(path));
  }

  async write(path: string, data: string): Promise<void> {
    await rpc("write", this.getFullPath(path), data);
  }

  async mkdir(path: string): Promise<void> {
    await rpc("mkdir", this.getFullPath(path));
  }
}

export class Vault extends Events {
  readonly configDir = ".obsidian";
  readonly files = new Map<string, TFile>();
  readonly folders = new Map<string, TFolder>();
  /** Writes of our own, which the disk tells of as well. */
  private readonly own = new Map<string, string>();

  constructor(readonly adapter: FileSystemAdapter) {
    super();
    this.folders.set("/", new TFolder(this, "/"));
  }

  async begin(): Promise<void> {
    for (const stat of await rpc<Stat[]>("tree", this.adapter.getBasePath())) this.put(stat);
    listen((event) => {
      if (event.kind === "disk") void this.seen(event["path"] as string);
    });
  }

  getName(): string {
    return this.adapter.getBasePath().split("/").pop() ?? "";
  }

  getRoot(): TFolder {
    return this.folder("/");
  }

  getFileByPath(path: string): TFile | null {
    return this.files.get(path) ?? null;
  }

  getFolderByPath(path: string): TFolder | null {
    return this.folders.get(path === "" ? "/" : path) ?? null;
  }

  getAbstractFileByPath(path: string): TAbstractFile | null {
    return this.getFileByPath(path) ?? this.getFolderByPath(path);
  }

  getFiles(): TFile[] {
    return [...this.files.values()];
  }

  getMarkdownFiles(): TFile[] {
    return this.getFiles().filter((file) => file.extension === "md");
  }

  read(file: TFile): Promise<string> {
    return this.adapter.read(file.path);
  }

  cachedRead(file: TFile): Promise<string> {
    return this.read(file);
  }

  async create(path: string, data: string): Promise<TFile> {
    if (this.files.has(path) || (await this.adapter.exists(path))) throw new Error("File already exists.");
    const folder = path.slice(0, path.lastIndexOf("/"));
    if (folder !== "" && path.includes("/") && !(await this.adapter.exists(folder))) throw new Error("Folder does not exist.");
    await this.write(path, data);
    const file = this.put(await rpc<Stat>("stat", this.adapter.getFullPath(path), path)) as TFile;
    this.trigger("create", file);
    return file;
  }

  async createFolder(path: string): Promise<TFolder> {
    await this.adapter.mkdir(path);
    return this.folder(path);
  }

  async modify(file: TFile, data: string): Promise<void> {
    await this.write(file.path, data);
    await this.restat(file);
    this.trigger("modify", file);
  }

  /** In one step, as the app does: nobody else writes in between. */
  async process(file: TFile, change: (data: string) => string): Promise<string> {
    const before = await this.read(file);
    const after = change(before);
    if (after !== before) await this.modify(file, after);
    return after;
  }

  async rename(file: TAbstractFile, path: string): Promise<void> {
    const old = file.path;
    await rpc("rename", this.adapter.getFullPath(old), this.adapter.getFullPath(path));
    this.move(file, path);
    this.trigger("rename", file, old);
  }

  async trash(file: TAbstractFile): Promise<void> {
    await rpc("trash", this.adapter.getBasePath(), file.path);
    this.drop(file.path);
  }

  private move(file: TAbstractFile, path: string): void {
    const old = file.path;
    if (file instanceof TFile) {
      this.files.delete(old);
      file.named(path);
      this.files.set(path, file);
      file.parent = this.folder(parentOf(path));
      return;
    }
    const inside = this.getFiles().filter((one) => one.path.startsWith(`${old}/`));
    this.folders.delete(old);
    for (const one of inside) this.move(one, path + one.path.slice(old.length));
    this.folder(path);
  }

  private drop(path: string): void {
    const file = this.files.get(path);
    if (file === undefined) return;
    this.files.delete(path);
    this.trigger("delete", file);
  }

  private async write(path: string, data: string): Promise<void> {
    this.own.set(path, data);
    await this.adapter.write(path, data);
  }

  private put(stat: Stat): TAbstractFile {
    if (stat.folder) return this.folder(stat.path);
    const file = this.files.get(stat.path) ?? new TFile(this, stat.path);
    file.named(stat.path);
    file.stat = { ctime: stat.ctime, mtime: stat.mtime, size: stat.size };
    file.parent = this.folder(parentOf(stat.path));
    this.files.set(stat.path, file);
    return file;
  }

  private folder(path: string): TFolder {
    const key = path === "" ? "/" : path;
    const there = this.folders.get(key);
    if (there !== undefined) return there;
    const made = new TFolder(this, key);
    made.parent = this.folder(parentOf(key));
    this.folders.set(key, made);
    return made;
  }

  private async restat(file: TFile): Promise<void> {
    const stat = await rpc<Stat | null>("stat", this.adapter.getFullPath(file.path), file.path);
    if (stat !== null) file.stat = { ctime: stat.ctime, mtime: stat.mtime, size: stat.size };
  }

  /** Something changed on the disk. */
  private async seen(path: string): Promise<void> {
    if (path.split("/").some((part) => part.startsWith("."))) return;
    const stat = await rpc<Stat | null>("stat", this.adapter.getFullPath(path), path);
    if (stat === null) return this.drop(path);
    if (stat.folder) {
      for (const one of await rpc<Stat[]>("tree", this.adapter.getFullPath(path), path)) {
        if (!one.folder && !this.files.has(one.path)) this.trigger("create", this.put(one));
      }
      return;
    }
    const known = this.files.get(path);
    if (known === undefined) {
      this.trigger("create", this.put(stat));
      return;
    }
    if (known.stat.mtime === stat.mtime && known.stat.size === stat.size) return;
    this.put(stat);
    const own = this.own.get(path);
    if (own !== undefined && own === (await this.read(known))) return;
    this.own.delete(path);
    this.trigger("modify", known);
  }
}

function parentOf(path: string): string {
  const slash = path.lastIndexOf("/");
  return slash < 0 ? "/" : path.slice(0, slash);
}
