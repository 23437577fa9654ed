/** What features are given: never the plugin itself. */

import type { App, Plugin } from "obsidian";
import type { Client } from "../api/client";
import type { Settings } from "../settings";
import type { News } from "../sidecar/news";
import type { Sidecar } from "../sidecar/sidecar";
import type { Text } from "../text/text";
import type { Pen } from "../vault/pen";

/** The few doors of a plugin that a feature may use. */
export type Host = Pick<
  Plugin,
  | "addCommand"
  | "addRibbonIcon"
  | "addStatusBarItem"
  | "registerView"
  | "registerObsidianProtocolHandler"
  | "registerCliHandler"
>;

export interface Kit {
  app: App;
  host: Host;
  client: Client;
  sidecar: Sidecar;
  news: News;
  pen: Pen;
  settings: Settings;
  t: Text;
  /** Of the plugin. */
  version: string;
}
