/**
 * Files that programs read, run or obey by themselves, and files that hold secrets. Agents and viewers neither read nor
 * write them unless the owner has allowed that file (see grants.ts). Guarded by class, because every list of names misses
 * one: everything hidden, instructions of agents, what builds, installs, hooks and deployments run, and keys.
 *
 * Pure: a path in, the reason out. How a path is spelt does not matter: parts are compared as some file system takes them.
 */

import { isProblem } from "@blockyard/kernel";
import { CLASSES, type GuardRule, TOP_CLASSES } from "./guarded-classes.ts";
import { bareName, type CleanPath, cleanPath, shownName } from "./path.ts";

/** A folder anywhere on the path. */
const FOLDERS: readonly GuardRule[] = [
  { reason: "hidden folders configure editors, agents, shells and other programs", pattern: /^\../ },
  { reason: "hooks run automatically", pattern: /^(git-?hooks|husky)$/ },
  { reason: "installed packages run automatically", pattern: /^(node_modules|site-packages)$/ },
  {
    reason: "deployments run what is here",
    pattern: /^(fastlane|bamboo-specs|cron\.(d|hourly|daily|weekly|monthly))$/,
  },
  { reason: "builds run what is here", pattern: /^(magefiles|buildsrc|rakelib|tuist)$/ },
  { reason: "servers load what is here", pattern: /^(meta|web)-inf$/ },
  { reason: "package managers install what is listed here", pattern: /^requirements$/ },
];

const AGENTS =
  "claude|agents?|gemini|qwen|codex|copilot|cursor|warp|crush|jules|opencode|amp|junie|kiro|windsurf|goose|cline|roo|aider|continue";

const CODE = "[cm]?[jt]sx?";
const DATA = "jsonc?|json5|ya?ml|toml";

