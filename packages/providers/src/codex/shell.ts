/**
 * Takes the shell wrapper off a command for display: `/bin/bash -lc 'ls -1'` is `ls -1` to a reader.
 *
 * Codex joins the arguments of the process into one shell-quoted string; this reads such a string back by the
 * shell's own quoting rules. Not a shell: nothing is expanded, and what does not read cleanly is left as it is. So is a program that
 * only has a shell's name, such as one in the workspace: people and rules would take it for the shell.
 */

const SHELLS = new Set(["sh", "bash", "zsh", "dash", "ksh", "ash", "fish"]);
const POWERSHELLS = new Set(["powershell", "pwsh"]);
/** Where systems keep their shells, and where people install others. */
const SHELL_FOLDERS =
  /^(|(\/usr(\/local|\/pkg)?|\/opt\/(homebrew|local))?\/s?bin\/|\/run\/current-system\/sw\/bin\/|\/data\/data\/com\.termux\/files\/usr\/bin\/|[a-z]:\\(windows|program files)\\([\w .]+\\)*)$/i;
/** Options of PowerShell that do not change what is run. */
const POWERSHELL_FLAGS = /^-(noprofile|nologo|noninteractive|nop|noni|c|command)$/i;

/** The script that a shell runs; the command itself without a shell. */
export function unwrapCommand(command: string): string {
  // Only a wrapper is worth reading: a command of a megabyte is not split for nothing.
  if (!/^\s*["']?[^\s"']*(sh|powershell\.exe|pwsh\.exe|cmd|cmd\.exe)["']?\s/i.test(command.slice(0, 300)))
    return command;
  const words = splitWords(command);
  return words === undefined ? command : (scriptOf(words) ?? command);
}

/** The same for a command that came as a list of arguments. */
export function unwrapWords(words: readonly string[]): string {
  return scriptOf(words) ?? joinWords(words);
}

/** Arguments as one line that a shell would parse back the same way. */
export function joinWords(words: readonly string[]): string {
  return words.map(quoteWord).join(" ");
}

/** The words of a shell command line, quotes and escapes resolved; undefined where a quote never closes. */
export function splitWords(line: string): readonly string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  for (let i = 0; i < line.length; i++) {
    const c = line[i] as string;
    if (c === " " || c === "\t" || c === "\n") {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (c === "'") {
      const end = line.indexOf("'", i + 1);
      if (end === -1) return undefined;
      word = (word ?? "") + line.slice(i + 1, end);
      i = end;
    } else if (c === '"') {
      const quoted = readDoubleQuoted(line, i + 1);
      if (quoted === undefined) return undefined;
      word = (word ?? "") + quoted.text;
      i = quoted.end;
    } else if (c === "\\") {
      if (i + 1 >= line.length) return undefined;
      const next = line[++i] as string;
      word = (word ?? "") + (next === "\n" ? "" : next);
    } else {
      const end = endOfPlain(line, i);
      word = (word ?? "") + line.slice(i, end);
      i = end - 1;
    }
  }
  if (word !== undefined) words.push(word);
  return words;
}

function endOfPlain(line: string, start: number): number {
  const special = /[\s'"\\]/g;
  special.lastIndex = start;
  return special.exec(line)?.index ?? line.length;
}

/** Inside double quotes a backslash is special before `$`, backquote, `"`, itself and a newline only. */
function readDoubleQuoted(line: string, start: number): { text: string; end: number } | undefined {
  let text = "";
  let from = start;
  for (let i = start; i < line.length; i++) {
    const c = line[i];
    if (c === '"') return { text: text + line.slice(from, i), end: i };
    if (c !== "\\") continue;
    const next = line[i + 1];
    if (next === "\n") text += line.slice(from, i);
    else if (next === "$" || next === "`" || next === '"' || next === "\\")
      text += line.slice(from, i) + next;
    else continue;
    from = i + 2;
    i++;
  }
  return undefined;
}

/** `[bash, -lc, script]`, `[powershell.exe, -NoProfile, -Command, script]`, `[cmd, /c, script]` → script. */
function scriptOf(words: readonly string[]): string | undefined {
  const [path = ""] = words;
  const shell = baseName(path);
  if (!SHELL_FOLDERS.test(path.slice(0, folderLength(path)))) return undefined;
  const script = words.at(-1);
  const flags = words.slice(1, -1);
  if (script === undefined || flags.length === 0) return undefined;
  if (SHELLS.has(shell)) {
    const [last, ...others] = [...flags].reverse();
    const isScript = /^-[a-z]*c$/.test(last ?? "") && others.every((flag) => /^--?[a-z-]+$/.test(flag));
    return isScript ? script : undefined;
  }
  if (POWERSHELLS.has(shell)) {
    const isScript =
      /^-c(ommand)?$/i.test(flags.at(-1) ?? "") && flags.every((flag) => POWERSHELL_FLAGS.test(flag));
    return isScript ? script : undefined;
  }
  if (shell === "cmd") return flags.every((flag) => /^\/[a-z]$/i.test(flag)) ? script : undefined;
  return undefined;
}

function folderLength(path: string): number {
  return Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1;
}

function baseName(path: string): string {
  const name = path.slice(folderLength(path)).toLowerCase();
  return name.endsWith(".exe") ? name.slice(0, -4) : name;
}

function quoteWord(word: string): string {
  if (word !== "" && /^[A-Za-z0-9_\-./:=@%+,^]+$/.test(word)) return word;
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
