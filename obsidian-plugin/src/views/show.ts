import type { App } from "obsidian";

/** A side view on the right, made once. */
export async function showPanel(app: App, type: string): Promise<void> {
  const leaf = await app.workspace.ensureSideLeaf(type, "right", { active: true, reveal: true });
  await app.workspace.revealLeaf(leaf);
}

/** A view as a tab of its own, made once. */
export async function showTab(app: App, type: string): Promise<void> {
  const there = app.workspace.getLeavesOfType(type)[0];
  const leaf = there ?? app.workspace.getLeaf("tab");
  if (there === undefined) await leaf.setViewState({ type, active: true });
  await app.workspace.revealLeaf(leaf);
}
