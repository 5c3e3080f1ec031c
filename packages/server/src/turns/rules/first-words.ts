/**
 * How far a rule about a command's first words reaches. Later words can make a program do something else: run another
 * program, use another configuration, write to a file, reach another machine. Nobody knows all of these, in all
 * spellings. So each program here has a list of words that are known to be harmless, in their exact spelling, and any
 * other word asks. A command with such a word is allowed only as a whole.
 */

import { basename } from "node:path";
import { guardOfName, veilOf } from "../../files/guarded-path.ts";

interface Program {
  /** What its second word may be; absent: anything, it is a target or a script. */
  readonly verbs?: ReadonlySet<string>;
  /** Second words that say nothing without the third, and what that may be. */
  readonly nouns?: Readonly<Record<string, ReadonlySet<string> | "any">>;
  /** Verbs that fetch and run what further words name: only options may follow. */
  readonly alone?: ReadonlySet<string>;
  /** Options that do not change the meaning of the first words. */
  readonly options: ReadonlySet<string>;
  /** Words that need approval anyway, options among them. */
  readonly asks?: (verb: string, word: string) => boolean;
  /** Its words name no code that it runs. */
  readonly isData?: true;
  /** Whether all words after the verb together change the meaning of the first words. */
  readonly asksTogether?: (verb: string, rest: readonly string[]) => boolean;
}

const set = (words: string): ReadonlySet<string> => new Set(words.split(/\s+/));

const EVERYWHERE = set("-- --version --verbose --quiet -q --no-color --color --json --dry-run");

const SCRIPTS = set(
  "--silent -s -v --watch --run --coverage --bail -t --testNamePattern --runInBand --ci --fix --check --write --workspace --workspaces " +
    "-w --if-present --save-dev -D --save -S --save-exact -E --no-save --no-audit --no-fund --prefer-offline --omit --include " +
    "--legacy-peer-deps --frozen-lockfile --filter --recursive --parallel --long --depth",
);
const PACKAGES = set(
  "install i ci add remove test t run run-script start build lint outdated ls list view info why audit",
);
/** They run the code of what they install; `npm audit fix` installs too. */
const INSTALLS = set("install i ci add up upgrade audit");
/**
 * What may be started by another program (`npx eslint`): checks, formats or tests what the workspace has. Any other may take a
 * command, install something or run a file of a stranger.
 */
const TOOLS =
  "eslint tsc prettier stylelint oxlint biome knip depcheck madge tsd cspell markdownlint vitest jest mocha ava jasmine";
const PYTHON_TOOLS = set("pytest ruff mypy black isort flake8 pylint pyright bandit");
/** Without a script of that name, `yarn` and `bun run` start a program that is called so: there is none. */
const SCRIPT_NAMES = "test start build lint dev format typecheck type-check check e2e preview clean coverage";
/** A rule about one of these would be about every program, or every piece of code, that it can be given. */
const INTERPRETERS =
  /^(sh|bash|dash|zsh|ksh|fish|pwsh|cmd|python[\d.]*|ipython\d?|pypy\d?|node|nodejs|tsx|ts-node(-\w+)?|babel-node|swc-node|vite-node|esno|esr|jiti|zx|deno|bun|ruby|irb|perl|php|lua|env|sudo|xargs|busybox|ssh|find|awk|gawk|sed|cross-env(-shell)?|dotenv(x|-cli)?|env-cmd|concurrently|npm-run-all\d?|run-[sp]|nodemon|onchange|chokidar(-cli)?|entr|watchexec|start-server-and-test|wait-on|execa|shx|npx|pnpx|bunx|uvx|pipx|dlx|exec|pm2|forever|nx|turbo|lerna|wireit|invoke|fabric|doit|just|task|script|flock|strace|ltrace|gdb|su|runuser|setpriv|pkexec|systemd-run|firejail|bwrap|proot|fakeroot|expect|tmux|screen|direnv|nix-shell|nsenter|socat|cpulimit|taskset|chrt|catchsegv|valgrind|perf)$/;

