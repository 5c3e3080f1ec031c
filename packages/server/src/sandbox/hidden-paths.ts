/**
 * Where in a home folder keys, logins, browsers' profiles and histories are, and the data directories of Blockyard: no confined program
 * sees them. Of the rest, an agent sees everything; a command sees what home-class.ts says.
 */

import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** What agents keep in the home folder, their logins among it: for each of them alone. */
const AGENT_FOLDERS: Readonly<Record<string, readonly string[]>> = {
  claude: [".claude", ".claude.json", ".config/Claude"],
  codex: [".codex"],
  gemini: [".gemini"],
  qwen: [".qwen"],
  kimi: [".kimi", ".kimi-code", ".config/kimi", ".local/share/kimi"],
  copilot: [".copilot", ".config/github-copilot", ".local/share/copilot"],
  opencode: [".opencode", ".config/opencode", ".local/share/opencode"],
  goose: [".goose", ".config/goose", ".local/share/goose"],
  cursor: [".cursor", ".config/Cursor"],
  amp: [".config/amp", ".local/share/amp"],
  crush: [".config/crush", ".local/share/crush"],
  windsurf: [".codeium", ".windsurf", ".config/Windsurf"],
  anthropic: [".config/anthropic"],
  openai: [".config/openai"],
  aider: [".aider.conf.yml", ".aider"],
  continue: [".continue"],
};

/** Below the home folder. What is not there is left out. */
const SECRETS: Readonly<Record<string, readonly string[]>> = {
  keys: [
    ".ssh",
    ".gnupg",
    ".password-store",
    ".local/share/keyrings",
    ".config/op",
    ".config/age",
    ".config/sops",
    ".vault-token",
    ".config/keepassxc",
    ".local/share/kwalletd",
    ".config/Bitwarden",
    ".config/Bitwarden CLI",
  ],
  "clouds and code hosts": [
    ...[
      ".aws",
      ".azure",
      ".config/gcloud",
      ".kube",
      ".docker",
      ".config/gh",
      ".config/hub",
      ".config/glab-cli",
    ],
    ...[
      ".config/rclone",
      ".config/doctl",
      ".config/heroku",
      ".fly",
      ".terraform.d",
      ".terraformrc",
      ".oci",
      ".config/containers",
    ],
    ...[
      ".config/hcloud",
      ".config/scw",
      ".config/netlify",
      ".local/share/com.vercel.cli",
      ".vercel",
      ".config/.wrangler",
      ".wrangler",
      ".cloudflared",
      ".config/stripe",
      ".config/ngrok",
      ".ngrok2",
      ".databrickscfg",
      ".snowflake",
      ".s3cfg",
      ".kaggle",
      ".cache/huggingface/token",
      ".huggingface",
    ],
  ],
  logins: [
    ...[".netrc", ".npmrc", ".yarnrc", ".yarnrc.yml", ".pypirc", ".pgpass", ".my.cnf", ".git-credentials"],
    ...[
      ".config/git/credentials",
      ".config/pip",
      ".cargo/credentials",
      ".cargo/credentials.toml",
      ".gem/credentials",
    ],
    ...[
      ".composer/auth.json",
      ".m2/settings.xml",
      ".gradle/gradle.properties",
      ".config/configstore",
      ".boto",
      ".authinfo",
      ".authinfo.gpg",
      ".msmtprc",
      ".fetchmailrc",
    ],
  ],
  "logins inside of toolchains": [
    ...[".m2/settings-security.xml", ".ivy2/.credentials", ".sbt/.credentials", ".sbt/1.0/credentials.sbt"],
    ...[".nuget/NuGet/NuGet.Config", ".hex/hex.config", ".pub-cache/credentials.json", ".conda/.condarc"],
    ...[".local/share/uv/credentials", ".android/adbkey", ".julia/servers", ".platformio/appstate.json"],
    ...[".foundry/keystores", ".cache/huggingface/stored_tokens"],
  ],
  "browsers and mail": [
    ...[".mozilla", ".thunderbird", ".config/google-chrome", ".config/chromium", ".config/BraveSoftware"],
    ...[
      ".config/microsoft-edge",
      ".config/vivaldi",
      ".config/opera",
      ".config/Signal",
      ".config/Slack",
      ".config/discord",
    ],
    ...["snap/firefox", "snap/chromium", ".var/app", "Library/Keychains", "Library/Cookies", "Library/Mail"],
    ...["Library/Application Support/Google", "Library/Application Support/Firefox", "Library/Safari"],
  ],
  histories: [
    ...[
      ".bash_history",
      ".zsh_history",
      ".python_history",
      ".node_repl_history",
      ".psql_history",
      ".mysql_history",
      ".sqlite_history",
      ".rediscli_history",
      ".mongodb",
    ],
    ...[".local/share/fish", ".lesshst", ".viminfo", ".env"],
  ],
};

export interface HiddenPath {
  readonly path: string;
  readonly isFolder: boolean;
}

/** `more`: others that are not seen. `spared`: paths below the home that this program needs itself. */
export function hiddenPaths(
  home: string,
  more: readonly string[],
  spared: readonly string[] = [],
): readonly HiddenPath[] {
  const names = [...Object.values(SECRETS), ...Object.values(AGENT_FOLDERS)].flat();
  const own = names.filter((name) => !spared.includes(name)).map((name) => join(home, name));
  const all = [...new Set([...more, ...own, ...dataFolders(home)])];
  return all
    .filter((path) => !isBelow(path, more))
    .flatMap((path) => {
      const stat = statSync(path, { throwIfNoEntry: false });
      return stat ? [{ path, isFolder: stat.isDirectory() }] : [];
    });
}

/** In a folder that is not seen there is nothing to be hidden. */
function isBelow(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => path.startsWith(`${folder}/`));
}

/** What an agent needs of what is hidden from others. */
export function ownFolders(agent: string): readonly string[] {
  return Object.hasOwn(AGENT_FOLDERS, agent) ? (AGENT_FOLDERS[agent] ?? []) : [];
}

/** Also those of other servers of this user. */
function dataFolders(home: string): readonly string[] {
  try {
    return readdirSync(home)
      .filter((name) => name.startsWith(".blockyard"))
      .map((name) => join(home, name));
  } catch {
    return [];
  }
}
