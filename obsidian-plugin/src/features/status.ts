import { Component } from "obsidian";
import { DetailsModal } from "../views/details-modal";
import type { Kit } from "./kit";

/** The state of the sidecar in the status bar; a click shows it note by note. */
export class StatusBar extends Component {
  constructor(private readonly kit: Kit) {
    super();
  }

  override onload(): void {
    const { app, host, t, sidecar, news } = this.kit;
    const item = host.addStatusBarItem();
    item.addClass("mod-clickable", "omk-status");
    item.setAttribute("aria-label", t.say("state.about"));
    item.addEventListener("click", () => new DetailsModal(app, this.kit).open());
    const draw = (): void => {
      item.setText(this.words());
      item.dataset["state"] = sidecar.health.value.state;
    };
    this.register(sidecar.health.on(draw));
    this.register(news.status.on(draw));
    draw();
  }

  private words(): string {
    const { t, sidecar, news } = this.kit;
    const { state } = sidecar.health.value;
    switch (state) {
      case "stopped":
        return t.say("state.stopped");
      case "starting":
        return t.say("state.starting");
      case "missing":
      case "misfit":
      case "failed":
        return t.say("state.error");
      case "up":
        break;
    }
    const status = news.status.value;
    if (status === null) return t.say("state.starting");
    switch (status.work.state) {
      case "starting":
        return t.say("state.starting");
      case "indexing":
        return t.say("state.indexing", { done: status.work.done, total: status.work.total });
      case "paused":
        return t.say("state.paused");
      case "failed":
      case "stopped":
        return t.say("state.error");
      case "ready":
        return t.say(status.problems > 0 ? "state.problems" : "state.ready", {
          notes: status.indexed,
          problems: status.problems,
        });
    }
  }
}