/** Whether a program runs what its words say. */
export function runsItsWords(program: string): boolean {
  return INTERPRETERS.test(basename(program).toLowerCase());
}

/** The remote as git calls it itself: any other word, a number too, may be a folder of the workspace, whose hooks a push runs. */
export const REMOTE = "origin";
const REMOTE_VERB = /^(fetch|pull|push)$/;

/** Whether it reaches git's remote. */
export function isRemote([program = "", verb = ""]: readonly string[]): boolean {
  return basename(program) === "git" && REMOTE_VERB.test(verb);
}

/** Each non-option word is one more target, unless it is the value of the option before it. */
const moreGoals = (valued: string): NonNullable<Program["asksTogether"]> => {
  const options = set(valued);
  return (_, rest) => rest.some((word, at) => !word.startsWith("-") && !options.has(rest[at - 1] ?? ""));
};

/** Where code hosts keep what anybody proposes; a full name may be one of these. */
const STRANGERS = /^(refs|pull|pulls|pull-requests|merge-requests|merge_requests|changes)\//i;

/** They put a file where a word says. */
const PUTS_FILES = /^(mv|checkout|restore)$/;

const scripts: Program = {
  verbs: PACKAGES,
  nouns: { run: "any", "run-script": "any" },
  alone: INSTALLS,
  options: SCRIPTS,
};
const startedByName = set(`${TOOLS} ${SCRIPT_NAMES}`);
/** Options of `docker build` that are followed by a value. */
const BUILD_VALUES = set("-t --tag --target --platform --build-arg --progress");
const containers: Program = {
  verbs: set("build ps images logs pull inspect stats top version info start stop restart compose"),
  nouns: { compose: set("up down ps logs build pull start stop restart config images top") },
  options: set(
    "-t --tag --no-cache --pull --progress --rm -a --all --tail --since --until --format --filter --no-trunc -d --detach " +
      "--remove-orphans --no-deps --services --target --platform --build-arg",
  ),
  // The build of another folder is another one's.
  asksTogether: (verb, rest) =>
    verb === "build" &&
    rest.some((word, at) => !/^(-|\.$)/.test(word) && !BUILD_VALUES.has(rest[at - 1] ?? "")),
};
const pip: Program = {
  verbs: set("install uninstall list show freeze check"),
  alone: INSTALLS,
  options: set("-U --upgrade --no-deps --outdated --format -v --no-cache-dir"),
};
const python: Program = {
  verbs: set("sync add remove lock install tree show run"),
  nouns: { run: PYTHON_TOOLS },
  alone: INSTALLS,
  options: set("--dev --group --all-extras --frozen --locked --no-dev --only -v --upgrade -U"),
};
/** Not what brings a stranger's files (`gh pr checkout`, `gh repo clone`), nor what another one would be merged, run or deleted with. */
const REQUEST_VERBS = set("view list status diff checks create comment note close reopen ready");
const forge: Program = {
  isData: true,
  nouns: {
    pr: REQUEST_VERBS,
    mr: REQUEST_VERBS,
    issue: REQUEST_VERBS,
    repo: set("view list"),
    release: set("view list"),
    run: set("view list watch"),
    ci: set("view list status"),
    workflow: set("view list"),
    label: set("list"),
  },
  options: set(
    "--jq --limit -L --state --author --label -l --search --comments --title -t --body -b --draft --base -B --head -H --fill --log " +
      "--log-failed",
  ),
};

