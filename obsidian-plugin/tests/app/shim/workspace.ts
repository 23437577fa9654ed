import type { App } from "./app";
import { Component, Events } from "./events";
import { type Editor, MarkdownView } from "./markdown-view";
import { CanvasView } from "./canvas-view";
import { TFile } from "./vault";
import { FileView, View } from "./view";

export type Side = "main" | "right";

export class WorkspaceLeaf extends Events {
  view: View;
  readonly containerEl: HTMLElement;
  readonly tabEl: HTMLElement;
  isDeferred = false;

  constructor(
    readonly app: App,
    readonly side: Side,
  ) {
    super();
    const host = app.workspace.sides[side];
    this.tabEl = host.tabs.createDiv({ cls: "workspace-tab-header" });
    this.containerEl = host.body.createDiv({ cls: "workspace-leaf" });
    this.tabEl.addEventListener("click", () => app.workspace.setActiveLeaf(this));
    this.containerEl.addEventListener("focusin", () => {
      if (app.workspace.activeLeaf !== this) app.workspace.setActiveLeaf(this);
    });
    this.view = new View(this);
  }

  getViewState(): { type: string } {
    return { type: this.view.getViewType() };
  }

  async loadIfDeferred(): Promise<void> {}

  async openFile(file: TFile, state: { active?: boolean; eState?: { line?: number } } = {}): Promise<void> {
    const wanted = file.extension === "canvas" ? CanvasView : MarkdownView;
    if (!(this.view instanceof wanted)) await this.show(new wanted(this));
    await (this.view as FileView).setFile(file, state.eState);
    this.tabEl.setText(this.view.getDisplayText());
    this.app.workspace.setActiveLeaf(this);
    this.app.workspace.trigger("file-open", file);
  }

  async setViewState(state: { type: string; active?: boolean }): Promise<void> {
    const make = this.app.viewTypes.get(state.type);
    if (make === undefined) return;
    await this.show(make(this));
    if (state.active !== false) this.app.workspace.setActiveLeaf(this);
  }

  private async show(view: View): Promise<void> {
    await this.view.close();
    this.containerEl.empty();
    this.view = view;
    this.containerEl.appendChild(view.containerEl);
    await view.open();
    this.tabEl.setText(view.getDisplayText());
    this.app.workspace.trigger("layout-change");
  }

  detach(): void {
    void this.view.close();
    this.tabEl.remove();
    this.containerEl.remove();
    this.app.workspace.forget(this);
  }
}

export class Workspace extends Events {
  readonly sides: Record<Side, { tabs: HTMLElement; body: HTMLElement }>;
  readonly leaves: WorkspaceLeaf[] = [];
  activeLeaf: WorkspaceLeaf | null = null;
  layoutReady = false;
  private lastMain: WorkspaceLeaf | null = null;
  private readonly ready: (() => unknown)[] = [];

  constructor(
    readonly app: App,
    root: HTMLElement,
  ) {
    super();
    const side = (name: Side): { tabs: HTMLElement; body: HTMLElement } => {
      const box = root.createDiv({ cls: `workspace-split mod-${name}` });
      return { tabs: box.createDiv({ cls: "workspace-tabs" }), body: box.createDiv({ cls: "workspace-body" }) };
    };
    this.sides = { main: side("main"), right: side("right") };
  }

  onLayoutReady(callback: () => unknown): void {
    if (this.layoutReady) callback();
    else this.ready.push(callback);
  }

  begin(): void {
    this.layoutReady = true;
    for (const callback of this.ready.splice(0)) callback();
  }

  getLeaf(how: boolean | "tab" | "split" | "window" = false): WorkspaceLeaf {
    const there = this.lastMain ?? this.leaves.find((leaf) => leaf.side === "main");
    if (how === false && there !== undefined) return there;
    return this.add("main");
  }

  getRightLeaf(): WorkspaceLeaf {
    return this.add("right");
  }

  async ensureSideLeaf(type: string, side: Side, options: { active?: boolean; reveal?: boolean } = {}): Promise<WorkspaceLeaf> {
    const there = this.getLeavesOfType(type)[0];
    const leaf = there ?? this.add(side);
    if (there === undefined) await leaf.setViewState({ type, active: options.active ?? false });
    return leaf;
  }

  async revealLeaf(leaf: WorkspaceLeaf): Promise<void> {
    this.front(leaf);
  }

  getLeavesOfType(type: string): WorkspaceLeaf[] {
    return this.leaves.filter((leaf) => leaf.view.getViewType() === type);
  }

  iterateAllLeaves(tell: (leaf: WorkspaceLeaf) => void): void {
    this.leaves.forEach(tell);
  }

  getActiveFile(): TFile | null {
    const view = this.lastMain?.view;
    return view instanceof FileView ? view.file : null;
  }

  getActiveViewOfType<T extends View>(type: new (...args: never[]) => T): T | null {
    const view = this.activeLeaf?.view;
    return view instanceof type ? view : null;
  }

  get activeEditor(): MarkdownView | null {
    return this.getActiveViewOfType(MarkdownView);
  }

  /** The editor that was active last, also while a side view is. */
  lastEditor(): Editor | null {
    const view = this.lastMain?.view;
    return view instanceof MarkdownView ? view.editor : null;
  }

  async openLinkText(link: string, source: string, newLeaf: boolean | "tab" | "split" = false): Promise<void> {
    const file = this.app.metadataCache.getFirstLinkpathDest(link.split("#")[0] ?? "", source);
    if (file !== null) await this.getLeaf(newLeaf).openFile(file);
  }

  setActiveLeaf(leaf: WorkspaceLeaf): void {
    this.front(leaf);
    this.activeLeaf = leaf;
    if (leaf.side === "main") this.lastMain = leaf;
    this.trigger("active-leaf-change", leaf);
  }

  detachLeavesOfType(type: string): void {
    for (const leaf of this.getLeavesOfType(type)) leaf.detach();
  }

  forget(leaf: WorkspaceLeaf): void {
    this.leaves.splice(this.leaves.indexOf(leaf), 1);
    if (this.activeLeaf === leaf) this.activeLeaf = null;
    if (this.lastMain === leaf) this.lastMain = null;
  }

  private add(side: Side): WorkspaceLeaf {
    const leaf = new WorkspaceLeaf(this.app, side);
    this.leaves.push(leaf);
    this.front(leaf);
    return leaf;
  }

  private front(leaf: WorkspaceLeaf): void {
    for (const other of this.leaves.filter((one) => one.side === leaf.side)) {
      other.containerEl.toggle(other === leaf);
      other.tabEl.toggleClass("is-active", other === leaf);
    }
  }
}

export { Component };
