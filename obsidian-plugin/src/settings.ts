import { type App, type Plugin, PluginSettingTab, type SettingDefinitionItem } from "obsidian";
import { settings as vaultSettings, type VaultSettings } from "./api/answers";
import type { Client } from "./api/client";
import type { News } from "./sidecar/news";
import type { Text } from "./text/text";

/** What is kept on this device, by the app, in the plugin's own data. */
export interface Settings {
  start: boolean;
  command: string;
  cite: "link" | "heading";
  notices: boolean;
  mapFolder: string;
  /** `{title}` is what the map is of. */
  mapName: string;
  refreshMaps: boolean;
  /** Whether the person has chosen what may be done in this vault. */
  chosen: boolean;
}

export const DEFAULTS: Settings = {
  start: true, command: "", cite: "link", notices: true, mapFolder: "", mapName: "{title} map", refreshMaps: false, chosen: false };

export function readSettings(data: unknown): Settings {
  const given = typeof data === "object" && data !== null ? (data as Record<string, unknown>) : {};
  const { start, command, cite, notices, mapFolder, mapName, refreshMaps, chosen } = given;
  return {
    start: typeof start === "boolean" ? start : DEFAULTS.start,
    command: typeof command === "string" ? command : DEFAULTS.command,
    cite: cite === "heading" ? "heading" : "link",
    notices: typeof notices === "boolean" ? notices : DEFAULTS.notices,
    mapFolder: typeof mapFolder === "string" ? mapFolder : DEFAULTS.mapFolder,
    mapName: typeof mapName === "string" && mapName.trim() !== "" ? mapName : DEFAULTS.mapName,
    refreshMaps: refreshMaps === true,
    chosen: chosen === true,
  };
}

export type Mode = VaultSettings["write"]["mode"];

/** What may be written unasked is the vault's setting, and which device writes: contract, "Who may write". */
export async function chooseMode(client: Client, news: News, mode: Mode): Promise<boolean> {
  const device = news.status.value?.write.this_device;
  const write = mode === "auto" && device !== undefined ? { mode, device } : { mode };
  return (await client.patch("/settings", vaultSettings, { write })).ok;
}

export class SettingsTab extends PluginSettingTab {
  private mode: Mode = "suggest";

  constructor(
    app: App,
    plugin: Plugin,
    private readonly values: Settings,
    private readonly client: Client,
    private readonly news: News,
    private readonly t: Text,
    private readonly save: (changed: keyof Settings) => Promise<void>,
  ) {
    super(app, plugin);
    this.icon = "brain-circuit";
  }

  override getSettingDefinitions(): SettingDefinitionItem[] {
    const { t } = this;
    void this.recall();
    return [
      {
        name: t.say("set.mend"),
        desc: t.say("set.mend.about"),
        control: {
          type: "dropdown",
          key: "mode",
          options: { off: t.say("set.off"), suggest: t.say("set.suggest"), auto: t.say("set.auto") },
        },
      },
      { name: t.say("set.notices"), desc: t.say("set.notices.about"), control: { type: "toggle", key: "notices" } },
      {
        name: t.say("set.cite"),
        desc: t.say("set.cite.about"),
        control: {
          type: "dropdown",
          key: "cite",
          options: { link: t.say("set.cite.link"), heading: t.say("set.cite.heading") },
        },
      },
      {
        name: t.say("set.mapFolder"),
        desc: t.say("set.mapFolder.about"),
        control: { type: "folder", key: "mapFolder", includeRoot: true },
      },
      {
        name: t.say("set.mapName"),
        desc: t.say("set.mapName.about"),
        control: { type: "text", key: "mapName", placeholder: DEFAULTS.mapName },
      },
      { name: t.say("set.refreshMaps"), desc: t.say("set.refreshMaps.about"), control: { type: "toggle", key: "refreshMaps" } },
      { name: t.say("set.start"), desc: t.say("set.start.about"), control: { type: "toggle", key: "start" } },
      {
        name: t.say("set.command"),
        desc: t.say("set.command.about"),
        control: { type: "text", key: "command", placeholder: "kb" },
      },
    ];
  }

  override getControlValue(key: string): unknown {
    return key === "mode" ? this.mode : this.values[key as keyof Settings];
  }

  override async setControlValue(key: string, value: unknown): Promise<void> {
    if (key === "mode") {
      const mode = value === "off" || value === "auto" ? value : "suggest";
      if (await chooseMode(this.client, this.news, mode)) this.mode = mode;
      this.update();
      return;
    }
    Object.assign(this.values, readSettings({ ...this.values, [key]: value }));
    await this.save(key as keyof Settings);
  }

  /** On another device than the writing one, `auto` means suggest. */
  private async recall(): Promise<void> {
    const answer = await this.client.get("/settings", vaultSettings);
    if (!answer.ok) return;
    const { mode, device } = answer.value.write;
    const here = device === this.news.status.value?.write.this_device;
    const now = mode === "auto" && !here ? "suggest" : mode;
    if (now === this.mode) return;
    this.mode = now;
    this.update();
  }
}
