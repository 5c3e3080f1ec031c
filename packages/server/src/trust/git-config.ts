/**
 * The settings of a folder's git configuration that run programs, or lead to a configuration that may: every setting
 * that is not known to be harmless. New versions of git get new ways to run something; an unknown setting asks once.
 *
 * It reads every configuration that git finds by itself: in `.git`, where a `.git` file leads, in a bare repository in
 * the folder, and in included files.
 */

import { existsSync, type Stats, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type GitSetting, settingsIn } from "../system/git-settings.ts";
import { smallFile } from "../system/small-file.ts";
import { submodules } from "./git-index.ts";
import { GIT_CONFIG_BYTES, GIT_CONFIG_INCLUDES, SUBMODULE_DEPTH } from "./limits.ts";

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

/** The files of git's configuration in a folder, each with its settings that count. Files with none are left out. */
export function gitConfigs(
  folder: string,
): readonly { readonly path: string; readonly runs: readonly GitSetting[] }[] {
  const found: { path: string; runs: readonly GitSetting[] }[] = [];
  const waiting = gitFolders(folder).flatMap((git) => [join(git, "config"), join(git, "config.worktree")]);
  for (const path of waiting) {
    const settings = settingsOf(path);
    const runs = settings.filter(
      (each) => !HARMLESS.some((known) => known.test(each.name)) && !isOwnPlace(folder, path, each),
    );
    if (runs.length > 0) found.push({ path, runs });
    if (waiting.length > GIT_CONFIG_INCLUDES) continue; // that it includes something is asked for all the same
    for (const { name, value } of runs) {
      const to = resolve(dirname(path), value.replace(/^~(?=\/)/, process.env["HOME"] ?? "~"));
      if (INCLUDES.test(name) && !waiting.includes(to)) waiting.push(to);
    }
  }
  return found;
}

/** The folders of submodules, which git looks into from above, and of theirs. */
export function submodulesBelow(folder: string, depth = SUBMODULE_DEPTH): readonly string[] {
  const own = gitFolders(folder);
  const isLong = own.some((git) => settingsOf(join(git, "config")).some(isSha256));
  const inner = own.flatMap((git) => submodules(git, isLong ? 32 : 20)).map((name) => join(folder, name));
  const here = [...new Set(inner)].filter((each) => existsSync(join(each, ".git")));
  return depth === 0 ? here : here.flatMap((each) => [each, ...submodulesBelow(each, depth - 1)]);
}

function isSha256({ name, value }: GitSetting): boolean {
  return name === "extensions.objectformat" && value.toLowerCase() === "sha256";
}

/** Git writes into a submodule where its files are: that it says so is no news. */
function isOwnPlace(folder: string, path: string, { name, value }: GitSetting): boolean {
  return name === "core.worktree" && resolve(dirname(path), value) === folder;
}

/** Where git looks for hooks and configuration. */
export function gitFolders(folder: string): readonly string[] {
  const git = join(folder, ".git");
  const stat = statOf(git);
  const own = stat?.isDirectory() ? shared(git) : stat?.isFile() ? ledTo(folder, git) : [];
  const isBare = ["HEAD", "objects", "refs"].every((name) => existsSync(join(folder, name)));
  return [...own, ...(isBare ? shared(folder) : [])];
}

/** A `.git` that is a file names a folder. */
function ledTo(folder: string, file: string): readonly string[] {
  const to = /^gitdir: *(.+?)\s*$/m.exec(smallFile(file, GIT_CONFIG_BYTES) ?? "")?.[1];
  return to === undefined ? [] : shared(resolve(folder, to));
}

/** A folder of git may name another one, whose hooks and configuration are then those that count. */
function shared(git: string): readonly string[] {
  const common = smallFile(join(git, "commondir"), GIT_CONFIG_BYTES)?.trim();
  return common ? [git, resolve(git, common)] : [git];
}

/** A file that is too long, or cannot be read, is one setting that nobody knows. */
function settingsOf(path: string): readonly GitSetting[] {
  const stat = statOf(path);
  if (!stat) return [];
  const text = smallFile(path, GIT_CONFIG_BYTES);
  if (text !== undefined) return settingsIn(text);
  return [
    { name: "not inspected", value: `${stat.size} bytes, ${stat.mtimeMs}, ${stat.ctimeMs}, ${stat.ino}` },
  ];
}

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}
