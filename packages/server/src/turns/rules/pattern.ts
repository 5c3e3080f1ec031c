/**
 * The pattern of a rule: what it is about. Made from what an agent has asked for, compared with what one asks for later. Pure.
 *
 * A command is compared by its words, program by program, never by the text that a shell would read. A file that programs obey by
 * themselves, or that holds secrets, is covered by no pattern that allows: it is asked for every time.
 */

import { basename, dirname, isAbsolute, relative, resolve } from "node:path";
import type { AskSubject } from "@blockyard/kernel";
import { guardOfName } from "../../files/guarded-path.ts";
import { commandWords, looseWords } from "./command-words.ts";
import type { Pattern } from "./contract.ts";
import { isMoreThanItsVerb } from "./telling-options.ts";

/** Programs whose first words say what they do; the rest may vary. */
const VERBS =
  /^(git|npm|pnpm|yarn|bun|npx|cargo|go|make|docker|podman|kubectl|gh|glab|pip|pip3|uv|poetry|deno|dotnet|gradle|mvn|terraform|brew|apt|systemctl)$/;
const MORE = new Set(["run", "exec", "x", "dlx", "compose", "tool"]);

/** What a rule made from this would be about; empty where none can be made. `cwd`: the folder of the conversation. */
export function patternsOf(
  subject: AskSubject | undefined,
  cwd: string,
  isDeny: boolean,
): readonly Pattern[] {
  switch (subject?.type) {
    case "command": {
      const found = (commandWords(subject.command) ?? []).map(commandPattern);
      return found.length > MOST_PATTERNS ? [] : unique(found);
    }
    case "diff": {
      const folders = (subject.paths ?? []).map((path) => dirname(resolve(cwd, path)));
      const isGuarded = (subject.paths ?? []).some((path) => guardOf(path, cwd) !== undefined);
      const isInside = folders.every((folder) => within(cwd, folder));
      if (isGuarded || !isInside || folders.length === 0) return [];
      return unique(folders.map((folder) => ({ type: "path", folder }) as const)).slice(0, MOST_PATTERNS);
    }
    case "url": {
      const domain = hostOf(subject.url);
      return domain === undefined ? [] : [{ type: "domain", domain }];
    }
    case "tool":
      // A tool of the agent's own does different things with different inputs: its name alone allows too much.
      if (subject.server === undefined && !isDeny) return [];
      return [
        {
          type: "tool",
          tool: subject.tool,
          ...(subject.server === undefined ? {} : { server: subject.server }),
        },
      ];
    default:
      return [];
  }
}

const MOST_PATTERNS = 5;

function commandPattern(words: readonly string[]): Pattern {
  const [program = "", verb = "", what = ""] = words;
  const isVerb = (word: string) => /^[a-z][\w:.-]*$/i.test(word);
  if (!VERBS.test(basename(program)) || !isVerb(verb) || isMoreThanItsVerb(words))
    return { type: "command", words: [...words], exact: true };
  return { type: "command", words: MORE.has(verb) && isVerb(what) ? [program, verb, what] : [program, verb] };
}

/** Whether patterns together let all of it happen. */
export function allows(patterns: readonly Pattern[], subject: AskSubject, cwd: string): boolean {
  if (subject.type === "command") {
    const commands = commandWords(subject.command);
    if (commands === undefined || (subject.cwd !== undefined && !within(cwd, subject.cwd))) return false;
    return commands.every((words) => patterns.some((pattern) => covers(pattern, words)));
  }
  if (subject.type === "diff") {
    const paths = subject.paths ?? [];
    const isCovered = (path: string) =>
      guardOf(path, cwd) === undefined &&
      patterns.some((pattern) => pattern.type === "path" && within(pattern.folder, resolve(cwd, path)));
    return paths.length > 0 && paths.every(isCovered);
  }
  return patterns.some((pattern) => isSame(pattern, subject));
}

/** Whether a pattern is about any part of it. */
export function denies(pattern: Pattern, subject: AskSubject, cwd: string): boolean {
  if (subject.type === "command" && pattern.type === "command") {
    const commands = commandWords(subject.command);
    if (commands !== undefined) return commands.some((words) => begins(pattern, words));
    const loose = looseWords(subject.command);
    return loose.some((_, i) => pattern.words.every((word, j) => loose[i + j] === word));
  }
  if (subject.type === "diff")
    return (
      pattern.type === "path" &&
      (subject.paths ?? []).some((path) => within(pattern.folder, resolve(cwd, path)))
    );
  return isSame(pattern, subject);
}

/** What a rule allows: the words that it has, and of more only those that do not change what these say. */
function covers(pattern: Pattern, words: readonly string[]): boolean {
  return (
    begins(pattern, words) && ((pattern.type === "command" && pattern.exact) || !isMoreThanItsVerb(words))
  );
}

function begins(pattern: Pattern, words: readonly string[]): boolean {
  if (pattern.type !== "command" || (pattern.exact && pattern.words.length !== words.length)) return false;
  return pattern.words.every((word, i) => words[i] === word);
}

function isSame(pattern: Pattern, subject: AskSubject): boolean {
  if (pattern.type === "domain") return subject.type === "url" && hostOf(subject.url) === pattern.domain;
  return (
    pattern.type === "tool" &&
    subject.type === "tool" &&
    subject.tool === pattern.tool &&
    subject.server === pattern.server
  );
}

/** A pattern in words. */
export function patternWords(pattern: Pattern, cwd: string): string {
  switch (pattern.type) {
    case "command":
      return `\`${pattern.words.map(shown).join(" ")}${pattern.exact ? "" : " …"}\``;
    case "path": {
      const folder = within(cwd, pattern.folder) ? relative(cwd, pattern.folder) : pattern.folder;
      return folder === "" ? "edits in this folder" : `edits in ${folder}/`;
    }
    case "domain":
      return pattern.domain;
    case "tool":
      return pattern.server === undefined ? pattern.tool : `${pattern.tool} of ${pattern.server}`;
  }
}

function shown(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word);
}

export function within(folder: string, path: string): boolean {
  const from = relative(folder, path);
  return from === "" || (!isAbsolute(from) && from !== ".." && !from.startsWith("../"));
}

/** Why a file of the folder is guarded. What is outside is, too. */
function guardOf(path: string, cwd: string): string | undefined {
  const whole = resolve(cwd, path);
  return within(cwd, whole) ? guardOfName(relative(cwd, whole)) : "it is outside of the folder";
}

function hostOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).hostname || undefined : undefined;
}

function unique(patterns: readonly Pattern[]): readonly Pattern[] {
  return [...new Map(patterns.map((pattern) => [JSON.stringify(pattern), pattern])).values()];
}
