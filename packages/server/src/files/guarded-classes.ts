/**
 * Classes of files that programs obey, or that hold secrets, by what their names say and not by which program they are of: formats that
 * only settings are written in, names that only tools look for, words that name a secret. Lists of known names are in
 * guarded-path.ts; these are for those that nobody has written down.
 *
 * Names are lower-case here, as bareName gives them.
 */

export interface GuardRule {
  readonly reason: string;
  readonly pattern: RegExp;
}

const SETTINGS = "tools load it as their configuration";
const SECRET = "it holds secrets";
const DATA =
  "json5?|jsonc|txt|text|ya?ml|toml|ini|env|csv|xml|properties|conf|cfg|cnf|db|dat|enc|bak|old|sqlite3?|plist|kdbx|pickle|pkl|vault|vars";
const WORDS =
  "(recovery|backup)[._-]?codes?|2fa|totp|root[._-]?keys?|access[._-]?tokens?|age[._-]?keys?|signons|azure[._-]?profile|vault|api[._-]?keys?|access[._-]?keys?|private[._-]?keys?|secrets?|credentials?|creds|passwords?|passwd|passphrases?|(?<!design[._-])tokens?|mnemonic|seed[._-]?phrase|wallets?|keystore|logins|cookies?|oauth[._-]?\\w*";

