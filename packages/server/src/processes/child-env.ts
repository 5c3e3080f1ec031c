/**
 * What each kind of child gets of the server's environment: what is on its list, and nothing else. An agent needs its own
 * keys; a command needs none. Everything else a variable could hold (the database's password, keys of other agents, tokens of
 * the shell that the server was started from) stays with the server.
 *
 * `BLOCKYARD_PASS` names variables that the owner lets every child have, such as the key of a model server of one's own.
 */

import type { Environment } from "./child-mark.ts";
import { codexKeys } from "./codex-keys.ts";

/** The started program. `helper`: programs of ours, which need to be found and nothing more. */
export const CHILD_KINDS = ["claude", "codex", "acp", "shell", "helper"] as const;
export type ChildKind = (typeof CHILD_KINDS)[number];

/** Paths, user, language and terminal: no secrets, and hardly a program works without. */
const PLACES =
  /^(PATH|HOME|USER|LOGNAME|USERNAME|SHELL|PWD|HOSTNAME|LANG|LANGUAGE|LC_[A-Z]+|TZ|TZDIR|TMPDIR|TMP|TEMP|XDG_[A-Z_]+|BLOCKYARD_CHILD)$/;

const WINDOWS =
  /^(SystemRoot|SYSTEMROOT|windir|WINDIR|ComSpec|COMSPEC|PATHEXT|APPDATA|LOCALAPPDATA|ProgramData|ProgramFiles|USERPROFILE|Path)$/;

const TERMINAL =
  /^(TERM|COLORTERM|TERM_PROGRAM(_VERSION)?|COLUMNS|LINES|NO_COLOR|FORCE_COLOR|CLICOLOR(_FORCE)?|CI)$/;

/** Network settings. A proxy's address may contain its password: without it nothing behind the proxy works. */
const NETWORK =
  /^((https?|all|no|ftp)_proxy|(HTTPS?|ALL|NO|FTP)_PROXY|SSL_CERT_(FILE|DIR)|NODE_EXTRA_CA_CERTS|NODE_USE_(SYSTEM_CA|ENV_PROXY)|CURL_CA_BUNDLE|REQUESTS_CA_BUNDLE|GIT_SSL_CAINFO)$/;

/** Where compilers, runtimes and package managers are. */
const TOOLS =
  /^(NVM_(DIR|BIN|INC)|FNM_[A-Z_]+|VOLTA_HOME|PNPM_HOME|BUN_INSTALL|DENO_(DIR|INSTALL)|COREPACK_HOME|NODE_ENV|PYENV_(ROOT|VERSION)|VIRTUAL_ENV|CONDA_(PREFIX|DEFAULT_ENV|EXE|SHLVL)|PYTHON(PATH|HOME|IOENCODING|UNBUFFERED)|POETRY_HOME|PIPX_HOME|UV_CACHE_DIR|RBENV_(ROOT|VERSION)|RUBY_(ROOT|VERSION)|GEM_(HOME|PATH)|GO(PATH|ROOT|BIN|FLAGS|PROXY|CACHE|MODCACHE|TOOLCHAIN)|CARGO_HOME|RUSTUP_(HOME|TOOLCHAIN)|JAVA_HOME|JDK_HOME|GRADLE_(HOME|USER_HOME)|M2_HOME|MAVEN_HOME|ANDROID_(HOME|SDK_ROOT|NDK_HOME)|DOTNET_(ROOT|CLI_HOME)|ASDF_(DIR|DATA_DIR)|MISE_(DATA_DIR|CONFIG_DIR)|SDKMAN_DIR|HOMEBREW_(PREFIX|CELLAR|REPOSITORY)|NIX_(PATH|PROFILES|SSL_CERT_FILE)|EDITOR|VISUAL|PAGER|GIT_(AUTHOR|COMMITTER)_(NAME|EMAIL|DATE)|MAKEFLAGS|CC|CXX|CFLAGS|CXXFLAGS|LDFLAGS|PKG_CONFIG_PATH|DOCKER_HOST)$/;

/** An agent pushes and signs as its user does: these are ways to programs that hold keys, not keys. */
const SESSION = /^(SSH_AUTH_SOCK|SSH_AGENT_PID|GPG_TTY|DISPLAY|WAYLAND_DISPLAY|DBUS_SESSION_BUS_ADDRESS)$/;

const CLAUDE =
  /^((ANTHROPIC|CLAUDE)_[A-Z0-9_]+|CLAUDECODE|API_TIMEOUT_MS|MAX_THINKING_TOKENS|MAX_MCP_OUTPUT_TOKENS|MCP_(TOOL_)?TIMEOUT|BASH_(DEFAULT|MAX)_[A-Z_]+|(DISABLE|ENABLE)_[A-Z_]+|USE_BUILTIN_RIPGREP|IS_SANDBOX|NODE_OPTIONS)$/;
const BEDROCK = /^AWS_[A-Z0-9_]+$/;
const VERTEX = /^(GOOGLE_[A-Z0-9_]+|CLOUD_ML_[A-Z_]+|VERTEX_[A-Z0-9_]+|GCLOUD_PROJECT|CLOUDSDK_[A-Z_]+)$/;
const CODEX = /^((OPENAI|CODEX)_[A-Z0-9_]+|RUST_(LOG|BACKTRACE))$/;

const EVERYDAY = [PLACES, WINDOWS, TERMINAL, NETWORK, TOOLS];

const LISTS: Readonly<Record<ChildKind, (env: Environment) => readonly RegExp[]>> = {
  claude: (env) => [
    ...EVERYDAY,
    SESSION,
    CLAUDE,
    ...(isOn(env["CLAUDE_CODE_USE_BEDROCK"]) ? [BEDROCK] : []),
    ...(isOn(env["CLAUDE_CODE_USE_VERTEX"]) ? [VERTEX] : []),
  ],
  codex: () => [...EVERYDAY, SESSION, CODEX],
  // Only the caller that starts an agent knows its keys.
  acp: () => [...EVERYDAY, SESSION],
  shell: () => EVERYDAY,
  helper: () => [PLACES, WINDOWS],
};

/** The environment of one child. `own`: variables that are its own, where its kind does not say it. */
export function childEnvironment(kind: ChildKind, env: Environment, own?: RegExp): Environment {
  const lists = own === undefined ? LISTS[kind](env) : [...LISTS[kind](env), own];
  const passed = [...(kind === "helper" ? [] : passedOn(env)), ...(kind === "codex" ? codexKeys(env) : [])];
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => passed.includes(name) || lists.some((list) => list.test(name))),
  );
}

/** Whether a variable may be where every program of the same user can read it: in the environment of the server itself. */
export function isPublic(name: string): boolean {
  return EVERYDAY.some((list) => list.test(name)) || RUNTIME.test(name);
}

/** What acts on a program before its first line runs, and so cannot be handed to it later. */
const RUNTIME = /^(NODE_[A-Z0-9_]+|LD_[A-Z_]+|DYLD_[A-Z_]+|MALLOC_[A-Z_]+|UV_[A-Z_]+|V8_[A-Z_]+)$/;

/** Never variables that make a shell do more than it is told, nor the server's own. */
function passedOn(env: Environment): readonly string[] {
  const names = (env["BLOCKYARD_PASS"] ?? "").split(/[\s,]+/);
  return names.filter(
    (name) => /^[A-Za-z_]\w*$/.test(name) && !/^(BLOCKYARD_|BASH|ENV$|SHELLOPTS$)/.test(name),
  );
}

function isOn(value: string | undefined): boolean {
  return value !== undefined && !/^(|0|false|no|off)$/i.test(value);
}
