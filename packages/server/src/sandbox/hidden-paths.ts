/**
 * What in a home folder a confined program does not see: keys, logins, browsers' profiles, histories, and the data
 * directories of Blockyard. By class, as far as programs keep to the usual places.
 */

import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** Below the home folder. What is not there is left out. */
const SECRETS: Readonly<Record<string, readonly string[]>> = {
  keys: [
    ".ssh",
    ".gnupg",
    ".password-store",
    ".local/share/keyrings",
    ".config/op",
    ".config/age",
    ".vault-token",
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
      ".oci",
      ".config/containers",
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
    ],
  ],
  agents: [
    ...[
      ".claude",
      ".claude.json",
      ".codex",
      ".gemini",
      ".cursor",
      ".config/github-copilot",
      ".config/opencode",
    ],
    ...[".local/share/opencode", ".config/anthropic", ".config/openai", ".aider.conf.yml", ".continue"],
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
    ],
    ...[".local/share/fish", ".lesshst", ".viminfo", ".env"],
  ],
};

export interface HiddenPath {
  readonly path: string;
  readonly isFolder: boolean;
}

/** `spared`: paths below the home that this program needs itself. */
export function hiddenPaths(
  home: string,
  data: readonly string[],
  spared: readonly string[] = [],
): readonly HiddenPath[] {
  const names = Object.values(SECRETS).flat();
  const own = names.filter((name) => !spared.includes(name)).map((name) => join(home, name));
  return [...new Set([...own, ...dataFolders(home), ...data])].flatMap((path) => {
    const stat = statSync(path, { throwIfNoEntry: false });
    return stat ? [{ path, isFolder: stat.isDirectory() }] : [];
  });
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