/** Wherever they are. */
export const CLASSES: readonly GuardRule[] = [
  {
    reason: SETTINGS,
    pattern:
      /\.(toml|ini|cfg|cnf|conf|config|properties|neon|kdl|dhall|nix|nims|zon|bzlmod|lock|lockfile|rc|opts|options|args|xcconfig|runsettings|ruleset|rules|sls|star|factories|manifest)$/,
  },
  { reason: SETTINGS, pattern: /^[\w.-]+[._-](config|conf|settings|presets)\.(json5?|jsonc|ya?ml)$/ },
  {
    reason: "tools load it as their configuration and run it",
    pattern:
      /^([\w-]+\.(workspace|plugin)\.[cm]?[jt]s|(jupyter\w*|ipython)_config\.py|gunicorn\.conf\.py|local_settings\.py|setuptests?\.\w+|(knex|mage|lake|build|pnpm)file\.\w+|pnpmfile\.[cm]?js|premake\d*\.lua|xmake\.lua|tupfile\.lua|esbuild\.[cm]?js|mage\.go|build\.(sc|mill)|mill\.sc|(hatch|pdm)_build\.py|build_ext\.py|pavement\.py|config-overrides\.js|tuist\.swift|knip\.[cm]?[jt]s|dodo\.py|celeryconfig\.py|rector\.php|gems\.rb|policyfile\.rb|(docker-)?entrypoint\.sh)$/,
  },
  // Brewfile, Thorfile, Tupfile and those to come.
  {
    reason: "builds and tasks run it",
    pattern: /^([a-z][a-z0-9_-]*file(\.local|\.lock\.json)?|package\.(json5|ya?ml)|[\w-]+\.gpr)$/,
  },
  {
    reason: SETTINGS,
    pattern:
      /^(biome|dprint|rome|oxlint(rc)?|pyrightconfig|pint|ormconfig|workspace|wireit|bit|devbox|electron-builder|expo|eas|import_map|cmakeuserpresets|bsconfig|rescript|haxelib|lake-manifest|dub\.selections|dagger|railpack|zeabur|nest-cli|tslint|knip|typedoc|jsdoc|testcafe|jasmine|compile_commands|appsettings(\.\w+)?|local\.settings)\.jsonc?$/,
  },
  {
    reason: "builds and tasks run it",
    pattern:
      /^(buck|targets|waf|cmakecache\.txt|compile_flags\.txt|(just|v)\.mod|lean-toolchain|_coqproject|artisan|user-data|flake8|gems\.locked|settings\.kts|[a-z]{3,}(rc|config))$/,
  },
  {
    reason: "shells read it automatically",
    pattern: /^(config\.fish|fish_variables|irbrc|pryrc|dir-locals\.el|rc\.local)$/,
  },
  { reason: "desktops run it automatically", pattern: /\.(socket|path|mount|automount|scpt|hta|inf)$/ },
  {
    reason: "agents follow it as instructions",
    pattern:
      /^((kimi|devin|codebuff|rovodev|([\w-]+\.)?knowledge|system[._-]?prompt)\.md|(opencode|crush|agents?|claude_desktop_config|plugin|marketplace|hooks|codebuff|[a-z]+-extension)\.jsonc?|(agents?|fastagent\.(config|secrets)|cagent)\.ya?ml|[\w-]+\.agent\.md)$/,
  },
  { reason: "agents start the servers it lists", pattern: /^mcp-?servers\.(jsonc?|ya?ml|toml)$/ },
  { reason: SECRET, pattern: new RegExp(`(^|[\\w-]*[._-])(${WORDS})([._-][\\w.-]*)?\\.(${DATA})$`) },
  // Besides its hooks and settings git recognizes a repository by these: with them, any folder is one.
  {
    reason: "git treats its folder as a repository",
    pattern: /^(head|commondir|gitdir|packed-refs|alternates)$/,
  },
  {
    reason: "tools load it as their configuration and run it",
    pattern:
      /^([\w.-]*[._-](conf|config|preset)\.(py|[cm]?[jt]s|rb|php|lua)|conf\.py|gatsby-\w+\.[cm]?[jt]sx?|ember-cli(-build)?\.[cm]?js|webpack\.mix\.js|fuse(box)?\.js|[a-z]{3,}rc\.[cm]?[jt]s|codegen\.[cm]?[jt]s|versioneer\.py|plopfile\.[cm]?[jt]s|(ecs|castor|deploy(er)?|robofile|scoper\.inc)\.php|config\.exs|runtime\.exs|rprofile\.site|_targets\.r|startup\.jl|x?gdbinit|[\w.-]+\.gdb|[\w.-]+-gdb\.(py|gdb|scm)|(project|workspace)\.swift|rebar\.config\.script)$/,
  },
  {
    reason: SETTINGS,
    pattern:
      /^((tasks|launch|settings|keybindings|launchsettings|nodemon|cypress|size-limit|simple-git-hooks|forever|now|packer|box|infection|esy|volta|continue|cody|langgraph|taskmaster|static|omnisharp|psc-package|cdk\.context|database\.rules)\.json|[\w.-]+\.(xml|ya?ml|json|php)\.dist|(bb|shadow-cljs)\.edn|codeowners|manifest\.in|(hosts|inventory)|meta-data)$/,
  },
  {
    reason: "builds and tasks run it",
    pattern:
      /(^(build\.(?!md$|txt$|html?$|log$|css$|svg$|png$)[\w.]+|bld\.bat|fake\.(sh|cmd)|k(build|config)(\.\w+)?|android\.bp|configure\.in|bootstrap(\.sh)?|meson\.options|appraisals|mlproject|mask(file)?\.md|[\w.-]+-requirements\.(txt|in))|\.(rake|m4|pro|pri|qbs|sln|slnx|tf\.json|crontab|cron))$/,
  },
  {
    reason: "shells read it automatically",
    pattern: /^((set)?env|activate|(pre|post)(de)?activate)(\.(sh|bash|zsh|fish|csh|ps1|bat|nu))?$/,
  },
  {
    reason: "agents follow it as instructions",
    pattern:
      /^((iflow|codebuddy|trae|droid|grok|mistral|vibe|deepseek|zed|plandex|openhands|hermes|factory|augment|amazonq|cody|tabnine)\.md|system[._-]?prompt\.(txt|md|ya?ml|json))$/,
  },
  {
    reason: SECRET,
    pattern: /^([\w-]+_)?(token|api_?key|secret_?key|access_?key|passwd)$|^(keys|[\w-]+[._-]keys?)\.txt$/,
  },
  { reason: SECRET, pattern: /(^|[._-])(dump|backup)[\w.-]*\.sql(\.\w+)?$|\.vault$/ },
  {
    reason: SECRET,
    pattern: /^(tokens?|shadow|passwd|cookies|s3cfg|\.?vault_pass|gcloud\.json|azure\.json)$/,
  },
  {
    reason: SECRET,
    pattern:
      /^(id_(rsa|dsa|ecdsa|ed25519)[\w.-]*|kube-?config[\w.-]*|[\w.-]*-key\.json|[\w.-]+\.(key|pem|p12|pfx)\.\w+)$/,
  },
];

/** At the top of the workspace, where tools look first. */
export const TOP_CLASSES: readonly GuardRule[] = [
  {
    reason: "agents follow it as instructions",
    pattern:
      /^(context|memory|soul|tools|heartbeat|bootstrap|identity|user|rules|instructions|prompt|system)\.(md|txt)$/,
  },
  { reason: "tools load it from the workspace root as their configuration", pattern: /\.(ya?ml|xml)$/ },
];