const FILES: readonly GuardRule[] = [
  { reason: "hidden files configure programs, or hold secrets", pattern: /^\../ },
  {
    reason: "agents follow it as instructions",
    pattern: new RegExp(
      `^((${AGENTS})([._-](local|override|instructions|rules))?|conventions|skill|replit)\\.(md|mdx|txt)$`,
    ),
  },
  {
    reason: "agents follow it as instructions",
    pattern: /\.(mdc|chatmode\.md|prompt\.md|instructions\.md)$/,
  },
  {
    reason: "agents start the servers it lists",
    pattern: new RegExp(`^(mcp|mcp[._-]\\w+|\\w+[._-]mcp)\\.(${DATA})$`),
  },
  {
    reason: "package managers run its scripts or install what it lists",
    pattern: new RegExp(
      "^(package(-lock)?\\.json|npm-shrinkwrap\\.json|yarn\\.lock|pnpm-(lock|workspace)\\.yaml|bun\\.lockb?|bunfig\\.toml|" +
        "deno\\.(jsonc?|lock)|jsr\\.json|lerna\\.json|nx\\.json|turbo\\.json|rush\\.json|project\\.json|composer\\.(json|lock)|" +
        "gemfile(\\.lock)?|podfile(\\.lock)?|brewfile|cargo\\.(toml|lock)|rust-toolchain(\\.toml)?|" +
        "pyproject\\.toml|poetry\\.lock|uv\\.(lock|toml)|pdm\\.(lock|toml)|pipfile(\\.lock)?|requirements[\\w.-]*\\.(txt|in)|" +
        "constraints[\\w.-]*\\.txt|environment\\.ya?ml|setup\\.(py|cfg)|go\\.(mod|sum|work)|mix\\.(exs|lock)|rebar\\.config|" +
        "pubspec\\.(yaml|lock)|package\\.swift|cartfile|shard\\.yml|dub\\.(json|sdl)|stack\\.yaml|cabal\\.project|setup\\.hs|" +
        "dune(-project)?|conanfile\\.(py|txt)|vcpkg\\.json|(project|manifest)\\.toml|packages\\.config|nuget\\.config|" +
        "global\\.json|paket\\.dependencies|deps\\.edn|project\\.clj|build\\.(boot|sbt)|elm\\.json|spago\\.(dhall|yaml))$",
    ),
  },
  { reason: "package managers run it", pattern: /\.(gemspec|podspec|cabal|opam|nimble|rockspec)$/ },
  {
    reason: "builds and tasks run it",
    pattern: new RegExp(
      "^((gnu)?makefile(\\.\\w+)?|cmakelists\\.txt|cmakepresets\\.json|meson(\\.build|_options\\.txt)|" +
        "build\\.(rs|zig|xml|gradle|gradle\\.kts|ninja|sh|bat|cmd|ps1|py|js|ts|mjs|cjs)|settings\\.gradle(\\.kts)?|" +
        "gradle(-wrapper)?\\.properties|local\\.properties|gradlew(\\.bat)?|mvnw(\\.cmd)?|pom\\.xml|build(\\.bazel)?|" +
        "workspace(\\.bazel)?|module\\.bazel|sconstruct|sconscript|wscript|configure(\\.ac)?|autogen\\.sh|justfile|" +
        "taskfile(\\.dist)?\\.ya?ml|rakefile|tasks\\.py|fabfile\\.py|noxfile\\.py|tox\\.ini|pytest\\.ini|conftest\\.py|" +
        "(site|user)customize\\.py|manage\\.py|gulpfile(\\.\\w+)*|gruntfile(\\.\\w+)*|jakefile(\\.\\w+)?|snakefile|dvc\\.yaml|" +
        "directory\\.build\\.(props|targets)|tiltfile|earthfile|guardfile|capfile|dangerfile(\\.\\w+)?|config\\.ru|" +
        "wallaby\\.js|karma\\.conf\\.\\w+|protractor\\.conf\\.\\w+|angular\\.json|tsconfig[\\w.-]*\\.json|jsconfig\\.json|" +
        "(flake|default|shell)\\.nix|flake\\.lock|devenv\\.(nix|yaml)|guix\\.scm|manifest\\.scm|bindings?\\.gyp|bower\\.json)$",
    ),
  },
  {
    reason: "builds run it",
    pattern: /\.(mk|cmake|gyp|gypi|bzl|bazel|gradle|sbt|csproj|fsproj|vbproj|vcxproj|props|targets|pth)$/,
  },
  {
    reason: "tools load it as their configuration and run it",
    pattern: new RegExp(`\\.(config|conf|setup|rc)(\\.\\w+)*\\.(${CODE})$`),
  },
  { reason: "tools load it as their configuration", pattern: new RegExp(`^\\w+\\.config\\.(${DATA})$`) },
  {
    reason: "git runs it automatically",
    pattern:
      /^(pre|post|prepare|commit|applypatch|update|push|reference|sendemail|fsmonitor)(-(commit|msg|push|merge|checkout|rewrite|receive|rebase|applypatch|commit-msg|auto-gc|to-checkout|index-change|transaction|validate|watchman))+$/,
  },
  {
    reason: "hooks run automatically",
    pattern:
      /^(lefthook(-local)?|pre-commit(-config)?|commitlint|lint-staged|captain-?hook)\.(ya?ml|json|toml)$/,
  },
  {
    reason: "containers, continuous integration or deployments run it",
    pattern: new RegExp(
      "^((docker|container)file([.-][\\w.-]+)?|[\\w.-]+\\.dockerfile|(docker-)?compose([.-][\\w.-]+)?\\.ya?ml|docker-bake\\.\\w+|" +
        "vagrantfile|procfile([.-][\\w.-]+)?|jenkinsfile([.-][\\w.-]+)?|devcontainer\\.json|appveyor\\.ya?ml|" +
        "azure-pipelines([.-][\\w.-]+)?\\.ya?ml|bitbucket-pipelines\\.ya?ml|cloudbuild\\.(ya?ml|json)|buildspec\\.ya?ml|" +
        "netlify\\.toml|vercel\\.json|wrangler\\.(toml|jsonc?)|fly\\.toml|render\\.yaml|railway\\.(json|toml)|app\\.ya?ml|app\\.json|" +
        "firebase\\.json|serverless\\.(ya?ml|js|ts|json)|skaffold\\.yaml|helmfile\\.yaml|kustomization\\.ya?ml|template\\.ya?ml|" +
        "samconfig\\.toml|cdk\\.json|pulumi[\\w.-]*\\.ya?ml|codecov\\.ya?ml|sonar-project\\.properties|renovate\\.json5?|" +
        "release-please-config\\.json)$",
    ),
  },
  { reason: "deployments run it", pattern: /\.(tf|tofu|hcl)$/ },
  {
    reason: "editors open and run it",
    pattern:
      /\.(code-workspace|code-snippets|sublime-(project|workspace|build)|iml|ipr|iws|xcworkspacedata|pbxproj|xcscheme)$/,
  },
  {
    reason: "desktops run it automatically",
    pattern:
      /(^(autorun\.inf|desktop\.ini|folder\.htt)|\.(desktop|lnk|url|webloc|scf|inetloc|terminal|command|workflow|plist|reg|service|timer))$/,
  },
  {
    reason: "shells read it automatically",
    pattern:
      /^(mise(\.[\w-]+)*\.toml|_?(profile|bashrc|zshrc|zshenv|zprofile|zlogin|kshrc|cshrc|inputrc|vimrc|gvimrc|exrc|nvimrc|emacs|tmux\.conf|screenrc)|profile\.ps1|[\w.]*_profile\.ps1|crontab|sudoers|init\.(lua|vim|el))$/,
  },
  {
    reason: "it holds secrets",
    pattern: new RegExp(
      "^(id_(rsa|dsa|ecdsa|ed25519)(_sk)?(\\.pub)?|authorized_keys2?|known_hosts|ssh_config|sshd_config|_?netrc|_?pgpass(\\.conf)?|" +
        "_?htpasswd|kube-?config|credentials?(\\.(json|ya?ml|toml|txt|enc|ini|properties|xml|csv))?|(secrets?|passwords?)(\\.(json|ya?ml|toml|txt|enc|ini|properties|xml|csv))?|tokens?\\.(json|txt|ya?ml)|" +
        "auth\\.json|master\\.key|wp-config\\.php|database\\.ya?ml|service-?account[\\w.-]*\\.json|client_secret[\\w.-]*\\.json|" +
        "application_default_credentials\\.json|firebase-adminsdk[\\w.-]*\\.json|google-services\\.json|" +
        "terraform\\.tfstate(\\.\\w+)?|secring\\.\\w+|vault[\\w.-]*\\.ya?ml|env(\\.(local|example|dev|development|test|staging|prod|production))*)$",
    ),
  },
  {
    reason: "it holds secrets",
    pattern:
      /\.(env|pem|key|p8|p12|pfx|jks|keystore|kdbx?|ppk|ovpn|tfvars(\.json)?|tfstate(\.backup)?|age|asc|gpg|keytab|mobileprovision|cer|crt|der)$/,
  },
  ...CLASSES,
];

