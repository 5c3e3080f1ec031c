/**
 * The kernel's public surface, by name.
 */

export { applyOp, applyToConversation } from "./apply.ts";
export {
  ASK_KINDS,
  ASK_SCOPES,
  ASK_STATES,
  type Ask,
  type AskAnswer,
  type AskForm,
  type AskKind,
  type AskOption,
  type AskQuestion,
  type AskScope,
  type AskState,
  type AskSubject,
  type AskSuggestion,
  askOf,
  askSchema,
  expiredAsk,
  isAsked,
  waitsFor,
} from "./ask.ts";
export { askWords, repeatsDenial } from "./ask-words.ts";
export { AssertionError, assert, unreachable } from "./assert.ts";
export type { AuditEntry, AuditLog, AuditQuery, NewAuditEntry } from "./audit.ts";
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
  conversationOf,
  type HoldReason,
  isAgentId,
  isConversationId,
  isEnded,
  KINDS,
  type Kind,
  type Metadata,
  metadataSchemas,
  parseBlockId,
  patchMetadata,
  type QueuedMark,
  REASONS,
  RESULT_KINDS,
  type Reason,
  ROLES,
  type Role,
  STAGES,
  STATUSES,
  type Stage,
  type Status,
  type ToldMark,
  type WholeBlock,
} from "./block.ts";
export { type Broadcast, type Hint, LocalBroadcast, type Word } from "./broadcast.ts";
export { type CallOutcome, callOutcome, isAtWork } from "./call-outcome.ts";
export { foldCase } from "./case-fold.ts";
export { type ChangeText, changeTexts, UNVERIFIED } from "./change-text.ts";
export { decodeReferences } from "./character-references.ts";
export { citedMarkdown, type Source, sourcesOf } from "./citations.ts";
export { type ContextBlock, contextOf, type PathBlock, pathIn, pathOf } from "./context.ts";
export {
  addUsage,
  type Conversation,
  type ConversationPatch,
  type MessageUsage,
  NO_USAGE,
  newConversation,
  subtractUsage,
  type Turn,
  type TurnOrder,
} from "./conversation.ts";
export { type Cursor, Cursors, type FarCursor } from "./cursor.ts";
export { Draft, type NewBlock } from "./draft.ts";
export { derivedName, type Env, randomName } from "./env.ts";
export type { BlockEvent, BlockKey, TurnStatus, Usage } from "./event.ts";
export { copiedKind } from "./file-copy.ts";
export { formatAge, formatCost, formatCount, formatDuration, plural, toolTitle } from "./format.ts";
export { keyIn } from "./imported.ts";
export { Ingest, type IngestOptions } from "./ingest.ts";
export { cleanJson, type Json, type JsonObject, sameJson } from "./json.ts";
export { Kernel, type Listener } from "./kernel.ts";
export { stopLeased } from "./leased.ts";
export { Leases, type LeasesOptions } from "./leases.ts";
export { legacyName } from "./legacy-name.ts";
export { limits } from "./limits.ts";
export { type LiveEdit, type LiveInput, type LiveTodo, liveInput, liveTextPath } from "./live-input.ts";
export {
  amountOf,
  type Excerpt,
  type Extent,
  excerptOf,
  isAskedFor,
  isClosedFirst,
  isFailedResult,
  isLong,
  type Lines,
  leftWords,
} from "./long-text.ts";
export { boundRules, MarkdownBudget, type MarkdownRules, TOO_HARD } from "./markdown-bound.ts";
export { type MathToken, maskMath, mathRules } from "./markdown-math.ts";
export { MemoryNodes } from "./memory-nodes.ts";
export { MemoryStore } from "./memory-store.ts";
export { Nodes, type NodesOptions } from "./nodes.ts";
export { countNewlines, type Op, type OpBody, type OpType, type Splice, splicesOf } from "./op.ts";
export { type Closed, closeOrphans } from "./orphans.ts";
export { type GrowingString, PartialJson, type PartialPath, type PartialState } from "./partial-json.ts";
export { patiently } from "./patience.ts";
export { compilePattern, type Pattern, type PatternSource } from "./pattern.ts";
export { changePictures } from "./pictures.ts";
export { isPassing, isProblem, type Problem, type ProblemCode, problem } from "./problem.ts";
export { isMarkdownResult, showsPictures, todoLine } from "./result-look.ts";
export { Retry } from "./retry.ts";
export {
  type Clock,
  fitsSearch,
  type Guard,
  inlineMatcher,
  type MatchAnswer,
  type Matcher,
  type MatchQuery,
  matchWithin,
  type SearchSource,
  searchBlocks,
} from "./search.ts";
export { type Matches, type MatchOptions, matchText } from "./search-match.ts";
export type { Demand } from "./search-syntax.ts";
export { type SessionFact, type SessionFacts, sessionFacts } from "./session-facts.ts";
export { isShellCommand } from "./shell-command.ts";
export type {
  BlockLog,
  BlockQuery,
  Commit,
  CommitAnswer,
  Fold,
  LogPoint,
  Missed,
  NodeList,
  NodeRegister,
  RawRun,
  SearchAnswer,
  SearchHit,
  SearchIndexing,
  SearchMatch,
  SearchPlace,
  SearchQuery,
  Store,
  TurnedCommit,
} from "./store.ts";
export {
  checkCommit,
  checkLone,
  fitsQuery,
  newestBlockFirst,
  newestFirst,
  oldestFirst,
  StoreError,
  type StoreErrorCode,
  spliced,
} from "./store-rules.ts";
export { cleanText } from "./text/door.ts";
export { exactText } from "./text/exact.ts";
export { mapOffset, Text, utf8Length } from "./text/text.ts";
export { timesText } from "./times.ts";
export type { BlockPatch, WholePatch } from "./tools/block-patch.ts";
export { problemOf, StreamProblem } from "./tools/block-subscribe.ts";
export {
  callBytes,
  callIn,
  makeTable,
  modelName,
  schemasOf,
  type ToolSchema,
  type ToolTable,
} from "./tools/call.ts";
export { type ExportLine, exportLines } from "./tools/conversation-export.ts";
export { callTool, coreTable, coreTools, toolSchemas } from "./tools/index.ts";
export {
  type Access,
  blockIdField,
  type Call,
  type Caller,
  conversationField,
  type FilePort,
  mayCall,
  type Signal,
  type Streamed,
  type Tool,
  tool,
} from "./tools/tool.ts";
export {
  type BlockSnapshot,
  type BlockView,
  blockView,
  type ConversationView,
  conversationView,
  snapshotSchema,
  snapshotView,
  type TurnView,
  turnSchema,
  turnView,
} from "./tools/view.ts";
export { filterOf, mayContain, type TrigramQuery, trigramsOf } from "./trigram.ts";
export { type NativeFacts, nativeFacts } from "./turn-facts.ts";
export { VirtualEnv } from "./virtual-env.ts";
export { Connection, type ConnectionOptions, type Pipe, type Presence } from "./wire/connection.ts";
export { encodeFrame } from "./wire/encode.ts";
export {
  type ByeCode,
  type ClientFrame,
  clientFrame,
  fromBase64,
  PROTOCOL,
  type ServerFrame,
  type Snapshot,
  toBase64,
  type WireOp,
} from "./wire/frame.ts";
export {
  type ContentBlockType,
  hasStarted,
  isContent,
  LLM_VERSION,
  type LlmEvent,
  LlmEvents,
} from "./wire/llm-events.ts";
export {
  type LlmContentBlock,
  type LlmMessage,
  type LlmToolExecution,
  legacy,
  reduceLlm,
} from "./wire/llm-messages.ts";
export { Replica, type SyncListener, View, type ViewChange } from "./wire/replica.ts";
export { type ToolResult, type ToolUpdate, ToolUpdates } from "./wire/tool-updates.ts";
export type { Told, Write } from "./write.ts";
