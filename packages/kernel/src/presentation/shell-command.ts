/**
 * Which command blocks a shell could run. A command block shows anything that ran somewhere and printed something: also the
 * code of an interpreter, which a shell would take for something else.
 */

import type { Block } from "../model/block.ts";
import { jsonText } from "../model/json.ts";

/** Tools whose `command` is a program in another language. */
const INTERPRETERS =
  /^(code_interpreter|code_execution|python|python_execution|powershell|repl|notebookedit)$/i;

export function isShellCommand({ kind, metadata }: Pick<Block, "kind" | "metadata">): boolean {
  const { command, toolName } = metadata;
  if (kind !== "command" || typeof command !== "string" || command.trim() === "") return false;
  return !INTERPRETERS.test(jsonText(toolName ?? ""));
}
