import type { App, Command } from "./app";
import { Component } from "./events";
import { rpc } from "./rpc";
import { type PluginSettingTab, SettingsModal } from "./settings";
import type { View } from "./view";
import type { WorkspaceLeaf } from "./workspace";

export class Plugin extends Component {
  constructor(
    readonly app: App,
    readonly manifest: { id: string; name: string; version: string },
  ) {
    super();
  }

  private get data(): string {
    return `${this.app.vault.adapter.getBasePath()}/.obsidian/plugins/${this.manifest.id}/data.json`;
  }

  async loadData(): Promise<unknown> {
    return (await rpc<boolean>("exists", this.data)) ? (JSON.parse(await rpc<string>("read", this.data)) as unknown) : null;
  }

  async saveData(data: unknown): Promise<void> {
    await rpc("write", this.data, JSON.stringify(data, null, 2));
  }

  addCommand(command: Command): Command {
    this.app.commands.set(`${this.manifest.id}:${command.id}`, command);
    this.register(() => this.app.commands.delete(`${this.manifest.id}:${command.id}`));
    return command;
  }

  addRibbonIcon(icon: string, title: string, callback: (event: MouseEvent) => unknown): HTMLElement {
    const el = this.app.ribbonEl.createDiv({ cls: "side-dock-ribbon-action", attr: { "aria-label": title, "data-icon": icon } });
    el.addEventListener("click", callback);
    this.register(() => el.remove());
    return el;
  }

  addStatusBarItem(): HTMLElement {
    const el = this.app.statusEl.createDiv({ cls: `status-bar-item plugin-${this.manifest.id}` });
    this.register(() => el.remove());
    return el;
  }

  addSettingTab(tab: PluginSettingTab): void {
    this.app.openSettings = () => new SettingsModal(this.app, tab).open();
  }

  registerView(type: string, make: (leaf: WorkspaceLeaf) => View): void {
    this.app.viewTypes.set(type, make);
    this.register(() => this.app.viewTypes.delete(type));
  }

  registerObsidianProtocolHandler(action: string, handler: (data: Record<string, string>) => unknown): void {
    this.app.protocols.set(action, handler);
  }

  registerCliHandler(command: string, _about: string, _flags: unknown, handler: (data: Record<string, string>) => string | Promise<string>): void {
    if (this.app.cli.has(command)) throw new Error(`Command "${command}" is already registered.`);
    this.app.cli.set(command, handler);
    this.register(() => this.app.cli.delete(command));
  }
}
