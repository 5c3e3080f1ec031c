/**
 * A shell's command, taken apart into the programs that it starts and their words. Only what reads the same to every shell is taken
 * apart: as soon as something would be expanded, substituted or redirected, nobody here knows what runs, and there are no words.
 */

import { basename } from "node:path";

/** One program that is started. */
export interface Command {
  readonly words: readonly string[];
  /** It reads the output of the one before it. */
  readonly isPiped: boolean;
}

/** The programs that a command starts, in order; undefined where that cannot be known. */
export function commandsIn(text: string): readonly Command[] | undefined {
  const commands: Command[] = [];
  let words: string[] = [];
  let word: string | undefined;
  let isPiped = false;
  const endWord = () => {
    if (word !== undefined) words.push(word);
    word = undefined;
  };
  const endCommand = () => {
    endWord();
    if (words.length === 0) return;
    commands.push({ words, isPiped });
    words = [];
    isPiped = false;
  };
  for (let i = 0; i < text.length; i++) {
    const char = text[i] as string;
    if (char === " " || char === "\t") endWord();
    else if (char === "\n" || char === ";" || char === "&" || char === "|") {
      endCommand();
      const isSecond = text[i - 1] === "|"; // of `||`, which is no pipe, or of `|&`, which is one
      if (char === "|") isPiped = !isSecond;
      else if (char === ";" || (char === "&" && !isSecond)) isPiped = false;
    } else if (char === "'" || char === '"') {
      const end = text.indexOf(char, i + 1);
      const quoted = end === -1 ? undefined : text.slice(i + 1, end);
      if (quoted === undefined || (char === '"' && /[$`\\!]/.test(quoted)) || HIDDEN.test(quoted))
        return undefined;
      word = `${word ?? ""}${quoted}`;
      i = end;
    } else if (SPECIAL.test(char) || HIDDEN.test(char) || (char === "#" && word === undefined))
      return undefined;
    else word = `${word ?? ""}${char}`;
  }
  endCommand();
  const isPlain = commands.every(
    ({ words: [first = ""] }) => !RESERVED.has(basename(first)) && !/^\w+\+?=/.test(first),
  );
  return isPlain && commands.length > 0 ? commands : undefined;
}

/**
 * The words of a text in any notation, for deny rules: rather one too many than one too few. Once as if quotes and
 * backslashes ended a word, and once as if they were not there.
 */
export function looseWords(text: string): readonly (readonly string[])[] {
  const wordsOf = (each: string) => each.split(/[\s;&|()<>{}`"'$\\=]+/).filter((word) => word !== "");
  return [wordsOf(text), wordsOf(text.replace(/["'\\]/g, ""))];
}

/** Expansions, substitutions, redirections, groups, patterns, escapes. */
const SPECIAL = /[$`\\(){}<>*?[\]~!]/;
/** Characters that a terminal does not show as such. */
const HIDDEN = /[^\P{C}\n]|[^\P{Z} ]/u;
/**
 * Words after which a shell expects something other than a program, programs that start another one, and commands that
 * change the shell itself.
 */
const RESERVED = new Set(
  (
    "if then else elif fi for while until do done case esac select function time coproc in eval exec source . command builtin " +
    "env sudo doas xargs nohup nice ionice timeout setsid stdbuf chroot unshare watch parallel " +
    "export declare typeset local readonly unset set shopt alias unalias hash enable trap pushd popd dirs let read mapfile readarray"
  ).split(" "),
);
