import type { App } from "./app";
import { Modal } from "./modals";
import type { Plugin } from "./plugin";

interface Control {
  type: string;
  key: string;
  options?: Record<string, string>;
  placeholder?: string;
  validate?: (value: unknown) => string | undefined;
}
interface Definition {
  name?: string;
  desc?: string | DocumentFragment;
  heading?: string;
  items?: Definition[];
  control?: Control;
  render?: (setting: Setting) => void;
  action?: (el: HTMLElement, index: number) => void;
  visible?: boolean | (() => boolean);
}

export class Setting {
  readonly settingEl: HTMLElement;
  readonly nameEl: HTMLElement;
  readonly descEl: HTMLElement;
  readonly controlEl: HTMLElement;

  constructor(parent: HTMLElement) {
    this.settingEl = parent.createDiv({ cls: "setting-item" });
    const info = this.settingEl.createDiv({ cls: "setting-item-info" });
    this.nameEl = info.createDiv({ cls: "setting-item-name" });
    this.descEl = info.createDiv({ cls: "setting-item-description" });
    this.controlEl = this.settingEl.createDiv({ cls: "setting-item-control" });
  }

  setName(name: string): this {
    this.nameEl.setText(name);
    return this;
  }

  setDesc(desc: string | DocumentFragment): this {
    this.descEl.empty();
    if (typeof desc === "string") this.descEl.setText(desc);
    else this.descEl.appendChild(desc);
    return this;
  }

  setHeading(): this {
    this.settingEl.addClass("setting-item-heading");
    return this;
  }
}

export class PluginSettingTab {
  readonly containerEl = createDiv({ cls: "vertical-tab-content" });
  icon = "";

  constructor(
    readonly app: App,
    readonly plugin: Plugin,
  ) {}

  getSettingDefinitions(): Definition[] {
    return [];
  }

  getControlValue(_key: string): unknown {
    return undefined;
  }

  setControlValue(_key: string, _value: unknown): void | Promise<void> {}

  display(): void {
    this.containerEl.empty();
    this.draw(this.getSettingDefinitions());
  }

  hide(): void {
    this.containerEl.empty();
  }

  update(): void {
    if (this.containerEl.isConnected) this.display();
  }

  private draw(definitions: Definition[]): void {
    for (const one of definitions) {
      if (one.visible === false || (typeof one.visible === "function" && !one.visible())) continue;
      if (one.items !== undefined) {
        if (one.heading !== undefined) new Setting(this.containerEl).setName(one.heading).setHeading();
        this.draw(one.items);
        continue;
      }
      const setting = new Setting(this.containerEl).setName(one.name ?? "").setDesc(one.desc ?? "");
      if (one.render !== undefined) one.render(setting);
      else if (one.control !== undefined) this.control(setting, one.control);
      else if (one.action !== undefined) {
        const { action } = one;
        setting.settingEl.addEventListener("click", () => action(setting.settingEl, 0));
      }
    }
  }

  private control(setting: Setting, control: Control): void {
    const value = this.getControlValue(control.key);
    const put = (now: unknown): void => void this.setControlValue(control.key, now);
    if (control.type === "dropdown") {
      const select = setting.controlEl.createEl("select", { cls: "dropdown", attr: { "data-key": control.key } });
      for (const [key, text] of Object.entries(control.options ?? {})) select.createEl("option", { text, value: key });
      select.value = String(value);
      select.addEventListener("change", () => put(select.value));
    } else if (control.type === "toggle") {
      const box = setting.controlEl.createEl("input", { type: "checkbox", attr: { "data-key": control.key } });
      box.checked = value === true;
      box.addEventListener("change", () => put(box.checked));
    } else {
      const input = setting.controlEl.createEl("input", { type: "text", attr: { "data-key": control.key } });
      input.value = String(value ?? "");
      input.placeholder = control.placeholder ?? "";
      input.addEventListener("change", () => put(input.value));
    }
  }
}

/** The app's settings window, at the tab of the plugin. */
export class SettingsModal extends Modal {
  constructor(
    app: App,
    private readonly tab: PluginSettingTab,
  ) {
    super(app);
    this.modalEl.addClass("mod-settings");
  }

  override onOpen(): void {
    this.contentEl.appendChild(this.tab.containerEl);
    this.tab.display();
  }

  override onClose(): void {
    this.tab.hide();
  }
}
