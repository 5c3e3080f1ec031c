/**
 * The part of the public surface that needs no schema and no library: problems, ids, kinds, limits, plain rules of blocks and
 * ops, and how numbers and times read. A command that only calls a server, and threads, start with this much. Everything here is
 * in index.ts too; tests count what it loads.
 */

export { assert } from "./model/assert.ts";
export { blockOf, isResult } from "./model/block.ts";
export {
  type BlockId,
  blockId,
  type ConversationId,
  conversationOf,
  isAgentId,
  isConversationId,
  parseBlockId,
} from "./model/ids.ts";
export { type Json, type JsonObject, jsonText, ownValue, sameJson } from "./model/json.ts";
export { isEnded, KINDS, type Kind, STATUSES } from "./model/kind.ts";
export { limits } from "./model/limits.ts";
export { MODE_NAMES } from "./model/mode-names.ts";
export { continues, countNewlines, splicesOf } from "./model/op.ts";
export { everySession } from "./model/past-sessions.ts";
export { type PictureSize, pictureSize } from "./model/picture-size.ts";
export { blobsIn, changePictures } from "./model/pictures.ts";
export { isProblem, type Problem, problem } from "./model/problem.ts";
export { type SessionFacts, sessionFacts } from "./model/session-facts.ts";
export { type Env, randomName } from "./ports/env.ts";
export {
  checkCommit,
  checkLone,
  fitsQuery,
  newestBlockFirst,
  newestFirst,
  oldestFirst,
  StoreError,
  type StoreErrorCode,
} from "./ports/store-rules.ts";
export {
  formatAge,
  formatCost,
  formatCount,
  formatDuration,
  outputWords,
  plural,
  spentWords,
  turnSpentWords,
} from "./presentation/format.ts";
export { hitText } from "./presentation/search-hit.ts";
export { modelName, typedCalls } from "./tools/calls.ts";