const PROGRAMS: Readonly<Record<string, Program>> = {
  git: {
    isData: true,
    verbs: set(
      "status diff log show add commit fetch pull push checkout switch branch merge rebase restore tag blame grep ls-files ls-tree " +
        "rev-parse describe shortlog cherry-pick revert rm mv",
    ),
    options: set(
      "-p --patch --stat --shortstat --numstat --name-only --name-status --cached --staged --oneline --graph --decorate --max-count " +
        "--since --until --author --grep --format --pretty --abbrev-commit --abbrev --date --follow --merges --no-merges --first-parent " +
        "--reverse --porcelain --short -s --branch -b -c -v -vv -a -A -r -l --list --show-current --contains -m --message --amend --no-edit " +
        "--allow-empty --signoff -u --set-upstream -w --ignore-all-space --ignore-case --unified --progress --depth --all --tags --prune " +
        "--no-tags --rebase --ff-only --no-ff --autostash --abort --continue --skip --soft --mixed --show-toplevel --abbrev-ref --others " +
        "--exclude-standard --count",
    ),
    // Another repository, by its address; branches that are overwritten or deleted there; a stranger's change (`pull/1/head`);
    // a strategy, which is a program; a guarded file.
    asks: (verb, word) =>
      (verb === "push" && word === "--prune") ||
      (REMOTE_VERB.test(verb) && (/[:+]|^[./]/.test(word) || STRANGERS.test(word))) ||
      (/^(merge|rebase|pull)$/.test(verb) && word.startsWith("-s")) ||
      (PUTS_FILES.test(verb) && !word.startsWith("-") && guardOfName(word) !== undefined),
    asksTogether: (verb, rest) =>
      REMOTE_VERB.test(verb) &&
      (rest.find((word, at) => !word.startsWith("-") && rest[at - 1] !== "--depth") ?? REMOTE) !== REMOTE,
  },
  npm: scripts,
  pnpm: scripts,
  yarn: {
    verbs: set(`install add up upgrade remove run outdated list info why audit ${TOOLS} ${SCRIPT_NAMES}`),
    nouns: { run: startedByName },
    alone: INSTALLS,
    options: SCRIPTS,
  },
  bun: { ...scripts, nouns: { run: startedByName } },
  npx: { verbs: set(TOOLS), options: SCRIPTS },
  cargo: {
    verbs: set("build test check clippy fmt run doc bench tree metadata"),
    options: set(
      "--release -r --all --workspace --all-targets --all-features --features --no-default-features --lib --bins --tests --examples " +
        "--locked --offline --frozen -v -p --package --bin --test --example -j --jobs --no-run --no-fail-fast --doc --message-format " +
        "--nocapture --test-threads --ignored --exact --list --show-output -D -W -A",
    ),
  },
  go: {
    verbs: set("build test vet fmt list doc version"),
    nouns: { mod: set("tidy download verify graph why vendor") },
    options: set(
      "-v -race -run -count -short -cover -bench -benchmem -timeout -failfast -parallel -tags -json -m -u",
    ),
    // A package of another module.
    asks: (_, word) => /^[^./-][^/]*\.[^/]*\/|@/.test(word),
  },
  make: {
    options: set("-j -s --silent -k --keep-going -B --always-make -n"),
    asks: (_, word) => word.includes("="),
    asksTogether: moreGoals("-j"),
  },
  docker: containers,
  podman: containers,
  kubectl: {
    verbs: set("get describe logs top explain version"),
    options: set(
      "-n --namespace -o --output -l --selector -A --all-namespaces -w --watch --tail --since --previous -c --container --show-labels",
    ),
    asks: (_, word) => /(^|[,/])secrets?([,/.]|$)/i.test(word),
  },
  gh: forge,
  glab: forge,
  pip,
  pip3: pip,
  uv: python,
  poetry: python,
  deno: {
    verbs: set("test check lint fmt bench"),
    nouns: { task: "any" },
    options: set("--watch --check --no-check --filter --fail-fast --parallel"),
    // A package (`npm:…`, `jsr:…`).
    asks: (_, word) => word.includes(":"),
  },
  dotnet: {
    verbs: set("build test restore clean run format list"),
    options: set(
      "-c --configuration --no-build --no-restore -v --verbosity --filter --nologo --framework -f",
    ),
    asks: (_, word) => /^[/@]/.test(word),
  },
  gradle: {
    options: set(
      "--info --debug --stacktrace -s -i -x --no-daemon --parallel --offline --continue --rerun-tasks --tests -m",
    ),
    asksTogether: moreGoals("-x --tests"),
  },
  mvn: {
    options: set("-B --batch-mode -o --offline -X -e -U -pl -am -T"),
    // A goal of a plugin, which is fetched and run.
    asks: (_, word) => /[:@]/.test(word),
    asksTogether: moreGoals("-pl -T"),
  },
  terraform: {
    verbs: set("plan validate fmt version output show"),
    options: set("-no-color -input -json -compact-warnings -check -diff -recursive"),
  },
  brew: { verbs: set("list info search outdated"), options: set("--cask --formula") },
  apt: { verbs: set("list search show"), options: set("--installed --upgradable") },
  systemctl: {
    verbs: set("status list-units is-active is-enabled show"),
    options: set("--no-pager --user --full -l"),
  },
};

