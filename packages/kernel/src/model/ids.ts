/**
 * Ids. A block's id is `conversation/agent/seq`, with the seq of the op that created it: unique without another counter, ordered
 * by age within a conversation, and short enough for a model to repeat.
 */

export type ConversationId = string;
export type AgentId = string;
export type BlockId = string;

export function blockId(conversation: ConversationId, agent: AgentId, seq: number): BlockId {
  return `${conversation}/${agent}/${seq}`;
}

const BLOCK_ID = /^([a-z0-9-]{1,40})\/([a-z0-9][a-z0-9._@-]{0,63})\/(\d{1,15})$/;

interface BlockIdParts {
  readonly conversation: ConversationId;
  readonly agent: AgentId;
  readonly seq: number;
}

/** The parts of a block id; undefined if it is not one. */
export function parseBlockId(id: string): BlockIdParts | undefined {
  const match = BLOCK_ID.exec(id);
  if (!match) return undefined;
  return { conversation: match[1] as string, agent: match[2] as string, seq: Number(match[3]) };
}

/** The conversation of a block id, which is not checked. */
export function conversationOf(id: BlockId): ConversationId {
  return id.slice(0, id.indexOf("/"));
}

export function isConversationId(id: string): boolean {
  return /^[a-z0-9-]{1,40}$/.test(id);
}

export function isAgentId(id: string): boolean {
  return /^[a-z0-9][a-z0-9._@-]{0,63}$/.test(id);
}
