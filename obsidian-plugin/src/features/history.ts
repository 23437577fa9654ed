import { Component } from "obsidian";
import { showTab } from "../views/show";
import { HISTORY_VIEW, HistoryView } from "../views/history-view";
import type { Kit } from "./kit";
import type { MendLinks } from "./mend";

export class HistoryOfChanges extends Component {
  constructor(
    private readonly kit: Kit,
    private readonly mend: MendLinks,
  ) {
    super();
  }

  override onload(): void {
    const { app, host, t } = this.kit;
    host.registerView(HISTORY_VIEW, (leaf) => new HistoryView(leaf, this.kit, this.mend));
    host.addCommand({ id: "history", name: t.say("history.open"), callback: () => void showTab(app, HISTORY_VIEW) });
  }
}
