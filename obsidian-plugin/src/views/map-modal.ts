import { type App, FuzzySuggestModal, Modal, normalizePath, type TFile } from "obsidian";
import type { DrawnMap } from "../api/answers";
import type { Answer } from "../api/client";
import { type Box, readCanvas } from "../maps/canvas";
import type { Text } from "../text/text";

const SVG = "http://www.w3.org/2000/svg";

/** What would be drawn, before a file is written; where, and under which name. */
export class MapModal extends Modal {
  constructor(
    app: App,
    private readonly t: Text,
    private readonly place: (title: string) => string,
    private readonly ask: () => Promise<Answer<DrawnMap>>,
    private readonly write: (file: string) => Promise<boolean>,
  ) {
    super(app);
  }

  override onOpen(): void {
    this.modalEl.addClass("omk-map");
    this.setTitle(this.t.say("map.title"));
    this.contentEl.createDiv({ cls: "omk-empty", text: this.t.say("map.drawing") });
    void this.ask().then((answer) => {
      this.contentEl.empty();
      if (answer.ok) this.show(answer.value);
      else this.contentEl.createDiv({ cls: "omk-empty", text: this.t.fault(answer.fault) });
    });
  }

  override onClose(): void {
    this.contentEl.empty();
  }

  private show(made: DrawnMap): void {
    const { t } = this;
    this.setTitle(made.title);
    const { cards, edges, hidden } = made;
    this.contentEl.createDiv({ cls: "omk-map-counts", text: t.say(hidden > 0 ? "map.countsHidden" : "map.counts", { cards, edges, hidden }) });
    drawPreview(this.contentEl, made.canvas ?? "");
    if (made.groups.length > 0) {
      const names = made.groups.map((group) => `${group.name} (${group.cards})`).join(", ");
      this.contentEl.createDiv({ cls: "omk-reason", text: t.say("map.groups", { names }) });
    }
    const row = this.contentEl.createDiv({ cls: "omk-map-file" });
    const input = row.createEl("input", { type: "text", cls: "omk-line-input", attr: { "aria-label": t.say("map.file") } });
    input.value = normalizePath(this.place(made.title));
    const note = this.contentEl.createDiv({ cls: "omk-reason" });
    const buttons = this.contentEl.createDiv({ cls: "omk-buttons" });
    const draw = buttons.createEl("button", { cls: "mod-cta", text: t.say("map.draw") });
    buttons.createEl("button", { text: t.say("map.cancel") }).addEventListener("click", () => this.close());
    const say = (): void => note.setText(this.app.vault.getFileByPath(file()) === null ? "" : t.say("map.exists"));
    const file = (): string => {
      const path = normalizePath(input.value.trim());
      return /\.canvas$/i.test(path) ? path : `${path}.canvas`;
    };
    const go = async (): Promise<void> => {
      draw.disabled = true;
      if (await this.write(file())) this.close();
      draw.disabled = false;
    };
    input.addEventListener("input", say);
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.isComposing) void go();
    });
    draw.addEventListener("click", () => void go());
    say();
    draw.focus();
  }
}

function drawPreview(parent: HTMLElement, text: string): void {
  const { boxes, lines } = readCanvas(text);
  if (boxes.length === 0) return;
  const left = Math.min(...boxes.map((box) => box.x)) - 30;
  const top = Math.min(...boxes.map((box) => box.y)) - 30;
  const width = Math.max(...boxes.map((box) => box.x + box.width)) + 30 - left;
  const height = Math.max(...boxes.map((box) => box.y + box.height)) + 30 - top;
  const svg = parent.ownerDocument.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", `${left} ${top} ${width} ${height}`);
  svg.classList.add("omk-map-preview");
  const put = (name: string, values: Record<string, string | number>, cls: string): SVGElement => {
    const made = parent.ownerDocument.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(values)) made.setAttribute(key, String(value));
    made.classList.add(...cls.split(" "));
    svg.appendChild(made);
    return made;
  };
  const rect = (box: Box): void => {
    const { x, y, width: w, height: h } = box;
    put("rect", { x, y, width: w, height: h, rx: 12 }, `omk-map-${box.type} omk-map-color-${box.color || "0"}`);
  };
  for (const box of boxes.filter((one) => one.type === "group")) rect(box);
  for (const [a, b] of lines) {
    put("line", { x1: a.x + a.width / 2, y1: a.y + a.height / 2, x2: b.x + b.width / 2, y2: b.y + b.height / 2 }, "omk-map-edge");
  }
  for (const box of boxes.filter((one) => one.type !== "group")) {
    rect(box);
    const name = put("text", { x: box.x + 16, y: box.y + 60, "font-size": 40 }, "omk-map-name");
    name.textContent = [...box.name].slice(0, Math.floor(box.width / 26)).join("");
  }
  parent.appendChild(svg);
}

/** Of several maps with a note on them, which. */
export class MapChooser extends FuzzySuggestModal<TFile> {
  constructor(
    app: App,
    private readonly files: TFile[],
    private readonly picked: (file: TFile) => void,
  ) {
    super(app);
  }

  override getItems(): TFile[] {
    return this.files;
  }

  override getItemText(file: TFile): string {
    return file.path;
  }

  override onChooseItem(file: TFile): void {
    this.picked(file);
  }
}
