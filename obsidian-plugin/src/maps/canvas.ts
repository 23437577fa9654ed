/** What a preview needs of a canvas: boxes, and lines between them. */

export interface Box {
  id: string;
  type: string;
  name: string;
  color: string;
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Empty for what is no canvas; cards that cannot be understood are left out. */
export function readCanvas(text: string): { boxes: Box[]; lines: [Box, Box][] } {
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch {
    return { boxes: [], lines: [] };
  }
  const { nodes, edges } = (found ?? {}) as Record<string, unknown>;
  const boxes = rows(nodes).flatMap((node): Box[] => {
    const { id, type, x, y, width, height } = node;
    if (typeof id !== "string" || typeof type !== "string") return [];
    if (typeof x !== "number" || typeof y !== "number" || typeof width !== "number" || typeof height !== "number") return [];
    const color = typeof node["color"] === "string" ? node["color"] : "";
    return [{ id, type, name: nameOf(node), color: /^[1-6]$/.test(color) ? color : "", x, y, width, height }];
  });
  const byId = new Map(boxes.map((box) => [box.id, box]));
  const lines = rows(edges).flatMap((edge): [Box, Box][] => {
    const [a, b] = [byId.get(String(edge["fromNode"])), byId.get(String(edge["toNode"]))];
    return a === undefined || b === undefined ? [] : [[a, b]];
  });
  return { boxes, lines };
}

function rows(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter((one): one is Record<string, unknown> => typeof one === "object" && one !== null) : [];
}

function nameOf(node: Record<string, unknown>): string {
  const name = node["label"] ?? node["text"] ?? node["file"];
  if (typeof name !== "string") return "";
  return node["type"] === "file" ? name.slice(name.lastIndexOf("/") + 1).replace(/\.md$/, "") : (name.split("\n")[0] ?? "");
}

/** Where a new map is put: the pattern with what it is of, without what a file name may not have. */
export function fileFor(folder: string, pattern: string, title: string): string {
  const name = pattern
    .replaceAll("{title}", title)
    .replace(/[\\/:*?"<>|#^[\]]/g, " ")
    .replace(/\s+/g, " ")
    .replace(/^[\s.]+|[\s.]+$/g, "");
  return `${folder === "" || folder === "/" ? "" : `${folder}/`}${name === "" ? "Map" : name}.canvas`;
}
