/** What the plugin gets for `require("obsidian")`. */

import momentNow from "moment";
import { rpc } from "./rpc";

export { Component, Events } from "./events";
export { FileSystemAdapter, TAbstractFile, TFile, TFolder, Vault } from "./vault";
export { MetadataCache } from "./metadata";
export { FileManager } from "./files";
export { FileView, ItemView, View } from "./view";
export { Editor, MarkdownView } from "./markdown-view";
export { Workspace, WorkspaceLeaf } from "./workspace";
export { FuzzySuggestModal, Menu, MenuItem, Modal, Notice, SuggestModal } from "./modals";
export { PluginSettingTab, Setting } from "./settings";
export { Plugin } from "./plugin";
export { App } from "./app";

export const moment = momentNow;
export const Platform = { isDesktop: true, isDesktopApp: true, isMobile: false, isMacOS: false, isWin: false, isLinux: true };

export const Keymap = {
  isModifier: (event: MouseEvent | KeyboardEvent, name: string) => (name === "Mod" || name === "Ctrl" ? event.ctrlKey : event.altKey),
  isModEvent(event?: MouseEvent | KeyboardEvent | null): "tab" | "split" | "window" | false {
    if (event === null || event === undefined || !(event.ctrlKey || event.metaKey)) return false;
    return event.altKey ? "split" : "tab";
  },
};

export function getLanguage(): string {
  return (window as unknown as { omkLanguage: string }).omkLanguage;
}

export async function requestUrl(request: { url: string; throw?: boolean }): Promise<unknown> {
  const answer = await rpc<{ status: number; text: string }>("request", request);
  if (answer.status >= 400 && request.throw !== false) throw new Error(`Request failed, status ${answer.status}`);
  return {
    ...answer,
    get json(): unknown {
      return JSON.parse(answer.text) as unknown;
    },
  };
}

export function normalizePath(path: string): string {
  return path.replace(/[\\/]+/g, "/").replace(/^\/|\/$/g, "").replace(/\u00a0|\u202f/g, " ").normalize("NFC") || "/";
}

export function debounce<A extends unknown[]>(tell: (...args: A) => unknown, ms = 0, reset = false): (...args: A) => void {
  let timer: number | null = null;
  let last: A;
  return (...args) => {
    last = args;
    if (timer !== null && !reset) return;
    if (timer !== null) window.clearTimeout(timer);
    timer = window.setTimeout(() => {
      timer = null;
      tell(...last);
    }, ms);
  };
}

export function setIcon(el: HTMLElement, icon: string): void {
  el.dataset["icon"] = icon;
}

export function setTooltip(el: HTMLElement, tooltip: string): void {
  el.setAttribute("aria-label", tooltip);
}

export const parseLinktext = (text: string): { path: string; subpath: string } => {
  const hash = text.indexOf("#");
  return hash < 0 ? { path: text, subpath: "" } : { path: text.slice(0, hash), subpath: text.slice(hash) };
};
export const getLinkpath = (text: string): string => parseLinktext(text).path;
export const requireApiVersion = (): boolean => true;
export const apiVersion = "1.13.1";
