/** Answers come as unknown: what is used of them is checked, and said where it is not as agreed. */

export class MisfitError extends Error {
  constructor(where: string, wanted: string) {
    super(`${where} should be ${wanted}`);
    this.name = "MisfitError";
  }
}

export type Decoder<T> = (value: unknown, where: string) => T;
export type Decoded<D> = D extends Decoder<infer T> ? T : never;

export const text: Decoder<string> = (value, where) => {
  if (typeof value !== "string") throw new MisfitError(where, "text");
  return value;
};

export const number: Decoder<number> = (value, where) => {
  if (typeof value !== "number" || !Number.isFinite(value)) throw new MisfitError(where, "a number");
  return value;
};

export const flag: Decoder<boolean> = (value, where) => {
  if (typeof value !== "boolean") throw new MisfitError(where, "true or false");
  return value;
};

export function oneOf<T extends string>(...choices: readonly T[]): Decoder<T> {
  return (value, where) => {
    const found = choices.find((choice) => choice === value);
    if (found === undefined) throw new MisfitError(where, choices.join(" or "));
    return found;
  };
}

export function maybe<T>(inner: Decoder<T>): Decoder<T | null> {
  return (value, where) => (value === null || value === undefined ? null : inner(value, where));
}

export function list<T>(inner: Decoder<T>): Decoder<T[]> {
  return (value, where) => {
    if (!Array.isArray(value)) throw new MisfitError(where, "a list");
    return value.map((one: unknown, index) => inner(one, `${where}[${index}]`));
  };
}

/** Keys that are not named are left out: a later version may add some. */
export function object<T extends object>(fields: { [K in keyof T]: Decoder<T[K]> }): Decoder<T> {
  return (value, where) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) throw new MisfitError(where, "an object");
    const given = value as Record<string, unknown>;
    const found: Partial<T> = {};
    for (const key of Object.keys(fields) as (keyof T & string)[]) {
      found[key] = fields[key](given[key], where === "" ? key : `${where}.${key}`);
    }
    return found as T;
  };
}

/** The first that fits. */
export function either<A, B>(first: Decoder<A>, second: Decoder<B>): Decoder<A | B> {
  return (value, where) => {
    try {
      return first(value, where);
    } catch (error) {
      if (!(error instanceof MisfitError)) throw error;
      return second(value, where);
    }
  };
}
