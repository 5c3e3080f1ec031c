/**
 * The kernel's public surface, by name.
 */

export { AssertionError, assert, unreachable } from "./assert.ts";
export {
  type AgentId,
  type Block,
  type BlockId,
  type BlockIdParts,
  blockId,
  CHANGE_KINDS,
  type ConversationId,
  canFollow,
  checkMetadata,
  isAgentId,
  isConversationId,
  isEnded,
  KINDS,
  type Kind,
  type Metadata,
  metadataSchemas,
  parseBlockId,
  patchMetadata,
  REASONS,
  RESULT_KINDS,
  type Reason,
  ROLES,
  type Role,
  STAGES,
  STATUSES,
  type Stage,
  type Status,
  type WholeBlock,
} from "./block.ts";
export { type Env, randomName } from "./env.ts";
export type { BlockEvent, BlockKey, TurnStatus, Usage } from "./event.ts";
export { cleanJson, type Json, type JsonObject, sameJson } from "./json.ts";
export { limits } from "./limits.ts";
export { isProblem, type Problem, type ProblemCode, problem } from "./problem.ts";
