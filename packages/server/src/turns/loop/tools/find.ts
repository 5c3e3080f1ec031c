/**
 * glob and grep: files of the workspace by name, and lines in them by pattern. They walk the folder without following
 * links, past `.git` and `node_modules`, within bounds on how many files they look at and how long.
 */

import { type Dirent, promises as fs } from "node:fs";
import { join, matchesGlob } from "node:path";
import { isProblem, type Problem, problem } from "@blockyard/kernel";
import { z } from "zod";
import {
  FIND_MATCH_MS,
  FIND_MS,
  GLOB_DEPTHS,
  GLOB_STARS,
  GLOB_WAYS,
  LISTED_FILES,
  SEARCHED_BYTES,
  SEARCHED_FILE_BYTES,
  WALKED_FILES,
} from "../limits.ts";
import { failed, loopTool, plain, type ToolRun } from "./tool.ts";
import type { Place, Workspace } from "./workspace.ts";

const SKIPPED = new Set([".git", "node_modules"]);

const folder = z
  .string()
  .max(4_096)
  .default(".")
  .describe("The folder to search, relative to the workspace root");

export const globTool = loopTool({
  name: "glob",
  description:
    "List workspace files whose path matches a pattern such as src/**/*.ts, most recently changed first.",
  input: z.strictObject({ pattern: z.string().min(1).max(1_000), path: folder }),
  async run({ pattern, path }, run) {
    if (!isQuick(pattern)) return failed(tooHard(pattern));
    const place = await run.workspace.place(path);
    if (isProblem(place)) return failed(place);
    const found: { readonly name: string; readonly at: number }[] = [];
    let isMore = false;
    for await (const file of walk(run.workspace, place, run.signal)) {
      if (isProblem(file)) return failed(file);
      const below = place.name === "." ? file.name : file.name.slice(place.name.length + 1);
      if (!fits(below, pattern)) continue;
      const stat = await fs.lstat(file.path).catch(() => undefined);
      if (stat) found.push({ name: file.name, at: stat.mtimeMs });
      if (found.length > 10 * LISTED_FILES) isMore = true;
      if (isMore) break;
    }
    found.sort((a, b) => b.at - a.at || (a.name < b.name ? -1 : 1));
    const shown = found.slice(0, LISTED_FILES).map(({ name }) => name);
    if (isMore || found.length > shown.length) shown.push("[… and more: narrow the pattern …]");
    return plain(
      shown.join("\n") || "No matching files.",
      `${found.length} file${found.length === 1 ? "" : "s"}`,
    );
  },
});

