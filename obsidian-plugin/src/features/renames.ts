import { Component } from "obsidian";
import { renamed } from "../api/answers";
import type { Kit } from "./kit";

/** What Obsidian renames, Obsidian rewrites the links to: the sidecar is told, and leaves them alone. */
export class ReportRenames extends Component {
  constructor(private readonly kit: Kit) {
    super();
  }

  override onload(): void {
    const { app, client } = this.kit;
    app.workspace.onLayoutReady(() => {
      this.registerEvent(
        app.vault.on("rename", (file, old) => {
          void client.post("/renames", renamed, { from: old, to: file.path });
        }),
      );
    });
  }
}
