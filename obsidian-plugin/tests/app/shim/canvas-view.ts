import type { TFile } from "./vault";
import { FileView } from "./view";

interface Node {
  id: string;
  type: string;
  x: number;
  y: number;
  width: number;
  height: number;
  file?: string;
  text?: string;
  label?: string;
  color?: string;
}
interface Edge {
  fromNode: string;
  toNode: string;
  label?: string;
  fromEnd?: string;
  toEnd?: string;
}

/** Draws a canvas as boxes and lines: enough to look at a map. */
export class CanvasView extends FileView {
  override getViewType(): string {
    return "canvas";
  }

  override async setFile(file: TFile): Promise<void> {
    this.file = file;
    await this.draw();
  }

  override async onOpen(): Promise<void> {
    this.registerEvent(
      this.app.vault.on("modify", ((file: TFile) => {
        if (file === this.file) void this.draw();
      }) as never),
    );
    return Promise.resolve();
  }

  private async draw(): Promise<void> {
    if (this.file === null) return;
    const canvas = JSON.parse((await this.app.vault.read(this.file)) || "{}") as { nodes?: Node[]; edges?: Edge[] };
    const nodes = canvas.nodes ?? [];
    const left = Math.min(0, ...nodes.map((node) => node.x)) - 40;
    const top = Math.min(0, ...nodes.map((node) => node.y)) - 40;
    const right = Math.max(...nodes.map((node) => node.x + node.width), 100) + 40;
    const bottom = Math.max(...nodes.map((node) => node.y + node.height), 100) + 40;
    this.contentEl.empty();
    const scale = Math.min(1, 860 / (right - left), 700 / (bottom - top));
    const sheet = this.contentEl.createDiv({ cls: "canvas-sheet" });
    sheet.style.transform = `scale(${scale})`;
    sheet.style.width = `${right - left}px`;
    sheet.style.height = `${bottom - top}px`;
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("width", String(right - left));
    svg.setAttribute("height", String(bottom - top));
    sheet.appendChild(svg);
    const byId = new Map(nodes.map((node) => [node.id, node]));
    for (const edge of canvas.edges ?? []) {
      const [a, b] = [byId.get(edge.fromNode), byId.get(edge.toNode)];
      if (a === undefined || b === undefined) continue;
      const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
      line.setAttribute("x1", String(a.x + a.width / 2 - left));
      line.setAttribute("y1", String(a.y + a.height / 2 - top));
      line.setAttribute("x2", String(b.x + b.width / 2 - left));
      line.setAttribute("y2", String(b.y + b.height / 2 - top));
      svg.appendChild(line);
      if (edge.label !== undefined) {
        const label = document.createElementNS("http://www.w3.org/2000/svg", "text");
        label.setAttribute("x", String((a.x + a.width / 2 + b.x + b.width / 2) / 2 - left));
        label.setAttribute("y", String((a.y + a.height / 2 + b.y + b.height / 2) / 2 - top));
        label.textContent = edge.label;
        svg.appendChild(label);
      }
    }
    for (const node of nodes) {
      const box = sheet.createDiv({ cls: `canvas-node canvas-${node.type}` });
      box.dataset["id"] = node.id;
      if (node.color !== undefined) box.dataset["color"] = node.color;
      Object.assign(box.style, {
        left: `${node.x - left}px`,
        top: `${node.y - top}px`,
        width: `${node.width}px`,
        height: `${node.height}px`,
      });
      box.setText(node.label ?? node.text ?? (node.file ?? "").replace(/^.*\//, "").replace(/\.md$/, ""));
    }
  }
}
