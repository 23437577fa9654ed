import { type App, Modal } from "obsidian";
import type { Kit } from "../features/kit";
import type { Mode } from "../settings";
import { drawHealth } from "./health";

/** What was found, and the one question: what may be done here. Nothing is written before it is answered. */
export class FirstRunModal extends Modal {
  private ends: (() => void)[] = [];

  constructor(
    app: App,
    private readonly kit: Kit,
    private readonly choose: (mode: Mode) => Promise<boolean>,
  ) {
    super(app);
  }

  override onOpen(): void {
    const { t, sidecar, news } = this.kit;
    this.modalEl.addClass("omk-first");
    this.setTitle(t.say("first.title"));
    const found = this.contentEl.createDiv();
    const choices = this.contentEl.createDiv();
    const draw = (): void => {
      found.empty();
      const health = sidecar.health.value;
      const status = news.status.value;
      if (health.state !== "up") drawHealth(found, this.kit, health);
      else if (status?.work.state === "ready") found.createEl("p", { text: t.say("first.found", { notes: status.indexed }) });
      else found.createEl("p", { text: t.say("first.counting") });
      choices.toggle(health.state === "up");
    };
    choices.createEl("p", { text: t.say("first.choose") });
    for (const mode of ["off", "suggest", "auto"] as const) {
      const button = choices.createEl("button", { cls: "omk-choice" });
      button.createDiv({ cls: "omk-choice-name", text: t.say(`first.${mode}`) });
      button.createDiv({ cls: "omk-choice-about", text: t.say(`first.${mode}.about`) });
      button.addEventListener("click", () => {
        void this.choose(mode).then((done) => {
          if (done) this.close();
        });
      });
    }
    this.ends = [sidecar.health.on(draw), news.status.on(draw)];
    draw();
  }

  override onClose(): void {
    for (const end of this.ends) end();
    this.contentEl.empty();
  }
}
