import { Component } from "obsidian";
import { showTab } from "../views/show";
import { BROKEN_VIEW, BrokenView, RELINK_VIEW, RelinkView } from "../views/broken-view";
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
    host.registerView(RELINK_VIEW, (leaf) => new RelinkView(leaf, this.kit, this.mend));
    host.addCommand({ id: "relink", name: t.say("relink.open"), callback: () => void showTab(app, RELINK_VIEW) });
    host.addCommand({ id: "broken", name: t.say("broken.open"), callback: () => void showTab(app, BROKEN_VIEW) });
  }
}
