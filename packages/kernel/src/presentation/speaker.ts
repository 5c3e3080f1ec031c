/**
 * The speaker: the person who wrote a prompt, or the agent whose answer and work follow. Consecutive blocks with the
 * same speaker share one line that names it.
 */

import type { Role } from "../model/kind.ts";

/** Agents as their makers write them. */
const NAMES: Readonly<Record<string, string>> = {
  claude: "Claude Code",
  codex: "Codex",
  anthropic: "Anthropic API",
  openai: "OpenAI API",
  gemini: "Gemini CLI",
  opencode: "opencode",
  qwen: "Qwen Code",
  copilot: "GitHub Copilot",
  kimi: "Kimi Code",
};

/** Blockyard itself, which writes to an agent when a restart or a limit has cut it off. */
export const ITSELF = "blockyard";

export interface Speaker {
  readonly side: "person" | "agent";
  /** The agent's id; of a person too. */
  readonly id: string;
  readonly name: string;
}

interface Said {
  readonly role: Role;
  readonly agent: string;
  readonly side: boolean;
  readonly metadata?: { readonly author?: unknown };
}

interface SpokenIn {
  /** Who brought the conversation here. */
  readonly createdBy: string | undefined;
  /** The agent of the conversation. */
  readonly provider: string | undefined;
  /** The reader, shown as "You". */
  readonly self?: string | undefined;
}

/** System messages have no speaker. */
export function speakerOf(said: Said, { createdBy, provider, self }: SpokenIn): Speaker | undefined {
  const { role, side } = said;
  const agent = authorOf(said);
  if (role === "system") return undefined;
  if (role !== "user") return { side: "agent", id: agent, name: agentName(agent) };
  // A stream or a session log is written under the agent's name, also the prompts in it: they are of who brought it here.
  const isBrought = !side && (agent === provider || NAMES[agent] !== undefined) && createdBy !== undefined;
  const id = isBrought ? createdBy : agent;
  return { side: "person", id, name: id === self ? "You" : agentName(id) };
}

/** The author of a block's words: for a fork's copy, the author of the source. */
export function authorOf({ agent, metadata }: Pick<Said, "agent" | "metadata">): string {
  return typeof metadata?.author === "string" ? metadata.author : agent;
}

export function agentName(id: string): string {
  if (id === ITSELF) return "Blockyard";
  return Object.hasOwn(NAMES, id) ? (NAMES[id] as string) : id;
}