function programOf(words: readonly string[]): Program | undefined {
  const name = basename(words[0] ?? "");
  return Object.hasOwn(PROGRAMS, name) ? PROGRAMS[name] : undefined;
}

/** The first words of a command, where a rule is about these and the rest may vary; undefined: it is about all of them. */
export function firstWords(words: readonly string[], isDeny: boolean): readonly string[] | undefined {
  const program = programOf(words);
  const [name = "", verb = "", what = ""] = words;
  if (program === undefined || !isName(verb)) return undefined;
  // A file of the workspace may have the name of a program.
  if (!isDeny && (name.includes("/") || isMoreThanItsVerb(words))) return undefined;
  if (program.nouns === undefined || !Object.hasOwn(program.nouns, verb)) return [name, verb];
  return isName(what) ? [name, verb, what] : undefined;
}

function isName(word: string): boolean {
  return /^[a-z][\w:.-]*$/i.test(word) && !INTERPRETERS.test(word.toLowerCase());
}

/** Whether a command may do something other than its first words say. For an unknown program the rule decides. */
export function isMoreThanItsVerb(words: readonly string[]): boolean {
  const program = programOf(words);
  if (program === undefined) return false;
  const [, verb = "", ...rest] = words;
  if (verb.startsWith("-") || !isKnown(program, verb, rest[0] ?? "")) return true;
  if (program.alone?.has(verb) && rest.some((word) => !word.startsWith("-"))) return true;
  return rest.some((word) => !isHarmless(program, verb, word)) || program.asksTogether?.(verb, rest) === true;
}

function isKnown({ verbs, nouns }: Program, verb: string, what: string): boolean {
  if (nouns === undefined || !Object.hasOwn(nouns, verb)) return verbs?.has(verb) ?? nouns === undefined;
  const known = nouns[verb];
  return known === "any" || known?.has(what) === true;
}

function isHarmless({ options, asks, isData }: Program, verb: string, word: string): boolean {
  if (ELSEWHERE.test(word) || asks?.(verb, word) === true || veilOf(word, false) === "hidden") return false;
  if (isData !== true && isOthersCode(word)) return false;
  if (!word.startsWith("-")) return true;
  const name = word.replace(/=.*$/s, "");
  return options.has(name) || EVERYWHERE.has(name) || /^-[jU]?\d+$/.test(word);
}

/** Whether a path leads into a folder in which package managers keep the code of others. */
export function isOthersCode(path: string): boolean {
  return OTHERS.test(path);
}

const OTHERS =
  /(^|[/=])(node_modules|bower_components|jspm_packages|vendor|third[-_]party|site-packages|dist-packages|\.?venv|\.yarn|\.pnpm|\.cargo|\.git)(\/|$)/i;

/**
 * A path that leads out of the folder, by itself or as the value of an option; an address; a file from which further
 * words are read.
 */
const ELSEWHERE = /^(-[^=]*=)?(\/|@[./]|[a-z][a-z\d+.-]*:\/\/)|(^|[/=])\.\.(\/|$)/i;
