/**
 * Options and verbs by which a program does something else than its first words say: runs a program that they name, obeys another
 * configuration, writes to a file, reaches into the rest of the machine. A rule about the first words does not cover them; what has
 * one is allowed only as it stands.
 */

import { basename } from "node:path";

const SCRIPTS = /^(--(script-shell|shell|prefix|dir|cwd|node-options|userconfig|globalconfig)(=|$)|-C)/;
const CONTAINERS =
  /^(-[vf]|--(volume|mount|privileged|pid|net|network|device|cap-add|security-opt|userns|env-file|file)(=|$))/;

const OPTIONS: Readonly<Record<string, RegExp>> = {
  git: /^(--(output|output-directory|upload-pack|receive-pack|exec|open-files-in-pager|ext-diff|extcmd|textconv|template|config|separate-git-dir)(=|$)|-[Ox]|-u.)/,
  make: /^(-[fCIE]|--(file|makefile|directory|eval|include-dir)(=|$)|\w+[:+?!]?=)/,
  go: /^--?(toolexec|exec|vettool|overlay|modfile|C)(=|$)/,
  cargo: /^(--(config|manifest-path)(=|$)|-[ZC])/,
  gradle: /^(-[bcIDP]|--(init-script|build-file|settings-file|project-dir)(=|$))/,
  mvn: /^(-[fsgDt]|--(file|settings|global-settings|toolchains)(=|$))/,
  terraform: /^--?chdir(=|$)/,
  ...Object.fromEntries(["npm", "pnpm", "yarn", "bun", "npx"].map((name) => [name, SCRIPTS])),
  ...Object.fromEntries(["docker", "podman"].map((name) => [name, CONTAINERS])),
};

/** Verbs behind which another command or setting stands. */
const VERBS: Readonly<Record<string, RegExp>> = {
  git: /^(config|bisect|submodule|filter-branch|difftool|mergetool|hook|alias|daemon|instaweb|send-email|worktree|clone)$/,
  gh: /^(alias|extension|config)$/,
  npm: /^(config|set|pkg|exec|x)$/,
  ...Object.fromEntries(["pnpm", "yarn", "bun"].map((name) => [name, /^(config|exec|dlx|x)$/])),
  docker: /^(run|exec|context|plugin)$/,
  podman: /^(run|exec)$/,
  kubectl: /^(exec|config|cp|plugin)$/,
  systemctl: /^(edit|link|set-environment)$/,
};

/** Whether a command's first words do not tell what it does. */
export function isMoreThanItsVerb(words: readonly string[]): boolean {
  const [program = "", verb = "", ...rest] = words;
  const name = basename(program);
  const options = Object.hasOwn(OPTIONS, name) ? OPTIONS[name] : undefined;
  const verbs = Object.hasOwn(VERBS, name) ? VERBS[name] : undefined;
  return (
    verbs?.test(verb) === true ||
    (options !== undefined && [verb, ...rest].some((word) => options.test(word)))
  );
}
