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
  /** Second words behind which a command stands. */
  readonly wholes?: ReadonlySet<string>;
  /** Second words that say nothing without the third. */
  readonly nouns?: ReadonlySet<string>;
  /** Options that change nothing of what the first words say. */
  readonly options: ReadonlySet<string>;
  /** Words that ask all the same, options among them. */
  readonly asks?: (verb: string, word: string) => boolean;
  /** Its second word, or its third behind a noun, is a program that it starts. */
  readonly starts?: true;
  /** Whether all words behind the verb together mean something else than the first words say. */
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
/** A rule about one of these would be about every program, or every piece of code, that it can be given. */
const INTERPRETERS =
  /^(sh|bash|dash|zsh|ksh|fish|pwsh|cmd|python[\d.]*|ipython\d?|pypy\d?|node|nodejs|tsx|ts-node(-\w+)?|babel-node|swc-node|vite-node|esno|esr|jiti|zx|deno|bun|ruby|irb|perl|php|lua|env|sudo|xargs|busybox|ssh|find|awk|gawk|sed|cross-env(-shell)?|dotenv(x|-cli)?|env-cmd|concurrently|npm-run-all\d?|run-[sp]|nodemon|onchange|chokidar(-cli)?|entr|watchexec|start-server-and-test|wait-on|execa|shx|npx|pnpx|bunx|uvx|pipx|dlx|exec|pm2|forever|nx|turbo|lerna|wireit|invoke|fabric|doit|just|task|script|flock|strace|ltrace|gdb|su|runuser|setpriv|pkexec|systemd-run|firejail|bwrap|proot|fakeroot|expect|tmux|screen|direnv|nix-shell|nsenter|socat|cpulimit|taskset|chrt|catchsegv|valgrind|perf)$/;

/** Whether a program runs what its words say. */
export function runsItsWords(program: string): boolean {
  return INTERPRETERS.test(basename(program).toLowerCase());
}

/** The remote as git calls it itself: any other word, a number too, may be a folder of the workspace, whose hooks a push runs. */
const REMOTE = "origin";
/** Each word that is no option is one more thing to do, unless it is the value of the option before it. */
const moreGoals = (valued: string): NonNullable<Program["asksTogether"]> => {
  const options = set(valued);
  return (_, rest) => rest.some((word, at) => !word.startsWith("-") && !options.has(rest[at - 1] ?? ""));
};

/** They put a file where a word says. */
const PUTS_FILES = /^(mv|checkout|restore)$/;

const scripts: Program = { verbs: PACKAGES, nouns: set("run run-script"), options: SCRIPTS };
const containers: Program = {
  verbs: set("build ps images logs pull inspect stats top version info start stop restart compose"),
  nouns: set("compose"),
  options: set(
    "-t --tag --no-cache --pull --progress --rm -a --all --tail --since --until --format --filter --no-trunc -d --detach " +
      "--remove-orphans --no-deps --services --target --platform --build-arg",
  ),
};
const pip: Program = {
  verbs: set("install uninstall list show freeze check"),
  options: set("-U --upgrade --no-deps --outdated --format -v --no-cache-dir"),
};
const python: Program = {
  starts: true,
  verbs: set("sync add remove lock install tree show run"),
  nouns: set("run"),
  options: set("--dev --group --all-extras --frozen --locked --no-dev --only -v --upgrade -U"),
};
const forge: Program = {
  verbs: set("pr mr issue repo release run workflow ci label"),
  nouns: set("pr mr issue repo release run workflow ci label"),
  options: set(
    "--jq --limit -L --state --author --label -l --search --comments --title -t --body -b --draft --base -B --head -H --fill --log " +
      "--log-failed",
  ),
};

const PROGRAMS: Readonly<Record<string, Program>> = {
  git: {
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
    // Another repository, by its address; branches that are overwritten or deleted there; a strategy, which is a program; a guarded file.
    asks: (verb, word) =>
      (verb === "push" && word === "--prune") ||
      (/^(fetch|pull|push)$/.test(verb) && /[:+]|^[./]/.test(word)) ||
      (/^(merge|rebase|pull)$/.test(verb) && word.startsWith("-s")) ||
      (PUTS_FILES.test(verb) && !word.startsWith("-") && guardOfName(word) !== undefined),
    asksTogether: (verb, rest) =>
      /^(fetch|pull|push)$/.test(verb) &&
      (rest.find((word, at) => !word.startsWith("-") && rest[at - 1] !== "--depth") ?? REMOTE) !== REMOTE,
  },
  npm: scripts,
  pnpm: scripts,
  yarn: {
    starts: true,
    wholes: set(
      "config exec dlx x node set plugin global create link unplug workspace workspaces policies npm",
    ),
    nouns: set("run"),
    options: SCRIPTS,
  },
  bun: scripts,
  npx: { starts: true, options: SCRIPTS },
  cargo: {
    verbs: set("build test check clippy fmt run doc bench tree metadata"),
    options: set(
      "--release -r --all --workspace --all-targets --all-features --features --no-default-features --lib --bins --tests --examples " +
        "--locked --offline --frozen -v -p --package --bin --test --example -j --jobs --no-run --no-fail-fast --doc --message-format " +
        "--nocapture --test-threads --ignored --exact --list --show-output -D -W -A",
    ),
  },
  go: {
    verbs: set("build test vet fmt list doc version mod"),
    nouns: set("mod"),
    options: set(
      "-v -race -run -count -short -cover -bench -benchmem -timeout -failfast -parallel -tags -json -m -u",
    ),
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
    verbs: set("task test check lint fmt bench"),
    nouns: set("task"),
    options: set("--watch --check --no-check --filter --fail-fast --parallel"),
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
  if (program === undefined || !isName(verb) || (!isDeny && isMoreThanItsVerb(words))) return undefined;
  if (program.nouns?.has(verb) !== true) return [name, verb];
  return isName(what) ? [name, verb, what] : undefined;
}

function isName(word: string): boolean {
  return /^[a-z][\w:.-]*$/i.test(word) && !INTERPRETERS.test(word.toLowerCase());
}

/** Whether it starts another program of these, whose own verbs nobody has looked at. */
function startsAnother({ starts, nouns }: Program, verb: string, what: string): boolean {
  return starts === true && Object.hasOwn(PROGRAMS, (nouns?.has(verb) ? what : verb).toLowerCase());
}

/** Whether a command may do something else than its first words say. Of a program that is not known here that is for the rule to say. */
export function isMoreThanItsVerb(words: readonly string[]): boolean {
  const program = programOf(words);
  if (program === undefined) return false;
  const [, verb = "", ...rest] = words;
  if (program.verbs?.has(verb) === false || program.wholes?.has(verb) === true || verb.startsWith("-"))
    return true;
  if (startsAnother(program, verb, rest[0] ?? "")) return true;
  return rest.some((word) => !isHarmless(program, verb, word)) || program.asksTogether?.(verb, rest) === true;
}

function isHarmless({ options, asks }: Program, verb: string, word: string): boolean {
  if (ELSEWHERE.test(word) || asks?.(verb, word) === true || veilOf(word, false) === "hidden") return false;
  if (!word.startsWith("-")) return true;
  const name = word.replace(/=.*$/s, "");
  return options.has(name) || EVERYWHERE.has(name) || /^-[jU]?\d+$/.test(word);
}

/** A path that leads out of the folder, by itself or as the value of an option; an address; a file from which further words are read. */
const ELSEWHERE = /^(-[^=]*=)?(\/|@[./]|[a-z][a-z\d+.-]*:\/\/)|(^|[/=])\.\.(\/|$)/i;
