import type { Desk, How } from "./desk";

export interface Scenario {
  name: string;
  how: How | (() => How);
  act: (desk: Desk) => Promise<void>;
  measured: boolean;
}

export const scenarios: Scenario[] = [];

export function scenario(name: string, how: How | (() => How), act: (desk: Desk) => Promise<void>): void {
  scenarios.push({ name, how, act, measured: false });
}

/** Run by `npm run measure`, one at a time: prints figures and asserts none. */
export function measurement(name: string, how: How | (() => How), act: (desk: Desk) => Promise<void>): void {
  scenarios.push({ name, how, act, measured: true });
}
