/**
 * The command `npm run -s blocks`: a recording or a session log in, its final blocks out. For people and for checks.
 *
 * The only file of this package that knows Node. It reads, hands bytes to the normalizer or files to an importer, and
 * prints; it decides nothing.
 */

import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { parseArgs } from "node:util";
import { type Folded, fold } from "./fold.ts";
import { HEAD_BYTES, PRINTED_TEXT_CHARS, PRINTED_VALUE_CHARS } from "./limits.ts";
import { type LogFile, logBytes } from "./log.ts";
import { normalize } from "./normalize.ts";
import { recognise } from "./recognise.ts";
import { type Provider, providers } from "./registry.ts";
import { summaryOf } from "./summary.ts";
import { treeText } from "./tree.ts";

const HELP = `Prints the blocks of a recorded stream or of a session log.

  npm run -s blocks -- [options] FILE      FILE may be - for standard input

  --provider NAME   ${[...providers.keys()].join(" | ")}; without it the format is recognised
  --log             read FILE as a session log of that provider, not as a stream
  --chunk N         feed the stream in pieces of N bytes (the result is the same)
  --pretty          draw the tree instead of printing JSON
  --help            this text

One JSON object per line and block: id, parent, kind, role, status, text, metadata. Then one line
{"turns": [...], "unknown": {type: count}, "kinds": {kind: count}, "asks": {opened, answered, expired, open}, "usage": {...}}.
`;

/** Exit code: 0, or 2 with the reason on standard error. */
export function main(
  args: readonly string[],
  print: (text: string) => void,
  complain: (text: string) => void,
): number {
  const options = readOptions(args);
  if (typeof options === "string") {
    complain(`${options}\n\n${HELP}`);
    return 2;
  }
  if (options.help) {
    print(HELP);
    return 0;
  }
  const result = blocksOf(options);
  if (typeof result === "string") {
    complain(`${result}\n`);
    return 2;
  }
  print(options.pretty ? prettyText(result) : jsonText(result));
  return 0;
}

interface Options {
  readonly file: string;
  readonly provider: string | undefined;
  readonly chunk: number | undefined;
  readonly isLog: boolean;
  readonly pretty: boolean;
  readonly help: boolean;
}

function readOptions(args: readonly string[]): Options | string {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        provider: { type: "string" },
        chunk: { type: "string" },
        log: { type: "boolean" },
        pretty: { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    });
    const help = values.help === true;
    const chunk = values.chunk === undefined ? undefined : Number(values.chunk);
    if (chunk !== undefined && !(Number.isInteger(chunk) && chunk > 0)) {
      return `--chunk takes a number of bytes from 1 on, not ${values.chunk}`;
    }
    if (!help && positionals.length !== 1) return `give one FILE, not ${positionals.length}`;
    return {
      file: positionals[0] ?? "",
      provider: values.provider,
      chunk,
      isLog: values.log === true,
      pretty: values.pretty === true,
      help,
    };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function blocksOf(options: Options): Folded | string {
  const path = options.file === "-" ? "-" : located(options.file);
  const bytes = readInput(path, options.file);
  if (typeof bytes === "string") return bytes;
  const head = new TextDecoder().decode(bytes.subarray(0, HEAD_BYTES));
  const found = recognise(head);
  const name = options.provider ?? found?.provider;
  if (name === undefined) {
    if (head.trim() === "") return fold([]);
    return `cannot tell which provider wrote ${options.file}: name it with --provider ${[...providers.keys()].join("|")}`;
  }
  const provider = providers.get(name);
  if (provider === undefined) return `no provider ${name}: there are ${[...providers.keys()].join(", ")}`;
  const isLog = options.isLog || (found?.source === "log" && found.provider === name);
  if (!isLog) return normalize(provider, chunksOf(bytes, options.chunk));
  return readLog(provider, path, bytes);
}

/** npm runs scripts in the repository's folder; a path is relative to where the command was typed. */
function located(file: string): string {
  const typed = resolve(process.env["INIT_CWD"] ?? ".", file);
  return statSync(typed, { throwIfNoEntry: false }) === undefined ? file : typed;
}

function readInput(path: string, given: string): Uint8Array | string {
  try {
    return readFileSync(path === "-" ? 0 : path);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return `cannot read ${given} (${reason}): give the path of a recorded stream or session log, or - for standard input`;
  }
}

function readLog(provider: Provider, file: string, bytes: Uint8Array): Folded | string {
  if (provider.importLog === undefined) return `${provider.name} has no session logs that can be imported`;
  const folder = dirname(file);
  const main = logBytes(basename(file), () => bytes);
  const sidecars = file === "-" ? [] : sidecarsOf(folder, basename(file));
  return fold(provider.importLog({ main, sidecars }, "run"));
}

/** Everything in the folder named after the session, and other logs beside it; the importer knows which are its own. */
function sidecarsOf(folder: string, main: string): readonly LogFile[] {
  const own = join(folder, main.replace(/\.jsonl$/, ""));
  const beside = readdirSync(folder)
    .filter((name) => name !== main && name.endsWith(".jsonl"))
    .map((name) => join(folder, name));
  return [...beside, ...filesBelow(own)].sort().map((path) => {
    const name = relative(folder, path).split(sep).join("/");
    return logBytes(name, () => readFileSync(path));
  });
}

function filesBelow(folder: string): readonly string[] {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

function* chunksOf(bytes: Uint8Array, size: number | undefined): Iterable<Uint8Array> {
  const step = size ?? 64 * 1024;
  for (let from = 0; from < bytes.length; from += step) yield bytes.subarray(from, from + step);
}

function jsonText(result: Folded): string {
  const lines = result.blocks.map((block) => JSON.stringify(block));
  lines.push(JSON.stringify({ turns: result.turns, unknown: result.unknown, ...summaryOf(result) }));
  return `${lines.join("\n")}\n`;
}

function prettyText(result: Folded): string {
  return treeText(result, {
    textChars: PRINTED_TEXT_CHARS,
    valueChars: PRINTED_VALUE_CHARS,
    digest: (text) => createHash("sha256").update(text).digest("hex").slice(0, 12),
    hidden: ["provider", "turn", "result", "extra", "signature", "opaque"],
  });
}

if (process.argv[1] !== undefined && import.meta.filename === process.argv[1]) {
  process.exitCode = main(
    process.argv.slice(2),
    (text) => process.stdout.write(text),
    (text) => process.stderr.write(text),
  );
}
