import type { App } from "./app";
import { Component } from "./events";
import type { TFile } from "./vault";
import type { WorkspaceLeaf } from "./workspace";

export class View extends Component {
  readonly app: App;
  readonly containerEl: HTMLElement;
  navigation = true;
  icon = "";

  constructor(readonly leaf: WorkspaceLeaf) {
    super();
    this.app = leaf.app;
    this.containerEl = createDiv({ cls: "view" });
  }

  getViewType(): string {
    return "empty";
  }

  getDisplayText(): string {
    return "";
  }

  getIcon(): string {
    return this.icon;
  }

  getState(): Record<string, unknown> {
    return {};
  }

  async setState(): Promise<void> {}

  async open(): Promise<void> {
    this.load();
    await this.onOpen();
  }

  async close(): Promise<void> {
    await this.onClose();
    this.unload();
  }

  async onOpen(): Promise<void> {}

  async onClose(): Promise<void> {}
}

export class ItemView extends View {
  readonly contentEl: HTMLElement;

  constructor(leaf: WorkspaceLeaf) {
    super(leaf);
    this.contentEl = this.containerEl.createDiv({ cls: "view-content" });
  }

  addAction(_icon: string, title: string, callback: (event: MouseEvent) => unknown): HTMLElement {
    const action = this.containerEl.createDiv({ cls: "view-action", attr: { "aria-label": title } });
    action.addEventListener("click", callback);
    return action;
  }
}

export class FileView extends ItemView {
  file: TFile | null = null;

  async setFile(file: TFile, _state?: { line?: number }): Promise<void> {
    this.file = file;
  }

  override getDisplayText(): string {
    return this.file?.basename ?? "";
  }
}
