import { Events } from "./events";
import { FileManager } from "./files";
import { MetadataCache } from "./metadata";
import { type Editor, MarkdownView } from "./markdown-view";
import { FuzzySuggestModal } from "./modals";
import { FileSystemAdapter, Vault } from "./vault";
import type { View } from "./view";
import { Workspace, type WorkspaceLeaf } from "./workspace";

export interface Command {
  id: string;
  name: string;
  callback?: () => unknown;
  checkCallback?: (checking: boolean) => boolean | void;
  editorCallback?: (editor: Editor, view: MarkdownView) => unknown;
  editorCheckCallback?: (checking: boolean, editor: Editor, view: MarkdownView) => boolean | void;
}

export class App extends Events {
  readonly vault: Vault;
  readonly metadataCache: MetadataCache;
  readonly fileManager: FileManager;
  readonly workspace: Workspace;
  readonly commands = new Map<string, Command>();
  readonly viewTypes = new Map<string, (leaf: WorkspaceLeaf) => View>();
  readonly protocols = new Map<string, (data: Record<string, string>) => unknown>();
  readonly cli = new Map<string, (data: Record<string, string>) => string | Promise<string>>();
  readonly ribbonEl: HTMLElement;
  readonly statusEl: HTMLElement;
  openSettings: () => void = () => undefined;

  constructor(base: string, root: HTMLElement) {
    super();
    this.vault = new Vault(new FileSystemAdapter(base));
    this.metadataCache = new MetadataCache(this.vault);
    this.fileManager = new FileManager(this.vault, this.metadataCache);
    this.ribbonEl = root.createDiv({ cls: "workspace-ribbon" });
    this.workspace = new Workspace(this, root.createDiv({ cls: "workspace" }));
    this.statusEl = root.createDiv({ cls: "status-bar" });
  }

  /** What can be done now, as the palette would list it. */
  available(): [string, Command][] {
    const view = this.workspace.getActiveViewOfType(MarkdownView);
    return [...this.commands].filter(([, one]) => {
      if (one.checkCallback !== undefined) return one.checkCallback(true) === true;
      if (one.editorCheckCallback !== undefined) return view !== null && one.editorCheckCallback(true, view.editor, view) === true;
      return one.editorCallback === undefined || view !== null;
    });
  }

  run(id: string): void {
    const command = this.commands.get(id);
    if (command === undefined) throw new Error(`There is no command ${id}`);
    const view = this.workspace.getActiveViewOfType(MarkdownView);
    if (command.callback !== undefined) command.callback();
    else if (command.checkCallback !== undefined) command.checkCallback(false);
    else if (view !== null) {
      command.editorCallback?.(view.editor, view);
      command.editorCheckCallback?.(false, view.editor, view);
    }
  }
}

/** ctrl+P. */
export class Palette extends FuzzySuggestModal<[string, Command]> {
  getItems(): [string, Command][] {
    return this.app.available();
  }

  getItemText([, command]: [string, Command]): string {
    return `Oh My KB: ${command.name}`;
  }

  onChooseItem([id]: [string, Command]): void {
    this.app.run(id);
  }
}
