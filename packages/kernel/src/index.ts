/**
 * The kernel's public surface, by name: the parts that can be had alone, which name what they have, and everything else.
 */

export { keyIn } from "./ingest/imported.ts";
export { Ingest, type IngestKernel } from "./ingest/ingest.ts";
export type { IngestOptions } from "./ingest/place.ts";
export { applyOp, applyToConversation } from "./model/apply.ts";
export {
  ASK_KINDS,
  ASK_SCOPES,
  ASK_STATES,
  type AskAnswer,
  type AskForm,
  type AskKind,
  type AskOption,
  type AskQuestion,
  type AskScope,
  type AskState,
  type AskSubject,
  type AskSuggestion,
  allowingAnswers,
  allowsOnce,
  askSchema,
  expiredAsk,
  furtherAnswers,
  hasPlan,
  isAnswerableLate,
  isAsked,
} from "./model/ask.ts";
export { AssertionError } from "./model/assert.ts";
export { type Block, type BlockOf, type LooseBlock, type WholeBlock, withMetadata } from "./model/block.ts";
export type { Change, ClosedResult, Snapshot } from "./model/change.ts";
export {
  addUsage,
  type Conversation,
  type ConversationMetadata,
  type ConversationPatch,
  type Deleted,
  type MessageUsage,
  NO_USAGE,
  newConversation,
  openAsks,
  subtractUsage,
  type Turn,
  type TurnOrder,
} from "./model/conversation.ts";
export type { Cursor, FarCursor } from "./model/cursor.ts";
export type { BlockEvent, BlockKey, TurnStatus, Usage } from "./model/event.ts";
export { copiedKind } from "./model/file-copy.ts";
export type { AgentId, BlockIdParts } from "./model/ids.ts";
export { cleanJson, type Defined, defined, type Exact, type ReadonlyDeep } from "./model/json.ts";
export {
  canFollow,
  REASONS,
  RESULT_KINDS,
  type Reason,
  ROLES,
  type Role,
  STAGES,
  type Stage,
  type Status,
} from "./model/kind.ts";
export { latency, lineSeenWithinMs, seenWithinMs } from "./model/latency.ts";
export {
  type AnyMetadata,
  CHANGE_KINDS,
  checkMetadata,
  type FileConflict,
  type HoldReason,
  type Metadata,
  metadataSchemas,
  patchMetadata,
  type QueuedMark,
  type ToldMark,
} from "./model/metadata.ts";
export { type Op, type OpBody, type OpType, type Splice, splicesOf } from "./model/op.ts";
export { isPassing, type ProblemCode } from "./model/problem.ts";
export { stopLeased } from "./nodes/leased.ts";
export { Leases, type LeasesOptions } from "./nodes/leases.ts";
export { Nodes, type NodesOptions } from "./nodes/nodes.ts";
export { type Closed, closeOrphans } from "./nodes/orphans.ts";
export * from "./plain.ts";
export type { AuditEntry, AuditLog, AuditQuery, NewAuditEntry } from "./ports/audit.ts";
export { type Broadcast, type Hint, LocalBroadcast, type Word } from "./ports/broadcast.ts";
export { derivedName } from "./ports/env.ts";
export { legacyName } from "./ports/legacy-name.ts";
export { Retry } from "./ports/retry.ts";
export type {
  BlockLog,
  BlockQuery,
  Commit,
  CommitAnswer,
  Compacted,
  ConversationQuery,
  Deletion,
  DeletionLog,
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
} from "./ports/store.ts";
export { exactName, spellAlike } from "./presentation/exact.ts";
export {
  type FormField,
  type FormInput,
  formContent,
  formFields,
  wrongFields,
} from "./presentation/form-fields.ts";
export { namesOtherHost } from "./presentation/safe-link.ts";
export * from "./presentation.ts";
export * from "./search.ts";
export { MemoryNodes } from "./testing/memory-nodes.ts";
export { MemoryStore } from "./testing/memory-store.ts";
export { VirtualEnv } from "./testing/virtual-env.ts";
export { cleanText } from "./text/sanitize.ts";
export { mapOffset, Text, utf8Length } from "./text/text.ts";
export { type Access, CALLER_ROLES, type CallerRole, may, mayNot, type Right } from "./tools/access.ts";
export type { BlockPatch, WholePatch } from "./tools/block-patch.ts";
export { problemOf, StreamProblem } from "./tools/block-subscribe.ts";
export { callBytes, makeTable, schemasOf, type ToolSchema, type ToolTable } from "./tools/call.ts";
export type { Answer, AnswerOf, Calls, CallsOf, CallTool } from "./tools/calls.ts";
export type { ExportLine } from "./tools/conversation-export.ts";
export type { CostRow } from "./tools/cost-report.ts";
export { type CoreCalls, callTool, coreTools, toolSchemas } from "./tools/index.ts";
export { mayDirect } from "./tools/rights.ts";
export {
  blockIdField,
  type Call,
  type Caller,
  type Contract,
  contract,
  conversationField,
  conversationMetadataField,
  type FilePort,
  jsonField,
  type Signal,
  type Streamed,
  streamTool,
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
export * from "./tools.ts";
export { Replica } from "./wire/client/replica.ts";
export type { SyncListener } from "./wire/client/syncs.ts";
export { View, type ViewChange } from "./wire/client/view.ts";
export { encodeFrame } from "./wire/encode.ts";
export {
  type ByeCode,
  type ClientFrame,
  clientFrame,
  fromBase64,
  PROTOCOL,
  type ServerFrame,
  toBase64,
  type WireOp,
} from "./wire/frame.ts";
export { type ContentBlockType, LLM_VERSION, type LlmEvent } from "./wire/llm-event.ts";
export { hasStarted, isContent, LlmEvents } from "./wire/llm-events.ts";
export {
  type LlmContentBlock,
  type LlmMessage,
  type LlmToolExecution,
  legacy,
  reduceLlm,
} from "./wire/llm-messages.ts";
export { Connection, type ConnectionOptions, type Pipe, type Presence } from "./wire/server/connection.ts";
export { type ToolResult, type ToolUpdate, ToolUpdates } from "./wire/tool-updates.ts";
export { type ContextBlock, contextOf, type PathBlock, pathIn, pathOf } from "./write/context.ts";
export { sessionDeletedAt } from "./write/deletions.ts";
export { Draft } from "./write/draft.ts";
export type { NewBlock } from "./write/draft-base.ts";
export type { Listener } from "./write/kernel.ts";
export { patiently } from "./write/patience.ts";
export { isFromPrompt, titleFrom, titlePatch } from "./write/title.ts";
export type { Write } from "./write/write.ts";
