import { Component, type Menu, Notice, type TAbstractFile, TFile } from "obsidian";
import { drawnMap, type DrawnMap } from "../api/answers";
import type { Answer } from "../api/client";
import { refused } from "../api/client";
import { fileFor } from "../maps/canvas";
import { AskModal } from "../views/ask-modal";
import { MapChooser, MapModal } from "../views/map-modal";
import { openAt } from "../views/open";
import type { Kit } from "./kit";

/** What a map is of, as the sidecar is asked. */
export type Wanted = Record<string, string | number | boolean>;

/** Canvas maps: drawn after a preview, drawn again with all that was arranged, found from a note. */
export class Maps extends Component {
  constructor(private readonly kit: Kit) {
    super();
  }

  override onload(): void {
    const { app, host, t, settings } = this.kit;
    const ofNote = (hops: number) => (checking: boolean) => {
      const file = app.workspace.getActiveFile();
      if (file?.extension !== "md") return false;
      if (!checking) this.preview({ note: file.path, hops });
      return true;
    };
    host.addCommand({ id: "map-note", name: t.say("map.note"), checkCallback: ofNote(1) });
    host.addCommand({ id: "map-note-wide", name: t.say("map.noteWide"), checkCallback: ofNote(2) });
    host.addCommand({ id: "map-clusters", name: t.say("map.clusters"), callback: () => this.preview({ clusters: true }) });
    host.addCommand({ id: "map-orphans", name: t.say("map.orphans"), callback: () => this.preview({ orphans: true }) });
    for (const kind of ["probe", "folder", "tag"] as const) {
      host.addCommand({
        id: `map-${kind}`,
        name: t.say(`map.${kind}`),
        callback: () => new AskModal(app, t.say(`map.${kind}`), this.first(kind), (text) => this.preview({ [kind]: text })).open(),
      });
    }
    host.addCommand({
      id: "map-update",
      name: t.say("map.update"),
      checkCallback: (checking) => {
        const file = app.workspace.getActiveFile();
        if (file?.extension !== "canvas") return false;
        if (!checking) void this.update(file, true);
        return true;
      },
    });
    host.addCommand({
      id: "map-show",
      name: t.say("map.show"),
      checkCallback: (checking) => {
        const file = app.workspace.getActiveFile();
        if (file?.extension !== "md") return false;
        if (!checking) void this.show(file);
        return true;
      },
    });
    this.registerEvent(app.workspace.on("file-menu", (menu, file) => this.menu(menu, file)));
    this.registerEvent(
      app.workspace.on("file-open", (file) => {
        if (settings.refreshMaps && file?.extension === "canvas") void this.update(file, false);
      }),
    );
  }

  /** Draws nothing yet: shows what would be. */
  preview(wanted: Wanted): void {
    const { app, settings, t } = this.kit;
    const place = (title: string): string => fileFor(settings.mapFolder, settings.mapName, title);
    new MapModal(app, t, place, () => this.ask(wanted), (file) => this.write(wanted, file)).open();
  }

  private first(kind: string): string {
    const file = this.kit.app.workspace.getActiveFile();
    return kind === "folder" && file !== null && file.parent?.isRoot() === false ? file.parent.path : "";
  }

  private menu(menu: Menu, file: TAbstractFile): void {
    const { t } = this.kit;
    if (file instanceof TFile && file.extension === "md") {
      menu.addItem((item) => item.setTitle(t.say("map.note")).setIcon("map").onClick(() => this.preview({ note: file.path })));
    } else if (file instanceof TFile && file.extension === "canvas") {
      menu.addItem((item) => item.setTitle(t.say("map.update")).setIcon("map").onClick(() => void this.update(file, true)));
    } else if (!(file instanceof TFile)) {
      menu.addItem((item) => item.setTitle(t.say("map.folder")).setIcon("map").onClick(() => this.preview({ folder: file.path })));
    }
  }

  private ask(wanted: Wanted): Promise<Answer<DrawnMap>> {
    return this.kit.client.post("/canvas", drawnMap, wanted, 30_000);
  }

  private async write(wanted: Wanted, file: string): Promise<boolean> {
    const done = await this.carryOut({ ...wanted, file });
    if (done.ok) await openAt(this.kit.app, file, null, "tab");
    return done.ok;
  }

  private async update(file: TFile, loud: boolean): Promise<void> {
    await this.carryOut({ update: true, file: file.path }, loud);
  }

  /** Archived by the sidecar, written through the app; what somebody arranged in the file stays. */
  private async carryOut(body: Wanted, loud = true): Promise<{ ok: boolean }> {
    const { client, pen, t } = this.kit;
    let words = t.say("map.same");
    const done = await pen.write(
      async () => {
        const answer = await client.post("/canvas", drawnMap, { ...body, prepare: true }, 30_000);
        if (!answer.ok) return answer;
        const { cards, added, kept, to_write: change } = answer.value;
        if (change === null) return refused("same");
        words = t.say(kept > 0 ? "map.added" : "map.drawn", { cards, added, kept });
        return { ok: true, value: change };
      },
      { sparing: false },
    );
    const same = !done.ok && done.fault.code === "same";
    if (!done.ok && !same) words = t.fault(done.fault);
    if (done.ok || loud) new Notice(words);
    return { ok: done.ok || same };
  }

  /** Opens a map that has the note on it. */
  private async show(note: TFile): Promise<void> {
    const { app, t } = this.kit;
    const found: TFile[] = [];
    for (const file of app.vault.getFiles().filter((one) => one.extension === "canvas")) {
      if ((await app.vault.cachedRead(file)).includes(JSON.stringify(note.path))) found.push(file);
    }
    const [only] = found;
    if (only === undefined) new Notice(t.say("map.nowhere"));
    else if (found.length === 1) await openAt(app, only.path, null, "tab");
    else new MapChooser(app, found, (file) => void openAt(app, file.path, null, "tab")).open();
  }
}
