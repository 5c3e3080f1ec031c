/**
 * Secrets taken out of an export: keys and tokens by their shapes, passwords by the names beside them. Every text of every
 * line is looked at: contents, metadata, titles, turns. A shape that is not here is not found, so the preview shows what
 * was, and people decide.
 */

import { countNewlines, type ExportLine, type Json } from "@blockyard/kernel";

interface Shape {
  readonly name: string;
  readonly pattern: RegExp;
  /** Where the pattern finds more than secrets. */
  readonly isSecret?: (value: string) => boolean;
}

/** What stands in front of a secret that has a name. */
const NAMED =
  /(?:api[_-]?key|secret|token|passw(?:or)?d|authorization|client[_-]?secret|access[_-]?key)["'\\]{0,3}\s{0,3}[:=]\s{0,3}/
    .source;

/** As many letters make a secret of a named value, if it is one word. A few words do, whatever their length. */
const SECRET_CHARS = 8;

/**
 * The first that fits wins. The group `secret`, where there is one, is what is taken out. What begins like a secret and is
 * none is read only as far as the next such beginning, so that a text of nothing but beginnings is read once.
 */
const SHAPES: readonly Shape[] = [
  {
    name: "private key",
    pattern:
      /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----(?:(?!-----BEGIN )[\s\S]){0,20000}?(?:-----END [A-Z ]{0,30}PRIVATE KEY-----|$)/g,
  },
  { name: "Anthropic key", pattern: /\bsk-ant-[\w-]{16,200}/g },
  { name: "OpenAI key", pattern: /\bsk-(?:proj-|svcacct-)?[\w-]{20,200}/g },
  { name: "GitHub token", pattern: /\b(?:gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_\w{20,255})/g },
  { name: "GitLab token", pattern: /\bglpat-[\w-]{16,255}/g },
  { name: "AWS key", pattern: /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g },
  { name: "Google key", pattern: /\bAIza[\w-]{30,60}/g },
  { name: "Slack token", pattern: /\bxox[abeprs]-[\w-]{10,255}/g },
  { name: "Stripe key", pattern: /\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,255}/g },
  { name: "npm token", pattern: /\bnpm_[A-Za-z0-9]{30,64}/g },
  { name: "Hugging Face token", pattern: /\bhf_[A-Za-z0-9]{20,64}/g },
  { name: "JSON web token", pattern: /\beyJ(?:\w|-(?!eyJ)){8,4000}\.eyJ[\w-]{8,8000}\.[\w-]{8,2000}/g },
  {
    name: "password in a URL",
    pattern: /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@]{1,200}:(?<secret>[^\s/@]{1,200})@/g,
  },
  { name: "bearer token", pattern: /\b[Bb]earer\s+(?<secret>[\w.~+/-]{16,4000}=*)/g },
  {
    // Up to its own quotation mark, as often escaped as that one; or to the end of a text that was cut.
    name: "named secret",
    pattern: new RegExp(
      `${NAMED}(\\\\{0,3}["'\`])(?<secret>(?:(?!(?<!\\\\)\\1)[^\\r\\n]){3,4000})(?:\\1|$)`,
      "gi",
    ),
    isSecret: isNamedSecret,
  },
  {
    name: "named secret",
    pattern: new RegExp(`${NAMED}["'\`\\\\]{0,3}(?<secret>[^\\s"'\\\\,;&]{8,4000})`, "gi"),
  },
];

/** The fields of an object that stay as they are, and those below it that have such fields. */
interface Untouched {
  readonly keys: readonly string[];
  readonly below?: Readonly<Record<string, Untouched>>;
}

/**
 * What the provider needs back byte for byte, pictures and ids: chance hits in them would only break them. By their places,
 * not by their names: the fields of a tool's input have whatever names their tool gave them.
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
  /** The block, or the line's type where it is none. */
  readonly where: string;
  /** The secret's first characters, and how long it is. Never more. */
  readonly sample: string;
}

export type Found = (finding: Finding) => void;

export function redactText(text: string, found: (name: string, secret: string) => void): string {
  if (text.length < 8) return text;
  let clean = text;
  for (const { name, pattern, isSecret } of SHAPES) {
    clean = clean.replace(pattern, (whole: string, ...rest: unknown[]) => {
      const groups = rest.at(-1);
      const secret = typeof groups === "object" ? (groups as { secret: string }).secret : whole;
      if (isSecret ? !isSecret(secret) : secret.startsWith("[redacted")) return whole;
      found(name, secret);
      const at = whole.lastIndexOf(secret);
      return `${whole.slice(0, at)}[redacted ${name}]${whole.slice(at + secret.length)}`;
    });
  }
  return clean;
}

/** Not a short word, as in `"token": "none"`; nor what is left of a value whose secret was taken out already. */
function isNamedSecret(value: string): boolean {
  const rest = value.replaceAll(/\[redacted [^\]]{1,40}\]/g, "").trim();
  if (rest !== value.trim()) return !/^(bearer|basic|)$/i.test(rest);
  return rest.length >= SECRET_CHARS || /\s/.test(rest);
}

export function redactLine(line: ExportLine, found: Found): ExportLine {
  const where = line.type === "block" ? line.block_id : line.type;
  const seen = (name: string, secret: string) => found({ name, where, sample: sampleOf(secret) });
  const clean = redactValue(line as unknown as Json, seen, LINE) as unknown as ExportLine;
  if (clean.type !== "block") return clean;
  return { ...clean, chars: clean.content.length, newlines: countNewlines(clean.content) };
}

export async function* redactLines(
  lines: AsyncIterable<ExportLine>,
  found: Found,
): AsyncGenerator<ExportLine> {
  for await (const line of lines) yield redactLine(line, found);
}

type Seen = (name: string, secret: string) => void;

function redactValue(value: Json, seen: Seen, untouched: Untouched): Json {
  if (typeof value === "string") return redactText(value, seen);
  if (Array.isArray(value)) return value.map((item: Json) => redactValue(item, seen, untouched));
  if (typeof value !== "object" || value === null) return value;
  const clean: Record<string, Json> = {};
  for (const [key, item] of Object.entries(value)) {
    const isKept = typeof item === "string" && untouched.keys.includes(key);
    clean[key] = isKept ? item : redactField(key, item, seen, untouched.below?.[key] ?? NOTHING);
  }
  return clean;
}

/** A field's name may be what makes its value a secret. */
function redactField(key: string, value: Json, seen: Seen, untouched: Untouched): Json {
  if (typeof value !== "string") return redactValue(value, seen, untouched);
  const isNamed =
    /^(api[_-]?key|secret|password|passwd|client[_-]?secret|access[_-]?(key|token)|authorization)$/i;
  if (isNamed.test(key) && isNamedSecret(value)) {
    seen("named secret", value);
    return "[redacted named secret]";
  }
  return redactText(value, seen);
}

function sampleOf(secret: string): string {
  return `${secret.slice(0, 4)}… (${secret.length} characters)`;
}
