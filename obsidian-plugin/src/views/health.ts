import type { Kit } from "../features/kit";
import type { Health } from "../sidecar/sidecar";

const INSTALL = "uv tool install oh-my-kb";

/** What the sidecar is doing, in a sentence, and what can be done about it. */
export function drawHealth(parent: HTMLElement, kit: Kit, health: Health): void {
  const { t, sidecar } = kit;
  switch (health.state) {
    case "up":
      parent.createEl("p", { text: t.say("sidecar.up", { version: health.version }) });
      if (health.version !== kit.version) {
        parent.createEl("p", { cls: "omk-remark", text: t.say("sidecar.differs", { plugin: kit.version, version: health.version }) });
      }
      return;
    case "starting":
      parent.createEl("p", { text: t.say("sidecar.starting") });
      return;
    case "stopped":
      parent.createEl("p", { text: t.say("sidecar.stopped") });
      break;
    case "misfit":
      parent.createEl("p", { text: t.say("sidecar.misfit", { version: health.version }) });
      copyable(parent, kit, "uv tool upgrade oh-my-kb");
      break;
    case "missing":
      parent.createEl("p", { text: t.say("sidecar.missing") });
      copyable(parent, kit, INSTALL);
      break;
    case "failed":
      parent.createEl("p", { text: t.say("sidecar.failed") });
      parent.createEl("pre", { cls: "omk-lines", text: health.lines.join("\n") });
      break;
  }
  const again = parent.createEl("button", { text: t.say("sidecar.again"), cls: "mod-cta" });
  again.addEventListener("click", () => void sidecar.restart());
}

function copyable(parent: HTMLElement, { t }: Kit, line: string): void {
  const row = parent.createDiv({ cls: "omk-copy" });
  row.createEl("code", { text: line });
  const button = row.createEl("button", { text: t.say("sidecar.copy") });
  button.addEventListener("click", () => {
    void navigator.clipboard.writeText(line).then(() => button.setText(t.say("sidecar.copied")));
  });
}