/** A pattern without a slash means a name, at any depth. */
function fits(name: string, pattern: string): boolean {
  const plainPattern = pattern.replace(/^\.\//, "");
  return matchesGlob(name, plainPattern.includes("/") ? plainPattern : `**/${plainPattern}`);
}

/**
 * Whether a pattern matches fast, whatever the name. Node turns it into regular expressions, one for each way through
 * its braces and with one loop for each star, and runs them on the server's main thread.
 */
function isQuick(pattern: string): boolean {
  if (/[*+]\(|\{[^{}]*\.\.[^{}]*\}/.test(pattern)) return false;
  const ways = pattern.split("{").slice(1);
  if (ways.reduce((product, way) => product * way.split(",").length, 1) > GLOB_WAYS) return false;
  const parts = pattern.split("/");
  const stars = (part: string) => part.match(/\*+/g)?.length ?? 0;
  return (
    parts.filter((part) => part === "**").length <= GLOB_DEPTHS &&
    parts.every((part) => stars(part) <= GLOB_STARS)
  );
}

function tooHard(pattern: string): Problem {
  return problem(
    "invalid",
    `${pattern.slice(0, 200)} takes too long to match: at most ${GLOB_STARS} stars in a name, ${GLOB_DEPTHS} times **, ` +
      `${GLOB_WAYS} ways through its braces, and neither {1..9} nor +( nor *(`,
  );
}

export const grepTool = loopTool({
  name: "grep",
  description:
    "Find lines in the workspace's files by a regular expression (RE2: no lookaround, no backreferences).",
  input: z.strictObject({
    pattern: z.string().min(1).max(1_000),
    path: folder,
    glob: z.string().max(1_000).optional().describe("Only files whose path matches this, such as *.ts"),
    literal: z
      .boolean()
      .default(false)
      .describe("Match the pattern as plain text, not as a regular expression"),
    ignore_case: z.boolean().default(false),
    context_lines: z.number().int().min(0).max(10).default(0),
    max_matches: z.number().int().min(1).max(1_000).default(200),
  }),
  async run(input, run) {
    if (input.glob !== undefined && !isQuick(input.glob)) return failed(tooHard(input.glob));
    const place = await run.workspace.place(input.path);
    if (isProblem(place)) return failed(place);
    const search = new Search(input, run);
    for await (const file of walk(run.workspace, place, run.signal)) {
      if (isProblem(file)) return failed(file);
      const refused = await search.look(file);
      if (refused) return failed(refused);
      if (search.isOver) break;
    }
    const matches = search.lines.join("\n");
    const slow = search.slow === 0 ? "" : `\n[… ${search.slow} skipped because the pattern took too long …]`;
    const hidden =
      search.guarded === 0
        ? ""
        : `\n[… ${search.guarded} guarded skipped: read one to ask the owner for access …]`;
    const end = `${slow}${hidden}${search.why === undefined ? "" : `\n[… ${search.why} …]`}`;
    const count = `${search.matches} match${search.matches === 1 ? "" : "es"} in ${search.files} file${search.files === 1 ? "" : "s"}`;
    return plain(`${matches || "No matching lines."}${end}`, count);
  },
});

interface Grep {
  readonly pattern: string;
  readonly glob?: string | undefined;
  readonly literal: boolean;
  readonly ignore_case: boolean;
  readonly context_lines: number;
  readonly max_matches: number;
}

/** One search over many files. */
class Search {
  readonly lines: string[] = [];
  matches = 0;
  files = 0;
  /** Files in which the pattern took too long. */
  slow = 0;
  /** Guarded files, which are read only where they are named and the owner says yes. */
  guarded = 0;
  /** Why it ended before it had seen everything. */
  why: string | undefined;
  readonly #grep: Grep;
  readonly #run: ToolRun;
  readonly #until = performance.now() + FIND_MS;
  #bytes = 0;

  constructor(grep: Grep, run: ToolRun) {
    this.#grep = grep;
    this.#run = run;
  }

  get isOver(): boolean {
    return this.why !== undefined;
  }

  async look(file: Place): Promise<Problem | undefined> {
    const { pattern, glob, literal, ignore_case, context_lines, max_matches } = this.#grep;
    if (glob !== undefined && !fits(file.name, glob)) return undefined;
    const stat = await fs.lstat(file.path).catch(() => undefined);
    if (!stat?.isFile() || stat.size > SEARCHED_FILE_BYTES) return undefined;
    this.#bytes += stat.size;
    if (this.#bytes > SEARCHED_BYTES) this.why = "more files than are searched at once: narrow the path";
    if (performance.now() > this.#until) this.why = "out of time: narrow the path";
    if (this.isOver) return undefined;
    if (this.#run.workspace.guards(file)) {
      this.guarded++;
      return undefined;
    }
    const text = await this.#run.workspace.read(file);
    if (typeof text !== "string") return undefined; // not a text, or deleted meanwhile
    const left = max_matches - this.matches;
    const query = {
      pattern,
      literal,
      ignoreCase: ignore_case,
      contextLines: context_lines,
      maxMatches: left,
    };
    const answer = await this.#run.matcher(text, query, FIND_MATCH_MS);
    if (isProblem(answer) && answer.problem !== "timeout") return answer;
    if (isProblem(answer)) {
      this.slow++;
      return undefined;
    }
    if (answer.matches.length === 0) return undefined;
    this.files++;
    this.matches += answer.matches.length;
    for (const { content, contentLine } of answer.matches) {
      content.split("\n").forEach((line, i) => {
        this.lines.push(`${file.name}:${contentLine + i + 1}:${line}`);
      });
      if (context_lines > 0) this.lines.push("--");
    }
    if (this.matches >= max_matches && answer.more)
      this.why = "more matches: narrow the pattern or raise max_matches";
    return undefined;
  }
}

/** Every file below a folder, in the order of names; a problem if there are too many. */
async function* walk(
  workspace: Workspace,
  from: Place,
  signal: AbortSignal,
): AsyncGenerator<Place | Problem> {
  const pending = [from];
  let seen = 0;
  for (let at = pending.pop(); at !== undefined && !signal.aborted; at = pending.pop()) {
    const entries = await entriesOf(at.path);
    if (entries === undefined) {
      if (at === from) yield problem("not_found", `${at.name} is not a readable folder`);
      continue;
    }
    const below: Place[] = [];
    for (const entry of entries.sort(byName)) {
      const place = {
        path: join(at.path, entry.name),
        name: at.name === "." ? entry.name : `${at.name}/${entry.name}`,
      };
      if (entry.isDirectory() && !SKIPPED.has(entry.name.toLowerCase())) below.push(place);
      if (!entry.isFile()) continue;
      if (++seen > WALKED_FILES)
        return yield problem("too_large", `more than ${WALKED_FILES} files; name a folder`);
      yield place;
    }
    for (const place of below.reverse())
      if (!isProblem(await workspace.place(place.path))) pending.push(place);
  }
}

/** The entries of a folder; undefined if it is none, or is a link by now. */
async function entriesOf(path: string): Promise<Dirent[] | undefined> {
  try {
    const entries = await fs.readdir(path, { withFileTypes: true });
    return (await fs.realpath(path)) === path ? entries : undefined;
  } catch {
    return undefined;
  }
}

function byName(a: Dirent, b: Dirent): number {
  return a.name < b.name ? -1 : 1;
}
