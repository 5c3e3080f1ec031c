/**
 * The part of the public surface that needs no schema and no library: problems, ids, kinds, limits, and how numbers and times
 * read. A command that only calls a server starts with this much. Everything here is in index.ts too; a test counts what it loads.
 */

export { type BlockId, type ConversationId, isAgentId, parseBlockId } from "./model/ids.ts";
export type { Json, JsonObject } from "./model/json.ts";
export { KINDS, type Kind } from "./model/kind.ts";
export { limits } from "./model/limits.ts";
export { everySession } from "./model/past-sessions.ts";
export { type PictureSize, pictureSize } from "./model/picture-size.ts";
export { isProblem, type Problem, problem } from "./model/problem.ts";
export { type SessionFact, type SessionFacts, sessionFacts } from "./model/session-facts.ts";
export { type Env, randomName } from "./ports/env.ts";
export { StoreError, type StoreErrorCode } from "./ports/store-rules.ts";
export { formatAge, formatCost, formatCount, formatDuration, plural } from "./presentation/format.ts";
export { typedCalls } from "./tools/calls.ts";
