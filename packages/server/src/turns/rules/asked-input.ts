/**
 * Whether a rule compares everything that an agent asks for. A call's input may contain more than its command or its
 * files: leaving the agent's own sandbox, other rights, another shell, further arguments, variables. No rule compares
 * these, so such a call asks.
 */

import type { Ask, Json, JsonObject } from "@blockyard/kernel";
import { unwrapCommand } from "@blockyard/providers";

/** Of a command these change nothing of what runs: how long it may take, whether it is waited for, what is said about it. */
const ASIDE = new Set(
  "description explanation timeout timeout_ms timeoutMs run_in_background is_background background commands initial_wait".split(
    " ",
  ),
);
/** GitHub Copilot says with `mode` whether it waits. Another word may mean other rights. */
const WAITS = new Set<Json | undefined>(["sync", "async"]);
const FOLDERS = new Set("cwd directory workdir".split(" "));
/** Rights that go on after the call. */
const RIGHTS = ["grantRoot", "additionalPermissions", "permissions"] as const;

export function isAllCompared({ subject, input }: Pick<Ask, "subject" | "input">): boolean {
  if (!isObject(input)) return true;
  if (RIGHTS.some((name) => isGiven(input[name]))) return false;
  if (subject?.type !== "command") return true;
  const { command, cmd = command, ...rest } = input as JsonObject;
  // Where the input has no command, somebody has made one from its title.
  if (typeof cmd !== "string" || (command ?? cmd) !== cmd) return false;
  if (cmd !== subject.command && unwrapCommand(cmd) !== subject.command) return false;
  return Object.entries(rest).every(
    ([name, value]) =>
      !isGiven(value) ||
      ASIDE.has(name) ||
      (FOLDERS.has(name) && value === subject.cwd) ||
      (name === "mode" && WAITS.has(value)),
  );
}

function isGiven(value: Json | undefined): boolean {
  return value !== undefined && value !== null && value !== false && value !== "";
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
