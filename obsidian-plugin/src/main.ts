import { FileSystemAdapter, getLanguage, Plugin, requestUrl } from "obsidian";
import { BrokenLinks } from "./features/broken";
import { FirstRun } from "./features/first-run";
import { HistoryOfChanges } from "./features/history";
import type { Host, Kit } from "./features/kit";
import { Maps } from "./features/maps";
import { MendLinks } from "./features/mend";
import { ProbeWiki } from "./features/probe";
import { RelatedNotes } from "./features/related";
import { ReportRenames } from "./features/renames";
import { ReviewProposals } from "./features/review";
import { StatusBar } from "./features/status";
import { readSettings, SettingsTab } from "./settings";
import { News } from "./sidecar/news";
import { thisSystem } from "./sidecar/places";
import { Sidecar } from "./sidecar/sidecar";
import { Text } from "./text/text";
import { Pen } from "./vault/pen";

/** Life and death only: what the plugin does stands in features/, a file each. */
export default class OhMyKb extends Plugin {
  override async onload(): Promise<void> {
    const { adapter } = this.app.vault;
    if (!(adapter instanceof FileSystemAdapter)) return;
    const settings = readSettings(await this.loadData());
    const t = new Text(getLanguage());
    const send = async (request: { url: string; method: string; headers: Record<string, string>; body?: string }) => {
      const { status, text } = await requestUrl({ ...request, throw: false });
      return { status, text };
    };
    const sidecar = new Sidecar(adapter.getBasePath(), thisSystem(), send, () => settings);
    const { client } = sidecar;
    const news = new News(sidecar);
    const pen = new Pen(this.app, client);
    const kit: Kit = { app: this.app, host: this.host(), client, sidecar, news, pen, settings, t, version: this.manifest.version };
    const save = async (): Promise<void> => this.saveData(settings);

    this.addSettingTab(
      new SettingsTab(this.app, this, settings, client, news, t, async (changed) => {
        await save();
        if (changed === "start" || changed === "command") await sidecar.restart();
      }),
    );
    const mend = new MendLinks(kit);
    const maps = new Maps(kit);
    const features = [
      maps,
      new StatusBar(kit),
      new ProbeWiki(kit),
      mend,
      new RelatedNotes(kit, mend, maps),
      new BrokenLinks(kit, mend),
      new ReviewProposals(kit),
      new HistoryOfChanges(kit, mend),
      new ReportRenames(kit),
      new FirstRun(kit, save),
    ];
    for (const feature of features) this.addChild(feature);
    this.register(() => {
      news.stop();
      sidecar.end();
    });
    this.registerEvent(this.app.workspace.on("quit", () => sidecar.end()));
    this.app.workspace.onLayoutReady(() => {
      void sidecar.look();
      news.start();
    });
  }

  private host(): Host {
    return {
      addCommand: (command) => this.addCommand(command),
      addRibbonIcon: (icon, title, callback) => this.addRibbonIcon(icon, title, callback),
      addStatusBarItem: () => this.addStatusBarItem(),
      registerView: (type, make) => this.registerView(type, make),
      registerObsidianProtocolHandler: (action, handler) => this.registerObsidianProtocolHandler(action, handler),
      registerCliHandler: (...handler) => this.registerCliHandler(...handler),
    };
  }
}
