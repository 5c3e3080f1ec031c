/**
 * What in git's configuration of a folder runs programs, or leads to a configuration that may: every setting that is not known to
 * be harmless. New versions of git get new ways to run something; a setting that nobody here knows asks once.
 *
 * Looked at wherever git finds a configuration by itself: in `.git`, where a `.git` file leads, in a bare repository that lies open
 * in the folder, and in the files that these include.
 */

import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** A setting as `section.key = value`. */
export interface GitSetting {
  readonly name: string;
  readonly value: string;
}

const HARMLESS: readonly RegExp[] = [
  /^core\.(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol|safecrlf|quotepath|untrackedcache|preloadindex|abbrev|compression|longpaths|protecthfs|protectntfs|sparsecheckout|sparsecheckoutcone|commitgraph|multipackindex)$/,
  /^remote\.(url|pushurl|fetch|push|prune|prunetags|tagopt|mirror|promisor|partialclonefilter|skipdefaultupdate|gh-resolved|pushdefault)$/,
  /^branch\.(remote|merge|rebase|pushremote|description|autosetupmerge|autosetuprebase|sort|[a-z-]*merge-base|github-pr-owner-number|gk-.*)$/,
  /^submodule\.(url|active|branch|path|ignore|recurse|fetchrecursesubmodules)$/,
  /^user\.(name|email|signingkey|useconfigonly)$/,
  /^extensions\.(objectformat|partialclone|preciousobjects|refstorage|relativeworktrees|noop)$/,
  /^(pull|push|fetch|rebase|merge|commit|tag|status|log|color|column|advice|gc|index|pack|rerere|init|maintenance|feature|receive|transfer|checkout|stash|format|notes|versionsort|lfs|gui|gitg|gitflow|gitbutler|jj)\.(default|ff|rebase|autosetupremote|followtags|prune|prunetags|all|parallel|autosquash|autostash|updaterefs|conflictstyle|renames|renamelimit|log|stat|gpgsign|verbose|status|showuntrackedfiles|short|branch|showstash|date|decorate|abbrevcommit|ui|diff|interactive|auto|autodetach|version|threads|windowmemory|enabled|autoupdate|defaultbranch|strategy|schedule|repo|manyfiles|fsckobjects|denycurrentbranch|denynonfastforwards|sort|repositoryformatversion|locksverify|access|[a-z0-9]*hint|wmstate|geometry)$/,
  /^diff\.(algorithm|renames|renamelimit|colormoved|colormovedws|mnemonicprefix|noprefix|context|indentheuristic|submodule|wordregex|statgraphwidth)$/,
  /^http\.(postbuffer|version|lowspeedlimit|lowspeedtime|sslverify|extraheader)$/,
  /^credential\.(username|usehttppath|interactive)$/,
];
const INCLUDES = /^(include|includeif)\.path$/;
const MAX_BYTES = 1024 * 1024;
const MAX_INCLUDES = 20;

/** The files of git's configuration in a folder, each with its settings that count. Files with none are left out. */
export function gitConfigs(
  folder: string,
): readonly { readonly path: string; readonly runs: readonly GitSetting[] }[] {
  const found: { path: string; runs: readonly GitSetting[] }[] = [];
  const waiting = gitFolders(folder).flatMap((git) => [join(git, "config"), join(git, "config.worktree")]);
  for (const path of waiting) {
    const text = readText(path);
    if (text === undefined) continue;
    const runs = settingsIn(text).filter(({ name }) => !HARMLESS.some((each) => each.test(name)));
    if (runs.length > 0) found.push({ path, runs });
    if (waiting.length > MAX_INCLUDES) continue; // that it includes something is asked for all the same
    for (const { name, value } of runs) {
      const to = resolve(dirname(path), value.replace(/^~(?=\/)/, process.env["HOME"] ?? "~"));
      if (INCLUDES.test(name) && !waiting.includes(to)) waiting.push(to);
    }
  }
  return found;
}

/** Where git looks for hooks and configuration. */
export function gitFolders(folder: string): readonly string[] {
  const git = join(folder, ".git");
  const stat = statSync(git, { throwIfNoEntry: false });
  const own = stat?.isDirectory() ? [git] : stat?.isFile() ? ledTo(folder, git) : [];
  const isBare = ["HEAD", "objects", "refs"].every((name) => existsSync(join(folder, name)));
  return [...own, ...(isBare ? [folder] : [])];
}

/** A `.git` that is a file names a folder; that may name one which it shares. */
function ledTo(folder: string, file: string): readonly string[] {
  const to = /^gitdir: *(.+?)\s*$/m.exec(readText(file) ?? "")?.[1];
  if (to === undefined) return [];
  const git = resolve(folder, to);
  const common = readText(join(git, "commondir"))?.trim();
  return common ? [git, resolve(git, common)] : [git];
}

/** In lower case, without subsections. A key may stand behind its section in one line; a value may go on in the next. */
export function settingsIn(text: string): readonly GitSetting[] {
  const settings: GitSetting[] = [];
  let section = "";
  for (const line of text.replace(/\\\r?\n/g, "").split(/\r?\n|\r/)) {
    const [, head, rest = ""] = /^\s*(\[(?:[^\]"\\]|\\.|"(?:[^"\\]|\\.)*")*\])?(.*)$/.exec(line) ?? [];
    if (head) section = /^\[\s*([^\s"\].]*)/.exec(head)?.[1]?.toLowerCase() ?? "";
    const [, key, value = ""] = /^\s*([^\s=#;[]+)\s*=?(.*)$/.exec(rest) ?? [];
    if (key) settings.push({ name: `${section}.${key.toLowerCase()}`, value: unquoted(value) });
  }
  return settings;
}

function unquoted(value: string): string {
  const text = value.trim();
  return text.startsWith('"') ? text.slice(1).replace(/".*$/, "") : text.replace(/\s[#;].*$/, "");
}

function readText(path: string): string | undefined {
  try {
    return statSync(path).size > MAX_BYTES ? undefined : readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
