import { Component } from "obsidian";
import { chooseMode } from "../settings";
import { FirstRunModal } from "../views/first-run-modal";
import type { Kit } from "./kit";

/** Asked once in a vault, and again from the palette. */
export class FirstRun extends Component {
  constructor(
    private readonly kit: Kit,
    private readonly save: () => Promise<void>,
  ) {
    super();
  }

  override onload(): void {
    const { app, host, t, settings } = this.kit;
    host.addCommand({ id: "welcome", name: t.say("first.open"), callback: () => this.open() });
    app.workspace.onLayoutReady(() => {
      if (!settings.chosen) this.open();
    });
  }

  private open(): void {
    const { app, client, news, settings } = this.kit;
    new FirstRunModal(app, this.kit, async (mode) => {
      if (!(await chooseMode(client, news, mode))) return false;
      settings.chosen = true;
      await this.save();
      return true;
    }).open();
  }
}
