/** What unit tests get for `obsidian`: classes to extend, and nothing that does anything. */

export class Component {}
export class ItemView {}
export class Modal {}
export class MarkdownView {}
export class Notice {}
export class FuzzySuggestModal {}
export class PluginSettingTab {
  icon = "";
}
export const Platform = { isMacOS: false };
export const Keymap = { isModEvent: (): boolean => false };
