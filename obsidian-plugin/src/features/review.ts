import { Component } from "obsidian";
import { showTab } from "../views/show";
import { REVIEW_VIEW, ReviewView } from "../views/review-view";
import type { Kit } from "./kit";

export class ReviewProposals extends Component {
  constructor(
    private readonly kit: Kit,
  ) {
    super();
  }

  override onload(): void {
    const { app, host, t } = this.kit;
    host.registerView(REVIEW_VIEW, (leaf) => new ReviewView(leaf, this.kit));
    host.addCommand({ id: "review", name: t.say("review.open"), callback: () => void showTab(app, REVIEW_VIEW) });
  }
}
