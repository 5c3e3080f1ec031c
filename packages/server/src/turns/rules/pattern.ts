/**
 * The pattern of a rule: what it is about. Made from what an agent has asked for, compared with what one asks for later. Pure.
 *
 * A command is compared by its words, program by program, never by the text that a shell would read. A file that programs obey by
 * themselves, or that holds secrets, is covered by no pattern that allows: it is asked for every time.
 */

import { basename, dirname, isAbsolute, relative, resolve } from "node:path";
import type { AskSubject } from "@blockyard/kernel";
import { guardOfName } from "../../files/guarded-path.ts";
import { LOOSE_WORDS, OFFERED_PATTERNS } from "../limits.ts";
import { type Command, commandsIn, looseWords } from "./command-words.ts";
import type { Pattern } from "./contract.ts";
import { firstWords, isMoreThanItsVerb, isOthersCode, isRemote, runsItsWords } from "./first-words.ts";

/**
 * The pattern of a rule made from this; empty if none can be made. `cwd`: the folder of the conversation. `isExact`:
 * only the command as it is, no longer one.
 */
export function patternsOf(
  subject: AskSubject | undefined,
  cwd: string,
  isDeny: boolean,
  isExact = false,
): readonly Pattern[] {
  switch (subject?.type) {
    case "command": {
      const commands = commandsIn(subject.command) ?? [];
      if (!isDeny && !areApart(commands, cwd)) return [];
      const found = commands.map(({ words }) => commandPattern(words, isDeny, isExact));
      return found.length > OFFERED_PATTERNS ? [] : unique(found);
    }
    case "diff": {
      const folders = (subject.paths ?? []).map((path) => dirname(resolve(cwd, path)));
      const isGuarded = (subject.paths ?? []).some((path) => guardOf(path, cwd) !== undefined);
      const isInside = folders.every((folder) => within(cwd, folder));
      if (isGuarded || !isInside || folders.length === 0) return [];
      return unique(folders.map((folder) => ({ type: "path", folder }) as const)).slice(0, OFFERED_PATTERNS);
    }
    case "url": {
      const domain = hostOf(subject.url);
      return domain === undefined ? [] : [{ type: "domain", domain }];
    }
    case "tool":
      // An agent's own tool does different things with different inputs: its name alone allows too much.
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

function commandPattern(words: readonly string[], isDeny: boolean, isExact: boolean): Pattern {
  const first = isExact ? undefined : firstWords(words, isDeny);
  return first === undefined
    ? { type: "command", words: [...words], exact: true }
    : { type: "command", words: [...first] };
}

/** Whether patterns together let all of it happen. */
export function allows(patterns: readonly Pattern[], subject: AskSubject, cwd: string): boolean {
  if (subject.type === "command") {
    const commands = commandsIn(subject.command);
    const folder = subject.cwd ?? cwd;
    if (commands === undefined || !within(cwd, folder) || !areApart(commands, cwd, folder)) return false;
    return commands.every(({ words }) => patterns.some((pattern) => covers(pattern, words)));
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
    const commands = commandsIn(subject.command);
    const isPlain = commands?.every(({ words: [program = ""] }) => !runsItsWords(program));
    if (commands?.some(({ words }) => isDenied(pattern, words)) === true) return true;
    return isPlain !== true && looseWords(subject.command).some((words) => isAmong(pattern, words));
  }
  if (subject.type === "diff")
    return (
      pattern.type === "path" &&
      (subject.paths ?? []).some((path) => within(pattern.folder, resolve(cwd, path)))
    );
  return isSame(pattern, subject);
}

/**
 * Whether each of several commands does what it does alone. Piping into a program that executes its input does not; nor
 * does anything after a change of the shell itself, or of its folder to one outside. Commands that obey a repository
 * count only in the conversation's folder: a folder below may be made into a repository of its own, with unseen hooks
 * and settings. So do programs and scripts that are named by a path: elsewhere, that path is another file. Nothing counts
 * in a folder with the code of others.
 */
function areApart(commands: readonly Command[], cwd: string, from = cwd): boolean {
  let folder = from;
  for (const { words, isPiped } of commands) {
    const [program = "", to, ...more] = words;
    if (isPiped && !FILTERS.has(program)) return false;
    if (folder !== cwd && (isOthersCode(relative(cwd, folder)) || dependsOnFolder(program))) return false;
    if (commands.length === 1 || program !== "cd") continue;
    folder = resolve(folder, to ?? "/");
    if (more.length > 0 || to?.startsWith("-") === true || !within(cwd, folder)) return false;
  }
  return true;
}

/** Whether one of its programs reaches git's remote. */
export function asksRemote(command: string): boolean {
  return commandsIn(command)?.some(({ words }) => isRemote(words)) === true;
}

function dependsOnFolder(program: string): boolean {
  const isRelative = program.includes("/") && !isAbsolute(program);
  return isRelative || OBEYS_REPOSITORY.has(basename(program)) || runsItsWords(program);
}

const OBEYS_REPOSITORY = new Set(["git", "gh", "glab"]);

/** Programs that print their input, or a part of it. */
const FILTERS = new Set(
  "cat head tail grep egrep fgrep rg wc sort uniq cut tr nl tac rev fold fmt column jq less more".split(" "),
);

/** Whether a denied command begins somewhere among the words. */
function isAmong(pattern: CommandPattern, words: readonly string[]): boolean {
  const most = pattern.exact === true ? pattern.words.length : LOOSE_WORDS;
  return words.some((_, i) => isDenied(pattern, words.slice(i, i + most)));
}

/** Whether a command matches a deny rule, also with options before its verb, or with the path of its program. */
function isDenied({ words: denied, exact }: CommandPattern, words: readonly string[]): boolean {
  const [program = "", ...rest] = denied;
  const [given = "", ...others] = words;
  // Some file systems take a name in any case.
  if (basename(given).toLowerCase() !== basename(program).toLowerCase()) return false;
  if (exact === true) return sameWords(rest, others);
  return verbPlaces(others).some((at) => sameWords(rest, others.slice(at, at + rest.length)));
}

type CommandPattern = Pattern & { readonly type: "command" };

function sameWords(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((word, i) => word === b[i]);
}

/** Possible positions of a command's verb: first, or after options and their possible values. */
function verbPlaces(words: readonly string[]): readonly number[] {
  const places = [0];
  for (const [at, word] of words.entries()) {
    const before = words[at - 1];
    const isValue = before?.startsWith("-") === true && !before.includes("=");
    if (!word.startsWith("-") && !isValue) return [...places, at];
    if (isValue) places.push(at);
  }
  return places;
}

/** A rule's allowed words, followed only by words that do not change their meaning. */
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
      return pattern.server === undefined ? pattern.tool : `${pattern.tool} from ${pattern.server}`;
  }
}

function shown(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word);
}

export function within(folder: string, path: string): boolean {
  const from = relative(folder, path);
  return from === "" || (!isAbsolute(from) && from !== ".." && !from.startsWith("../"));
}

/** Why a file of the folder is guarded. Files outside are, too. */
function guardOf(path: string, cwd: string): string | undefined {
  const whole = resolve(cwd, path);
  return within(cwd, whole) ? guardOfName(relative(cwd, whole)) : "it is outside the folder";
}

function hostOf(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  // With the port, unless it is the default: another port is another program.
  const { protocol, host } = new URL(url);
  return /^https?:$/.test(protocol) ? host || undefined : undefined;
}

function unique(patterns: readonly Pattern[]): readonly Pattern[] {
  return [...new Map(patterns.map((pattern) => [JSON.stringify(pattern), pattern])).values()];
}
