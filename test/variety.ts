/**
 * Few recordings that between them show what all of them show: for tests that a real browser goes through one by one. A trait is
 * something that a page may draw in its own way: a kind with its role and how it ended, a kind below another, a field of its
 * metadata, a construct of Markdown, an output that is long, the way a turn ended. They are read from the goldens, which say all of that.
 */
import { readFileSync, statSync } from "node:fs";
import { type Recording, recordings } from "./recordings.ts";

/** `EVERY=1` takes all recordings. */
export const isEvery = process.env["EVERY"] === "1";

/** What so many blocks, or bytes, cost is as much as opening another recording. */
const BLOCKS_PER_VISIT = 20;
const BYTES_PER_VISIT = 20_000;
/** A result of more lines than these is closed at first. */
const SHORT_LINES = 10;

const MARKDOWN: readonly (readonly [name: string, pattern: RegExp])[] = [
  ["heading", /^#{1,6} /],
  ["fence", /^```/],
  ["list", /^[-*] /],
  ["numbered list", /^\d+\. /],
  ["table", /^\|.*\|/],
  ["quote", /^> /],
  ["link", /\]\(/],
  ["code", /`[^`]+`/],
  ["bold", /\*\*/],
  ["formula", /\$\$?[^$]+\$/],
  ["rule", /^---/],
  ["tag", /<[a-z]+/],
];
const WITH_MARKDOWN = new Set(["text", "thinking", "tool_result"]);

interface Traits {
  readonly recording: Recording;
  readonly traits: ReadonlySet<string>;
  /** In visits. */
  readonly cost: number;
}

/** The recordings that show the most for what they cost, in that order, until all traits are there or there are enough. */
export function variedRecordings(most = Number.POSITIVE_INFINITY): readonly Recording[] {
  if (isEvery) return recordings;
  let left = recordings.map(traitsOf);
  const chosen: Recording[] = [];
  const seen = new Set<string>();
  const newIn = ({ traits }: Traits) => [...traits].filter((trait) => !seen.has(trait)).length;
  while (chosen.length < most) {
    left = left.filter((each) => newIn(each) > 0);
    const worth = (each: Traits) => newIn(each) / each.cost;
    const [best] = left.toSorted((a, b) => worth(b) - worth(a));
    if (best === undefined) break;
    for (const trait of best.traits) seen.add(trait);
    chosen.push(best.recording);
  }
  return chosen;
}

/** Of all recordings, or of these. */
export function allTraits(of = recordings): ReadonlySet<string> {
  return new Set(of.flatMap((recording) => [...traitsOf(recording).traits]));
}

function traitsOf(recording: Recording): Traits {
  const traits = new Set([
    `${recording.provider} ${recording.source}`,
    recording.name.split("/", 1)[0] ?? "",
  ]);
  const golden = `${recording.path.replace(/\.(jsonl|json|sse)$/, "")}.blocks.txt`;
  let above: readonly string[] = [];
  let [blocks, lines] = [0, 0];
  for (const line of readFileSync(golden, "utf8").split("\n")) {
    const kind = above.at(-1) ?? "";
    const [, indent, head] = /^( *)● (.*?) {2}/.exec(line) ?? [];
    if (indent !== undefined && head !== undefined) {
      const parents = above.slice(0, indent.length / 4);
      const own = head.split(" ", 1)[0] ?? "";
      traits.add(head).add(`${own} in ${parents.at(-1)}`);
      above = [...parents, own];
      blocks++;
      lines = 0;
      continue;
    }
    const text = /^ *│ ?(.*)$/.exec(line)?.[1];
    if (text !== undefined) {
      if (++lines > SHORT_LINES) traits.add(`${kind} that is long`);
      if (WITH_MARKDOWN.has(kind))
        for (const [name, pattern] of MARKDOWN) if (pattern.test(text)) traits.add(`${kind} with a ${name}`);
    } else if (line.startsWith(" ")) {
      for (const name of fieldsIn(line)) traits.add(`${kind}.${name}`);
    } else {
      const ended = /^turn \S+ \S+ (\S+(?: \(\S+\))?)/.exec(line)?.[1];
      if (ended !== undefined) traits.add(`turn ${ended}`);
    }
  }
  const { size } = statSync(recording.path);
  return { recording, traits, cost: 1 + blocks / BLOCKS_PER_VISIT + size / BYTES_PER_VISIT };
}

/** The names of fields in a line of `name=value`, without those inside of values. */
function fieldsIn(line: string): readonly string[] {
  const bare = line.replace(/"(?:[^"\\]|\\.)*"|\{.*?\}(?= \w+=|$)/g, "");
  return [...bare.matchAll(/(?:^|\s)([a-zA-Z]+)=/g)].map(([, name = ""]) => name);
}
