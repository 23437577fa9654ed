/** The helpers that the app puts on every element. */

type Info = {
  cls?: string | string[];
  text?: string;
  attr?: Record<string, string | number | boolean | null>;
  title?: string;
  type?: string;
  value?: string;
  placeholder?: string;
  href?: string;
};

function make(parent: Node | null, tag: string, info: Info | string = {}, then?: (el: HTMLElement) => void): HTMLElement {
  const el = document.createElement(tag);
  const o: Info = typeof info === "string" ? { cls: info } : info;
  const classes = (Array.isArray(o.cls) ? o.cls : (o.cls ?? "").split(" ")).filter((name) => name !== "");
  el.classList.add(...classes);
  if (o.text !== undefined) el.textContent = o.text;
  for (const [name, value] of Object.entries(o.attr ?? {})) if (value !== null) el.setAttribute(name, String(value));
  for (const name of ["title", "type", "value", "placeholder", "href"] as const) {
    if (o[name] !== undefined) el.setAttribute(name, o[name]);
  }
  parent?.appendChild(el);
  then?.(el);
  return el;
}

export function installDom(): void {
  const node = Node.prototype as unknown as Record<string, unknown>;
  node["createEl"] = function (this: Node, tag: string, info?: Info | string, then?: (el: HTMLElement) => void) {
    return make(this, tag, info, then);
  };
  node["createDiv"] = function (this: Node, info?: Info | string, then?: (el: HTMLElement) => void) {
    return make(this, "div", info, then);
  };
  node["createSpan"] = function (this: Node, info?: Info | string, then?: (el: HTMLElement) => void) {
    return make(this, "span", info, then);
  };
  node["empty"] = function (this: Node) {
    while (this.lastChild) this.removeChild(this.lastChild);
  };
  node["appendText"] = function (this: Node, text: string) {
    this.appendChild(document.createTextNode(text));
  };
  node["detach"] = function (this: Node) {
    this.parentNode?.removeChild(this);
  };
  const element = Element.prototype as unknown as Record<string, unknown>;
  element["setText"] = function (this: Element, text: string) {
    this.textContent = text;
  };
  element["addClass"] = function (this: Element, ...names: string[]) {
    this.classList.add(...names);
  };
  element["removeClass"] = function (this: Element, ...names: string[]) {
    this.classList.remove(...names);
  };
  element["toggleClass"] = function (this: Element, name: string, on: boolean) {
    this.classList.toggle(name, on);
  };
  element["hasClass"] = function (this: Element, name: string) {
    return this.classList.contains(name);
  };
  const html = HTMLElement.prototype as unknown as Record<string, unknown>;
  html["show"] = function (this: HTMLElement) {
    this.style.display = "";
  };
  html["hide"] = function (this: HTMLElement) {
    this.style.display = "none";
  };
  html["toggle"] = function (this: HTMLElement, on: boolean) {
    this.style.display = on ? "" : "none";
  };
  const global = window as unknown as Record<string, unknown>;
  global["createFragment"] = (then?: (el: DocumentFragment) => void) => {
    const made = document.createDocumentFragment();
    then?.(made);
    return made;
  };
  global["createEl"] = (tag: string, info?: Info | string) => make(null, tag, info);
  global["createDiv"] = (info?: Info | string) => make(null, "div", info);
  global["createSpan"] = (info?: Info | string) => make(null, "span", info);
  global["activeDocument"] = document;
  global["activeWindow"] = window;
}
