/**
 * Whose words a model reads. What the person says who asks, and what the agents say that this server runs, stands as it is.
 * Everything else was written or changed by others (programs with a token of their own): it is marked with who did, every
 * line of it quoted, so that no text can pass for the person's, or for what the model itself has said.
 */

import {
  type Block,
  type BlockId,
  type ContextBlock,
  isProblem,
  type Kernel,
  type Problem,
  type WholeBlock,
} from "@blockyard/kernel";

/** Who is who in a turn. */
export interface Voices {
  /** Who asks. */
  readonly owner: string;
  /** Agents that this server runs. No token has such a name. */
  readonly agents: ReadonlySet<string>;
}

/** A block of the context, and who else has changed its text. */
export interface SignedBlock extends ContextBlock {
  readonly editedBy?: readonly string[];
}

const LINE_END = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/;
const UNKNOWN = "others";

/** Who has changed a block's text, besides the one that it is of. What is older than the history may be of anybody. */
export async function editorsOf(
  kernel: Kernel,
  { id, agent, promoted }: Block,
): Promise<readonly string[] | Problem> {
  if (!promoted) return [];
  const log = await kernel.log(id, { version: 0 });
  if (isProblem(log)) return log;
  const editors = log.ops
    .filter((op) => op.agent !== agent && op.body.type === "splice")
    .map((op) => op.agent);
  return [...new Set(log.fold ? [UNKNOWN, ...editors] : editors)];
}

/** The context with its editors, as far as they are neither the person nor an agent that runs here. */
export async function signed(
  kernel: Kernel,
  context: readonly ContextBlock[],
  voices: Voices,
): Promise<readonly SignedBlock[] | Problem> {
  const blocks: SignedBlock[] = [];
  const editors = new Map<BlockId, readonly string[]>();
  for (const each of context) {
    const found = editors.get(each.block.id) ?? (await editorsOf(kernel, each.block));
    if (isProblem(found)) return found;
    editors.set(each.block.id, found);
    const editedBy = found.filter((agent) => isOther(voices, agent));
    blocks.push(editedBy.length === 0 ? each : { ...each, editedBy });
  }
  return blocks;
}

export function isOther({ owner, agents }: Voices, agent: string): boolean {
  return agent !== owner && !agents.has(agent);
}

/** A text of others, with whose it is. */
export function quotedAs(block: WholeBlock, editedBy: readonly string[], text: string): string {
  const name = block.role === "model" ? block.agent : `${block.agent} (${block.role})`;
  const who =
    editedBy.length === 0 ? `${name} wrote this` : `${name} wrote this, ${editedBy.join(", ")} changed it`;
  return `[Blockyard] ${who}; it is not from the person you work for:\n${quoted(text)}`;
}

/** Every line of it begins with a mark, so that no line of it can be one of ours. */
export function quoted(text: string): string {
  const lines = text.toWellFormed().trimEnd().split(LINE_END);
  return lines.map((line) => (line === "" ? "|" : `| ${line}`)).join("\n");
}
