/**
 * A shell's command, taken apart into the programs that it starts and their words. Only what reads the same to every shell is taken
 * apart: as soon as something would be expanded, substituted or redirected, nobody here knows what runs, and there are no words.
 */

/** The words of each program that a command starts, in order; undefined where that cannot be known. */
export function commandWords(text: string): readonly (readonly string[])[] | undefined {
  const commands: string[][] = [];
  let words: string[] = [];
  let word: string | undefined;
  const endWord = () => {
    if (word !== undefined) words.push(word);
    word = undefined;
  };
  const endCommand = () => {
    endWord();
    if (words.length > 0) commands.push(words);
    words = [];
  };
  for (let i = 0; i < text.length; i++) {
    const char = text[i] as string;
    if (char === " " || char === "\t") endWord();
    else if (char === "\n" || char === ";" || char === "&" || char === "|") endCommand();
    else if (char === "'" || char === '"') {
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
  const isPlain = commands.every(([first = ""]) => !RESERVED.has(first) && !/^\w+\+?=/.test(first));
  return isPlain && commands.length > 0 ? commands : undefined;
}

/** The words of a text however it is written, for what refuses: rather one too many than one too few. */
export function looseWords(text: string): readonly string[] {
  return text.split(/[\s;&|()<>{}`"'$\\=]+/).filter((word) => word !== "");
}

/** Expansions, substitutions, redirections, groups, patterns, escapes. */
const SPECIAL = /[$`\\(){}<>*?[\]~!]/;
/** What a terminal does not show as a character of its own. */
const HIDDEN = /[^\P{C}\n]|[^\P{Z} ]/u;
/** Words after which a shell reads something else than a program. */
const RESERVED = new Set(
  "if then else elif fi for while until do done case esac select function time coproc in eval exec source . command builtin env sudo xargs nohup".split(
    " ",
  ),
);