/** Why a file is guarded; undefined if it is not. */
export function guardOf({ parts }: CleanPath): string | undefined {
  const folders = parts.slice(0, -1).flatMap(namesOf);
  const file = namesOf(parts.at(-1) ?? "");
  const isAny = ({ pattern }: GuardRule, names: readonly string[]) =>
    names.some((name) => pattern.test(name));
  const rule =
    FOLDERS.find((each) => isAny(each, folders)) ??
    FILES.find((each) => isAny(each, file)) ??
    (parts.length === 1 ? TOP_CLASSES.find((each) => isAny(each, file)) : undefined);
  return rule?.reason;
}

/** A part as some file system reads it: one drops what follows a colon or dollar, another does not. */
function namesOf(part: string): readonly string[] {
  return [...new Set([bareName(part), shownName(part)])];
}

/** Folders and files, hidden or not, that hold secrets: nothing runs by reading them. */
const SECRET_NAMES =
  /^\.(env([.-].*)?|envrc|ssh|aws|gnupg|kube|azure|gcloud|secrets?|netrc|pgpass|pypirc|git-credentials|htpasswd|vault[\w-]*)$/;
const SECRETS = "it holds secrets";

/** The hidden files that agents, editors, hooks and shells obey; others belong to builds and tests, which write there. */
const OBEYED_NAMES =
  /^\.(claude([\w.-]*)?|codex|agents?|gemini|qwen|kimi|kimi-code|copilot|opencode|goose|cursor|windsurf|cline|clinerules|roo(rules|modes|ignore)?|kilocode(rules|modes|ignore)?|continue(rules)?|aider[\w.-]*|amp(coderc)?|crush[\w.]*|junie|kiro|factory|augment([\w-]*)?|trae|vibe|openhands|amazonq|rovodev|codebuff|iflow|codebuddy|qodo|qoder|blackboxcli|pi|antigravity|hermes|openclaw|zencoder|tabnine|void|warp|zed|vscode|vs|idea|fleet|helix|theia|n?vim|n?vim\.lua|lvimrc|lazy\.lua|emacs(\.d)?|neoconf\.json|sublime-project|devcontainer(\.json)?|mcp\.json|husky|huskyrc[\w.]*|githooks|lintstagedrc[\w.]*|commitlintrc[\w.]*|czrc|overcommit\.yml|simple-git-hooks[\w.]*|cursorrules|windsurfrules|goosehints|rules|bash(rc|_profile|_login|_logout|_aliases)|zlog(in|out)|xprofile|mise(\.[\w.]*)?|rvmrc|autoenv[\w.]*|gdbinit|lldbinit|npmrc|yarnrc(\.yml)?|pnpmfile\.cjs)$/;
/** Of what code hosts read, what agents follow; of Mercurial's folder, its hooks. */
const OBEYED_BESIDE =
  /(^|\/)\.hg\/hgrc$|(^|\/)\.github\/(hooks|agents|extensions|instructions|prompts|chatmodes|skills|copilot|(mcp|lsp)\.json)$/i;
const OBEYED_REASONS = /^(agents|hooks|git|editors|desktops|shells) /;

/**
 * A command's access to a guarded file without approval: none, or read-only. Undefined for files that builds themselves
 * read and write.
 */
export function veilOf(path: string, isFolder: boolean): "hidden" | "kept" | undefined {
  const name = bareName(path.slice(path.lastIndexOf("/") + 1));
  if (SECRET_NAMES.test(name)) return "hidden";
  if (OBEYED_NAMES.test(name) || OBEYED_BESIDE.test(path)) return "kept";
  if (isFolder) return undefined;
  // Many programs read their file with and without the dot (`lefthook.yml`). Files that are secret by name
  // may be needed by builds.
  const isDotted = name.startsWith(".");
  const plain = isDotted ? name.slice(1) : name;
  const reason = FILES.find(({ pattern }) => pattern.test(plain))?.reason;
  if (reason === SECRETS) return isDotted ? undefined : "hidden";
  return reason !== undefined && OBEYED_REASONS.test(reason) ? "kept" : undefined;
}

/** The same for a name as written. Anything but a plain path is guarded too: how a program resolves it is unknown. */
export function guardOfName(name: string): string | undefined {
  const clean = cleanPath(name);
  return isProblem(clean) ? "its name has unusual characters" : guardOf(clean);
}
