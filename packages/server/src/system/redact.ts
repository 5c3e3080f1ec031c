/**
 * Secrets taken out of an export: keys and tokens by their shapes, passwords by the names beside them. Every text of every
 * line is looked at: contents, metadata, titles, turns. Long words that look as if chance had made them go too, whatever
 * they are. What has no shape (a short password in a sentence, a name, an address, a picture) is not found, so the preview
 * shows what was, and people decide.
 */

import type { ExportLine } from "@blockyard/kernel";
import { countNewlines, type Json } from "@blockyard/kernel/plain";
import { CERTAIN_SHAPES, isNamedSecret, SHAPES, type Shape } from "./secret-shapes.ts";

/** The fields of an object that stay unchanged, and those below it that have such fields. */
interface Untouched {
  readonly keys: readonly string[];
  readonly below?: Readonly<Record<string, Untouched>>;
}

/**
 * Values that the provider needs back byte for byte, pictures and ids: false hits in them would only break them. By
 * their places, not by their names: a tool's input has any field names.
 */
const LINE: Untouched = {
  keys: ["block_id", "parent_id", "conversation", "head", "epoch"],
  below: {
    metadata: {
      keys: ["data", "blob", "signature", "opaque"],
      below: { images: { keys: ["data", "blob"] } },
    },
  },
};
const NOTHING: Untouched = { keys: [] };

export interface Finding {
  readonly name: string;
  /** The block, or the line's type if it is none. */
  readonly where: string;
  /** The secret's first characters, and how long it is. Never more. */
  readonly sample: string;
}

export type Found = (finding: Finding) => void;

/** Called with a secret; if it returns false, that one stays. */
export type Seen = (name: string, secret: string) => unknown;

export function redactText(text: string, found: Seen): string {
  return without(SHAPES, text, found);
}

/** Without certain secrets: an id looks like one in every other way. */
export function redactId(id: string, found: Seen): string {
  return without(CERTAIN_SHAPES, id, found);
}

function without(shapes: readonly Shape[], text: string, found: Seen): string {
  if (text.length < 8) return text;
  let clean = text;
  for (const { name, pattern, isSecret } of shapes) {
    clean = clean.replace(pattern, (whole: string, ...rest: unknown[]) => {
      const groups = rest.at(-1);
      const secret = typeof groups === "object" ? (groups as { secret: string }).secret : whole;
      if (isSecret ? !isSecret(secret) : secret.startsWith("[redacted")) return whole;
      if (found(name, secret) === false) return whole;
      const at = whole.lastIndexOf(secret);
      return `${whole.slice(0, at)}[redacted ${name}]${whole.slice(at + secret.length)}`;
    });
  }
  return clean;
}

export function redactLine(line: ExportLine, found: Found): ExportLine {
  const where = line.type === "block" ? line.block_id : line.type;
  const seen = (name: string, secret: string) => found({ name, where, sample: sampleOf(secret) });
  // Only texts change: the line keeps its structure.
  const clean = redactValue(line, seen, LINE) as ExportLine;
  if (clean.type !== "block") return clean;
  return { ...clean, chars: clean.content.length, newlines: countNewlines(clean.content) };
}

export async function* redactLines(
  lines: AsyncIterable<ExportLine>,
  found: Found,
): AsyncGenerator<ExportLine> {
  for await (const line of lines) yield redactLine(line, found);
}

function redactValue(value: Json, seen: Seen, untouched: Untouched): Json {
  if (typeof value === "string") return redactText(value, seen);
  if (Array.isArray(value)) return value.map((item: Json) => redactValue(item, seen, untouched));
  if (typeof value !== "object" || value === null) return value;
  const clean: Record<string, Json> = {};
  for (const [key, item] of Object.entries(value)) {
    const isKept = typeof item === "string" && untouched.keys.includes(key);
    const name = redactKey(key, clean, seen);
    clean[name] = isKept ? item : redactField(key, item, seen, untouched.below?.[key] ?? NOTHING);
  }
  return clean;
}

/** The name of a field may be a secret itself. Two of them stay two. */
export function redactKey(key: string, others: Readonly<Record<string, unknown>>, seen: Seen): string {
  const clean = redactText(key, seen);
  if (clean === key) return key;
  let name = clean;
  for (let i = 2; Object.hasOwn(others, name); i++) name = `${clean} ${i}`;
  return name;
}

/** A field's name may be what makes its value a secret. */
export function redactField(key: string, value: Json, seen: Seen, untouched: Untouched = NOTHING): Json {
  if (typeof value !== "string") return redactValue(value, seen, untouched);
  const isNamed =
    /^(api[_-]?key|secret|password|passwd|client[_-]?secret|access[_-]?(key|token)|authorization)$/i;
  if (isNamed.test(key) && isNamedSecret(value) && seen("named secret", value) !== false)
    return "[redacted named secret]";
  return redactText(value, seen);
}

function sampleOf(secret: string): string {
  return `${secret.slice(0, 4)}… (${secret.length} characters)`;
}
