import { Component } from "obsidian";
import { probe } from "../api/answers";
import { readQuestion, typedFrom } from "../probe/question";
import { ProbeModal } from "../views/probe-modal";
import type { Kit } from "./kit";

/** Probe wiki: from the palette, the ribbon, `obsidian://oh-my-kb?probe=…` and the app's command line. */
export class ProbeWiki extends Component {
  constructor(private readonly kit: Kit) {
    super();
  }

  override onload(): void {
    const { host, t } = this.kit;
    host.addCommand({ id: "probe", name: t.say("probe.open"), callback: () => this.open() });
    host.addRibbonIcon("search-check", t.say("probe.open"), () => this.open());
    host.registerObsidianProtocolHandler("oh-my-kb", (data) => {
      if (data["probe"] !== undefined) this.open(typedFrom(data));
    });
    host.registerCliHandler(
      "oh-my-kb:probe",
      "Notes that answer a question",
      { q: { value: "<question>", description: "The question, in:, tag: and since: among it", required: true } },
      async (params) => {
        const answer = await this.kit.client.get("/probe", probe, { ...readQuestion(params["q"] ?? ""), n: 5 });
        if (!answer.ok) return t.fault(answer.fault);
        if (answer.value.verdict === "skip") return t.say("probe.nothing");
        return answer.value.results.map((hit) => `${hit.cite}\t${hit.path}:${hit.line}\t${hit.snippet}`).join("\n");
      },
    );
  }

  private open(first = ""): void {
    const { app, client, settings, t } = this.kit;
    new ProbeModal(app, client, settings, t, first).open();
  }
}
