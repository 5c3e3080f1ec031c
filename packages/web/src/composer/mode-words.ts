/**
 * What each mode lets an agent do, for its menu. An agent with its own sandbox, such as Codex, asks for what the
 * sandbox forbids, not for each command.
 */
import { MODE_NAMES } from "@blockyard/kernel";
import type { IconName } from "../ui/icons.tsx";
import type { Mode } from "./agents.ts";

interface ModeWords {
  readonly name: string;
  readonly description: string;
  readonly icon: IconName;
}

const MODES: Readonly<Record<Mode, ModeWords>> = {
  plan: { name: MODE_NAMES.plan, description: "Reads and writes a plan. Changes nothing", icon: "todo" },
  ask: { name: MODE_NAMES.ask, description: "Asks before it edits files or runs commands", icon: "lock" },
  edits: {
    name: MODE_NAMES.edits,
    description: "Edits files without asking. Asks before commands",
    icon: "edit",
  },
  full: { name: MODE_NAMES.full, description: "Does everything without asking", icon: "unlock" },
};

const SANDBOXED: Partial<Record<Mode, string>> = {
  ask: "Runs commands that cannot write files. Asks before everything else",
  edits: "Edits files and runs commands in the workspace, without network. Asks before everything else",
};

export function modeWords(mode: Mode, isSandboxed: boolean): ModeWords {
  const words = MODES[mode];
  return isSandboxed ? { ...words, description: SANDBOXED[mode] ?? words.description } : words;
}
