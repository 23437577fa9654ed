/** Runs the scenarios in a real browser: `npm run scenarios [-- part of a name …]`. */

import { availableParallelism } from "node:os";
import { chromium } from "playwright-core";
import { findBrowser } from "./browser";
import { scenarios } from "./scenario";
import "../scenarios/all";
import { Desk } from "./desk";

const ARGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--disable-background-timer-throttling",
];
/** Measured ones need the machine for themselves. */
const AT_ONCE = Math.min(3, availableParallelism());

const words = process.argv.slice(2).filter((word) => !word.startsWith("--"));
const measuring = process.argv.includes("--measure");
const browser = await chromium.launch({ executablePath: await findBrowser(), args: ARGS });
const todo = scenarios.filter(
  (one) => one.measured === measuring && (words.length === 0 || words.some((word) => one.name.includes(word))),
);
const failed: string[] = [];
const queue = [...todo];

async function work(): Promise<void> {
  for (let one = queue.shift(); one !== undefined; one = queue.shift()) {
    const start = Date.now();
    let desk: Desk | null = null;
    try {
      desk = await Desk.open(browser, one.name, typeof one.how === "function" ? one.how() : one.how);
      await one.act(desk);
      if (desk.errors.length > 0) throw new Error(`the page reported: ${desk.errors.join("; ")}`);
      console.log(`ok    ${one.name} (${Date.now() - start} ms)`);
    } catch (error) {
      failed.push(one.name);
      console.log(`FAIL  ${one.name} (${Date.now() - start} ms)\n${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
      await desk?.picture(`failed/${one.name.replaceAll(/\W+/g, "-")}`).catch(() => undefined);
    } finally {
      await desk?.end().catch((error: unknown) => console.log(`      ${String(error)}`));
    }
  }
}

await Promise.all(Array.from({ length: measuring ? 1 : AT_ONCE }, work));
await browser.close();
console.log(`${todo.length - failed.length} of ${todo.length} scenarios passed`);
if (todo.length === 0) console.log("No scenario has such a name.");
process.exit(failed.length > 0 || todo.length === 0 ? 1 : 0);
