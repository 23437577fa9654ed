import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import * as answers from "../src/api/answers";
import { Client, read, type Request } from "../src/api/client";
import { type Decoder, either, flag, list, maybe, MisfitError, number, object, oneOf, text } from "../src/api/decode";

beforeAll(() => {
  (globalThis as { window?: unknown }).window = globalThis;
});

const FOLDER = join(import.meta.dirname, "../../tests/contract");
const SHAPES: Record<string, Decoder<unknown>> = {
  abandon: answers.operation,
  apply: answers.plan,
  canvas: answers.drawnMap,
  "canvas-prepare": answers.drawnMap,
  changes: answers.changes,
  commit: answers.operation,
  decided: answers.decided,
  due: answers.plan,
  hello: answers.hello,
  index: answers.started,
  note: answers.note,
  operations: answers.operations,
  prepare: answers.toWrite,
  probe: answers.probe,
  "probe-nothing": answers.probe,
  "probe-token": answers.probe,
  problems: answers.problems,
  reject: answers.rejected,
  related: answers.related,
  relink: answers.plan,
  renames: answers.renamed,
  repair: answers.plan,
  review: answers.review,
  "review-plan": answers.plan,
  settings: answers.settings,
  status: answers.status,
  undo: answers.operation,
  "undo-prepare": answers.toWrite,
};
/** Recorded, and not used by the plugin. */
const UNUSED = ["conflicts", "graph", "orphans", "query", "recover", "task", "unresolved"];

describe("answers recorded from the sidecar", () => {
  const names = readdirSync(FOLDER).map((name) => name.replace(/\.json$/, ""));

  it.each(names)("%s", (name) => {
    const { status, body } = JSON.parse(readFileSync(join(FOLDER, `${name}.json`), "utf8")) as { status: number; body: unknown };
    if (name.startsWith("error")) {
      expect(read({ status, text: JSON.stringify(body) }, text)).toMatchObject({ ok: false, fault: { code: expect.any(String) as string } });
      return;
    }
    const shape = SHAPES[name];
    if (shape === undefined) return expect(UNUSED).toContain(name);
    const found = shape(body, "");
    // What was understood is what was said: nulls may be left out, and one undone operation is a list of one.
    const understood = JSON.stringify(found, (key, value: unknown) => (value === null || key === "undoes" ? undefined : value));
    expect(body).toMatchObject(JSON.parse(understood) as object);
  });

  it("every shape has its recording", () => {
    expect(names).toEqual(expect.arrayContaining(Object.keys(SHAPES)));
  });
});

describe("decoding", () => {
  const misfits: [string, Decoder<unknown>, unknown, string][] = [
    ["text", text, 5, "x should be text"],
    ["a number", number, "5", "x should be a number"],
    ["no number", number, NaN, "x should be a number"],
    ["a flag", flag, null, "x should be true or false"],
    ["a choice", oneOf("a", "b"), "c", "x should be a or b"],
    ["a list", list(text), {}, "x should be a list"],
    ["an item", list(text), ["a", 1], "x[1] should be text"],
    ["an object", object({ a: text }), [], "x should be an object"],
    ["a field", object({ a: object({ b: text }) }), { a: {} }, "x.a.b should be text"],
  ];
  it.each(misfits)("%s", (_name, shape, value, message) => {
    expect(() => shape(value, "x")).toThrow(new MisfitError("x", "y").constructor as new () => Error);
    expect(() => shape(value, "x")).toThrow(message);
  });

  it("leaves out what is not named, and takes null for what may be missing", () => {
    expect(object({ a: maybe(text) })({ b: 1 }, "")).toEqual({ a: null });
    expect(either(text, list(text))(["a"], "")).toEqual(["a"]);
  });
});

describe("the client", () => {
  const here = { port: 1234, token: "secret" };

  it("sends the token and the parameters that are set", async () => {
    const sent: Request[] = [];
    const client = new Client(
      (request) => {
        sent.push(request);
        return Promise.resolve({ status: 200, text: '"yes"' });
      },
      () => here,
    );
    expect(await client.get("/probe", text, { q: "a b&c", in: undefined, tag: "" })).toEqual({ ok: true, value: "yes" });
    await client.post("/repair", text, { note: "资金.md" });
    expect(sent[0]).toEqual({
      url: "http://127.0.0.1:1234/api/v1/probe?q=a%20b%26c",
      method: "GET",
      headers: { Authorization: "Bearer secret" },
    });
    expect(sent[1]?.headers["Content-Type"]).toBe("application/json");
    expect(sent[1]?.body).toBe('{"note":"资金.md"}');
  });

  it.each([
    ["nobody is there", null, () => Promise.reject(new Error("x")), "offline"],
    ["the line breaks", here, () => Promise.reject(new Error("x")), "offline"],
    ["no answer comes", here, () => new Promise<never>(() => undefined), "late"],
    ["no JSON", here, () => Promise.resolve({ status: 200, text: "<html>" }), "misfit"],
    ["another shape", here, () => Promise.resolve({ status: 200, text: "5" }), "misfit"],
    ["an error of another shape", here, () => Promise.resolve({ status: 500, text: "{}" }), "misfit"],
  ])("%s", async (_name, address, send, code) => {
    const answer = await new Client(send, () => address).get("/hello", text, {}, 20);
    expect(answer).toMatchObject({ ok: false, fault: { code } });
  });

  it("gives the sidecar's own words", () => {
    const body = JSON.stringify({ error: { code: "not-found", message: "There is no note.", fix: "Look" } });
    expect(read({ status: 404, text: body }, text)).toEqual({
      ok: false,
      fault: { code: "not-found", message: "There is no note.", fix: "Look" },
    });
  });
});
