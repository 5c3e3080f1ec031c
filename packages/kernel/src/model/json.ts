/** JSON values, and the two checks for values from outside before they are stored: depth and prototype keys. */

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

/** Read-only, all the way down. */
export type ReadonlyDeep<T> = T extends readonly (infer Item)[]
  ? readonly ReadonlyDeep<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: ReadonlyDeep<T[Key]> }
    : T;

/** As JSON has it: absent fields are missing, never undefined. */
export type Exact<T> = T extends readonly (infer Item)[]
  ? readonly Exact<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Exact<Exclude<T[Key], undefined>> }
    : T;

/** Fields that may be undefined become optional. */
type Defined<T> = {
  readonly [Key in keyof T as undefined extends T[Key] ? never : Key]: T[Key];
} & { readonly [Key in keyof T as undefined extends T[Key] ? Key : never]?: Exclude<T[Key], undefined> };

/** The fields that have a value. */
export function defined<T extends object>(fields: T): Defined<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>;
}

/** Any value as text. `String()` throws for an object with a `toString` of its own, which JSON may have. */
export function jsonText(value: unknown): string {
  return typeof value === "object" && value !== null ? JSON.stringify(value) : String(value);
}

/** A value by a name that somebody else has chosen: `toString` is no value of a record without one. */
export function ownValue<T>(record: { readonly [name: string]: T } | undefined, name: string): T | undefined {
  return record !== undefined && Object.hasOwn(record, name) ? record[name] : undefined;
}

const POLLUTING = new Set(["__proto__", "constructor", "prototype"]);

/**
 * A copy without the keys that could reach a prototype, or undefined where it is deeper than `maxDepth` or not JSON.
 * Numbers that JSON cannot write become null, as JSON.stringify would make them.
 */
export function cleanJson(value: unknown, maxDepth: number): Json | undefined {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (typeof value !== "object" || maxDepth <= 0) return undefined;
  if (Array.isArray(value)) {
    const list: Json[] = [];
    for (const item of value) {
      const clean = item === undefined ? null : cleanJson(item, maxDepth - 1);
      if (clean === undefined) return undefined;
      list.push(clean);
    }
    return list;
  }
  const object: Record<string, Json> = {};
  for (const key of Object.keys(value)) {
    const item = (value as Record<string, unknown>)[key];
    if (item === undefined || POLLUTING.has(key)) continue;
    const clean = cleanJson(item, maxDepth - 1);
    if (clean === undefined) return undefined;
    object[key] = clean;
  }
  return object;
}

/** Whether two JSON values are equal, the order of keys aside. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, i) => sameJson(item, b[i]));
  }
  const left = a as Record<string, unknown>;
  const right = b as Record<string, unknown>;
  const keys = Object.keys(left);
  return keys.length === Object.keys(right).length && keys.every((key) => sameJson(left[key], right[key]));
}
