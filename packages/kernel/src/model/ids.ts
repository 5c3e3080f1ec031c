/**
 * Identities. A block's is `conversation/agent/seq`, where seq is the conversation's sequence number of the op that created the block:
 * unique without any counter, sorted by age inside a conversation, and short enough to be repeated by a model.
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

/** Reads an id that something printed; undefined if it is none. */
export function parseBlockId(id: string): BlockIdParts | undefined {
  const match = BLOCK_ID.exec(id);
  if (!match) return undefined;
  return { conversation: match[1] as string, agent: match[2] as string, seq: Number(match[3]) };
}

/** The conversation that a block's id names; of what is no block's id, anything. */
export function conversationOf(id: BlockId): ConversationId {
  return id.slice(0, id.indexOf("/"));
}

export function isConversationId(id: string): boolean {
  return /^[a-z0-9-]{1,40}$/.test(id);
}

export function isAgentId(id: string): boolean {
  return /^[a-z0-9][a-z0-9._@-]{0,63}$/.test(id);
}
