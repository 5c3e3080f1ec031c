/**
 * Variables in which Codex looks for keys because its user's configuration says so: `env_key` of a model provider and
 * `bearer_token_env_var` of an MCP server. Of the user's own file, never of one in the workspace: that would let a
 * foreign repository choose what Codex is given.
 */

import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Environment } from "./child-mark.ts";

const NAMED = /^\s*(?:env_key|bearer_token_env_var)\s*=\s*["']([A-Za-z_]\w*)["']/gm;

export function codexKeys(env: Environment): readonly string[] {
  const home = env["CODEX_HOME"] || join(env["HOME"] || homedir(), ".codex");
  try {
    const config = readFileSync(join(home, "config.toml"), "utf8");
    return [...config.matchAll(NAMED)]
      .map(([, name = ""]) => name)
      .filter((name) => !name.startsWith("BLOCKYARD_"));
  } catch {
    return []; // none, or an unreadable one: Codex reports that itself
  }
}
