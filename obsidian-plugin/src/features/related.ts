import { Component } from "obsidian";
import { RELATED_VIEW, RelatedView } from "../views/related-view";
import { showPanel } from "../views/show";
import type { Kit } from "./kit";
import type { Maps } from "./maps";
import type { MendLinks } from "./mend";

export class RelatedNotes extends Component {
  constructor(
    private readonly kit: Kit,
    private readonly mend: MendLinks,
    private readonly maps: Maps,
  ) {
    super();
  }

  override onload(): void {
    const { app, host, t } = this.kit;
    host.registerView(RELATED_VIEW, (leaf) => new RelatedView(leaf, this.kit, this.mend, this.maps));
    host.addCommand({ id: "related", name: t.say("related.open"), callback: () => void showPanel(app, RELATED_VIEW) });
    host.addRibbonIcon("waypoints", t.say("related.open"), () => void showPanel(app, RELATED_VIEW));
  }
}
