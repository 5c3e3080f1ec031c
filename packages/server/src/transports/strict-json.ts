/**
 * JSON from outside: parsed only if it is not nested too deep, has not too many values, and no object has a duplicate key or
 * `__proto__`. `JSON.parse` accepts all of these: a depth that cannot be serialized again, duplicate keys of which the last
 * wins, so that two readers may see different requests, and a key that a library may drop or, worse, follow. Schemas
 * check the value later.
 *
 * The scan reads the text once and only looks at structure; JSON.parse checks the grammar.
 */

import { limits, type Problem, problem } from "@blockyard/kernel/plain";
import { MAX_OBJECT_KEYS } from "./limits.ts";

/** Deeper than any value that is kept, so that the tools' own, kinder message is the usual one. */
const MAX_DEPTH = limits.jsonDepth + 32;

const TOO_MANY = problem("too_large", `JSON is limited to ${limits.callValues} values`, {
  max_values: limits.callValues,
});

export type Parsed = { readonly json: unknown } | Problem;

/** A body; an empty one is an empty object. */
export function parseBytes(bytes: Uint8Array): Parsed {
  const text = new TextDecoder().decode(bytes);
  return text.trim() === "" ? { json: {} } : parseStrict(text);
}

export function parseStrict(text: string): Parsed {
  const refused = scan(text);
  if (refused) return refused;
  try {
    return { json: JSON.parse(text) as unknown };
  } catch {
    return problem("invalid", "invalid JSON");
  }
}

/** Structure only: text that is no JSON may pass here, and fails in JSON.parse. */
function scan(text: string): Problem | undefined {
  /** Keys of the objects that are open; undefined for arrays. */
  const open: (Set<string> | undefined)[] = [];
  let isKey = false;
  /** Every value but the first of a list or object has a comma before it. */
  let values = 1;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x7b: // {
      case 0x5b: // [
        if (open.length === MAX_DEPTH)
          return problem("invalid", `JSON is limited to a depth of ${MAX_DEPTH}`, { max_depth: MAX_DEPTH });
        if (++values > limits.callValues) return TOO_MANY;
        isKey = text.charCodeAt(at) === 0x7b;
        open.push(isKey ? new Set() : undefined);
        break;
      case 0x7d: // }
      case 0x5d: // ]
        open.pop();
        isKey = false;
        break;
      case 0x2c: // ,
        if (++values > limits.callValues) return TOO_MANY;
        isKey = open.at(-1) !== undefined;
        break;
      case 0x22: {
        const end = endOfString(text, at);
        const keys = isKey ? open.at(-1) : undefined;
        if (keys) {
          const refused = addKey(keys, keyOf(text.slice(at, end + 1)));
          if (refused) return refused;
          isKey = false;
        }
        at = end;
      }
    }
  }
  return undefined;
}

function addKey(keys: Set<string>, key: string): Problem | undefined {
  const name = key.slice(0, 80);
  if (keys.has(key))
    return problem("invalid", `the key ${JSON.stringify(name)} appears twice in one object`, { key: name });
  if (key === "__proto__") return problem("invalid", `a key cannot be named ${key}`, { key });
  if (keys.size === MAX_OBJECT_KEYS)
    return problem("invalid", `an object is limited to ${MAX_OBJECT_KEYS} keys`, {
      max_keys: MAX_OBJECT_KEYS,
    });
  keys.add(key);
  return undefined;
}

/** The index of the closing quote, or of the text's end. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === 0x5c) slashes++;
    if (slashes % 2 === 0) return at;
  }
  return text.length;
}

/** Two spellings of one key are one key. */
function keyOf(quoted: string): string {
  if (!quoted.includes("\\")) return quoted.slice(1, -1);
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return quoted;
  }
}
