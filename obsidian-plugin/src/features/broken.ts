import { Component } from "obsidian";
import { showTab } from "../views/show";
import { BROKEN_VIEW, BrokenView } from "../views/broken-view";
import type { Kit } from "./kit";
import type { MendLinks } from "./mend";

export class BrokenLinks extends Component {
  constructor(
    private readonly kit: Kit,
    private readonly mend: MendLinks,
  ) {
    super();
  }

  override onload(): void {
    const { app, host, t } = this.kit;
    host.registerView(BROKEN_VIEW, (leaf) => new BrokenView(leaf, this.kit, this.mend));
    host.addCommand({ id: "broken", name: t.say("broken.open"), callback: () => void showTab(app, BROKEN_VIEW) });
  }
}
