/** Starts the app in a page: the vault, the workspace, and the plugin from its release files. */

import { App, Palette } from "./app";
import { installDom } from "./dom";
import { requireNode } from "./node";
import * as obsidian from "./obsidian";
import { connect, rpc } from "./rpc";

interface Config {
  vault: string;
  language: string;
  theme: string;
  system: { platform: string; home: string; env: Record<string, string> };
  manifest: { id: string; name: string; version: string };
  main: string;
  plugin: boolean;
}

declare global {
  interface Window {
    app: App;
    omk: { plugin: obsidian.Plugin | null; loadMs: number; load: () => Promise<void>; unload: () => void };
    omkLanguage: string;
  }
}

async function boot(): Promise<void> {
  installDom();
  const config = await rpc<Config>("config");
  window.omkLanguage = config.language;
  document.documentElement.lang = config.language;
  document.body.className = `theme-${config.theme}`;
  await connect();
  const app = new App(config.vault, document.body);
  window.app = app;
  await app.vault.begin();
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey && event.key === "p") {
      event.preventDefault();
      new Palette(app).open();
    } else if (event.ctrlKey && event.key === ",") app.openSettings();
  });
  window.omk = {
    plugin: null,
    loadMs: 0,
    load: async () => {
      const need = requireNode(config.system);
      const module: { exports: { default?: new (app: App, manifest: Config["manifest"]) => obsidian.Plugin } } = { exports: {} };
      const start = performance.now();
      new Function("require", "module", "exports", config.main)(
        (name: string) => (name === "obsidian" ? obsidian : need(name)),
        module,
        module.exports,
      );
      const Made = module.exports.default;
      if (Made === undefined) throw new Error("main.js exports no plugin");
      const plugin = new Made(app, config.manifest);
      window.omk.plugin = plugin;
      const done = plugin.load();
      window.omk.loadMs = performance.now() - start;
      await done;
    },
    unload: () => window.omk.plugin?.unload(),
  };
  if (config.plugin) await window.omk.load();
  app.workspace.begin();
  window.addEventListener("beforeunload", () => app.workspace.trigger("quit"));
  document.body.dataset["ready"] = "yes";
}

void boot();
