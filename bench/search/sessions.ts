/**
 * Sessions to search in, as many as it takes: texts made from seeds like those of corpus.ts, but with new words for as long as
 * they go on, as real sessions have them: identifiers, paths, hashes, numbers. About as many different words per megabyte as
 * in code and documentation. Every session is made from its own number, so that any of them can be made alone.
 */
import type { Kind } from "@blockyard/kernel";

export interface SessionBlock {
  readonly kind: Kind;
  readonly text: string;
  readonly path?: string;
}

/** Bytes of a session, roughly. */
export const SESSION_BYTES = 2_000_000;

/** Sessions of one workspace. */
export const WORKSPACE_SESSIONS = 5;

/** In every store, whatever its size: names that only some sessions have, each in twelve blocks of the last ten sessions. */
export const KNOWN_NAMES = [
  "retryBudgetExhausted",
  "ECONNRESET_UPSTREAM",
  "parseLeaseHeader",
  "0x7ffe3c21",
  "flushBeforeFork",
  "kitchen sink",
  "Überlauf",
  "leaseTable.rotate(",
  "SIGPWR at frame",
] as const;

export function workspaceOf(session: number): string {
  return `/home/ada/work-${Math.floor(session / WORKSPACE_SESSIONS)}`;
}

/** The blocks of a session. `fromEnd`: how many sessions come after it. */
export function* blocksOf(
  words: readonly string[],
  session: number,
  fromEnd: number,
): Generator<SessionBlock> {
  const random = randomSource(1_000 + session);
  const workspace = workspaceOf(session);
  for (let bytes = 0, count = 0; bytes < SESSION_BYTES; count++) {
    const chars = [300, 900, 2_000, 4_000, 7_000, 20_000, 1_500, 600][Math.floor(random() * 8)] as number;
    // Every name in the same places of each of the last sessions: small and large stores have the same hits.
    const known =
      fromEnd < 12 && count >= 40 && count < 40 + KNOWN_NAMES.length ? KNOWN_NAMES[count - 40] : undefined;
    const text = textOf(random, words, chars, workspace, known);
    bytes += text.length;
    const kind = (["text", "command", "code", "file"] as const)[Math.floor(random() * 3.2)] as Kind;
    yield kind === "file"
      ? { kind, text, path: `${workspace}/src/${words[Math.floor(random() * 2_000)]}-${count}.ts` }
      : { kind, text };
  }
}

function textOf(
  random: () => number,
  words: readonly string[],
  chars: number,
  workspace: string,
  known: string | undefined,
): string {
  const lines: string[] = [];
  let length = 0;
  while (length < chars) {
    const line = lineOf(random, words, workspace);
    lines.push(line);
    length += line.length + 1;
  }
  if (known !== undefined) lines[lines.length >> 1] = `  throw new StreamError("${known}", { cause });`;
  return lines.join("\n");
}

function lineOf(random: () => number, words: readonly string[], workspace: string): string {
  // Zipf's law: the n-th word about 1/n as often as the first.
  const word = () => words[Math.floor(words.length ** random()) - 1] as string;
  const some = (count: number) => Array.from({ length: count }, word);
  const kind = random();
  if (kind < 0.55) return `${some(4 + Math.floor(random() * 12)).join(" ")}.`;
  if (kind < 0.75) return `  const ${word()} = ${word()}.${word()}(${some(3).join(", ")});`;
  if (kind < 0.85)
    return `  ${identifier(some(2), random)}: ${identifier(some(3), random)} // ${some(3).join(" ")}`;
  if (kind < 0.9)
    return `${workspace}/src/${word()}/${word()}.ts:${Math.floor(random() * 900)}: ${some(5).join(" ")}`;
  if (kind < 0.95) return `[${Math.floor(random() * 1e9)}] ${word()}: ${some(7).join("=")}`;
  return `commit ${hex(random)}${hex(random)}${hex(random)} ${some(5).join(" ")}`;
}

/** Names that programmers make up: some of them nobody has used before. */
function identifier(parts: readonly string[], random: () => number): string {
  const joined = parts
    .map((part, i) => (i === 0 ? part : (part[0] as string).toUpperCase() + part.slice(1)))
    .join("");
  return random() < 0.2 ? `${joined}${Math.floor(random() * 100)}` : joined;
}

function hex(random: () => number): string {
  return Math.floor(random() * 2 ** 32)
    .toString(16)
    .padStart(8, "0");
}

function randomSource(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
}
