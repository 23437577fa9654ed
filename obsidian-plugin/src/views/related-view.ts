import { MarkdownView, Notice, type TFile, type WorkspaceLeaf } from "obsidian";
import { dismissed, note, type Note, type Plan, related, type RelatedNote } from "../api/answers";
import type { Kit } from "../features/kit";
import type { Maps } from "../features/maps";
import type { MendLinks } from "../features/mend";
import { openAt } from "./open";
import { drawMend } from "./mend-row";
import { Panel } from "./panel";

export const RELATED_VIEW = "oh-my-kb-related";
const MOST = 20;

/** What belongs with the note that is open: linked, near in meaning, related through others; and its broken links. */
export class RelatedView extends Panel {
  protected readonly title = "related.open";
  protected readonly symbol = "waypoints";
  private file: TFile | null = null;

  constructor(
    leaf: WorkspaceLeaf,
    kit: Kit,
    private readonly mend: MendLinks,
    private readonly maps: Maps,
  ) {
    super(leaf, kit);
  }

  override getViewType(): string {
    return RELATED_VIEW;
  }

  override async onOpen(): Promise<void> {
    const { app, news } = this.kit;
    this.file = app.workspace.getActiveFile();
    this.registerEvent(
      app.workspace.on("file-open", (file) => {
        if (file === null || file === this.file) return;
        this.file = file;
        this.refresh();
      }),
    );
    this.register(
      news.changes.on((changes) => {
        const path = this.file?.path;
        if (changes !== null && path !== undefined && (changes.reset || changes.paths.includes(path))) this.refresh();
      }),
    );
    let waiting = 0;
    this.register(
      news.status.on((status) => {
        const now = status?.unencoded ?? 0;
        if (waiting > 0 && now === 0) this.refresh();
        waiting = now;
      }),
    );
    await super.onOpen();
  }

  protected async fill(stale: () => boolean): Promise<void> {
    const { client, t, news } = this.kit;
    const path = this.file?.path;
    if (path === undefined) return this.say("related.nonote");
    const [own, near] = await Promise.all([
      client.get("/notes", note, { path }),
      client.get("/related", related, { note: path, n: MOST }),
    ]);
    if (stale()) return;
    if (!own.ok || !near.ok) {
      const failed = own.ok ? near : own;
      if (!failed.ok && failed.fault.code === "not-found") return this.say("related.none");
      if (!failed.ok) this.fail(failed.fault);
      return;
    }
    this.body.empty();
    const waiting = news.status.value?.unencoded ?? 0;
    if (waiting > 0) this.body.createDiv({ cls: "omk-remark", text: t.say("related.vectors", { unencoded: waiting }) });
    const head = this.body.createDiv({ cls: "omk-head" });
    this.button(head, t.say("map.note"), () => this.maps.preview({ note: path }));
    const broken = this.body.createDiv();
    this.linked(own.value);
    this.near(near.value.related);
    if (this.body.querySelector(".omk-section") === null) {
      this.body.createDiv({ cls: "omk-empty", text: t.say("related.none") });
    }
    const plan = await this.mend.proposals(path);
    if (!stale() && plan.ok) this.broken(broken, plan.value, path);
  }

  private linked(own: Note): void {
    const paths = new Map<string, string>();
    for (const link of own.links) if (link.target !== null && link.target !== own.path) paths.set(link.target, "→");
    for (const link of own.backlinks) {
      if (link.source !== own.path) paths.set(link.source, paths.has(link.source) ? "↔" : "←");
    }
    if (paths.size === 0) return;
    const section = this.section(this.kit.t.say("related.linked"), paths.size);
    for (const [path, arrow] of paths) this.row(section, path, nameOf(path), arrow);
  }

  private near(found: readonly RelatedNote[]): void {
    const { t } = this.kit;
    const meaning = found.filter((one) => one.reasons.includes("meaning"));
    const through = found.filter((one) => !one.reasons.includes("meaning"));
    for (const [key, some] of [
      ["related.near", meaning],
      ["related.shared", through],
    ] as const) {
      if (some.length === 0) continue;
      const section = this.section(t.say(key), some.length);
      for (const one of some) {
        const reasons = [];
        if (one.nearness !== null) reasons.push(t.say("related.nearness", { percent: Math.round(one.nearness * 100) }));
        if (one.shared.length > 0) reasons.push(t.say("related.through", { notes: one.shared.slice(0, 3).map(nameOf).join(", ") }));
        this.row(section, one.path, one.title ?? nameOf(one.path), "", reasons.join(" · "), true);
      }
    }
  }

  private row(section: HTMLElement, path: string, title: string, arrow: string, reason = "", apart = false): void {
    const { t } = this.kit;
    const row = section.createDiv({ cls: "omk-row", attr: { draggable: "true", tabindex: "0", role: "link", "aria-label": path } });
    const main = row.createDiv({ cls: "omk-row-main" });
    main.createDiv({ cls: "omk-row-title", text: arrow === "" ? title : `${arrow} ${title}` });
    if (reason !== "") main.createDiv({ cls: "omk-reason", text: reason });
    const go = (): void => void openAt(this.app, path);
    row.addEventListener("click", go);
    row.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && event.target === row) go();
    });
    row.addEventListener("dragstart", (event) => event.dataTransfer?.setData("text/plain", this.link(path)));
    if (!apart) return;
    const buttons = row.createDiv({ cls: "omk-buttons" });
    this.button(buttons, "[[ ]]", () => this.insert(path)).setAttribute("aria-label", t.say("related.insert"));
    this.button(buttons, "×", () => this.dismiss(path, title)).setAttribute("aria-label", t.say("related.dismiss"));
  }

  private link(path: string): string {
    const file = this.app.vault.getFileByPath(path);
    return file === null ? "" : this.app.fileManager.generateMarkdownLink(file, this.file?.path ?? "");
  }

  private insert(path: string): void {
    for (const leaf of this.app.workspace.getLeavesOfType("markdown")) {
      if (leaf.view instanceof MarkdownView && leaf.view.file === this.file) {
        leaf.view.editor.replaceSelection(this.link(path));
        return;
      }
    }
  }

  private async dismiss(path: string, title: string): Promise<void> {
    const { client, t } = this.kit;
    const answer = await client.post("/related/dismiss", dismissed, { note: this.file?.path ?? "", other: path });
    new Notice(answer.ok ? t.say("related.dismissed", { note: title }) : t.fault(answer.fault));
    if (answer.ok) this.refresh();
  }

  private broken(parent: HTMLElement, plan: Plan, path: string): void {
    const own = plan.plans.filter((mend) => mend.source === path);
    if (own.length === 0) return;
    const { app, t } = this.kit;
    const section = parent.createDiv({ cls: "omk-section" });
    section.createDiv({ cls: "omk-section-title", text: t.say("related.broken") });
    for (const mend of own) {
      const after = async (done: Promise<boolean>): Promise<void> => {
        if (await done) this.refresh();
      };
      drawMend(section, app, t, mend, {
        open: () => void openAt(app, path, mend.line),
        accept: (target) => after(this.mend.accept(plan, [mend], target)),
        reject: () => after(this.mend.reject(plan, [mend], false)),
        keep: () => after(this.mend.reject(plan, [mend], true)),
      }, false);
    }
  }
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1).replace(/\.md$/, "");
}
