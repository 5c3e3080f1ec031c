/** The kernel's public surface, by name: the parts that can be had alone, which name what they have, and everything else. */

export { keyIn } from "./ingest/imported.ts";
export { Ingest, type IngestKernel } from "./ingest/ingest.ts";
export {
  ASK_KINDS,
  type AskAnswer,
  type AskKind,
  type AskOption,
  type AskQuestion,
  type AskState,
  type AskSubject,
  type AskSuggestion,
  allowingAnswers,
  allowsOnce,
  expiredAsk,
  furtherAnswers,
  hasPlan,
  isAnswerableLate,
  isAsked,
  lateAsk,
} from "./model/ask.ts";
export { type Block, type LooseBlock, type WholeBlock, withMetadata } from "./model/block.ts";
export type { Change, ClosedResult } from "./model/change.ts";
export {
  addUsage,
  type Conversation,
  type ConversationMetadata,
  NO_USAGE,
  newConversation,
  openAsks,
  reportsNothing,
  subtractUsage,
  type Turn,
  type TurnCommand,
} from "./model/conversation.ts";
export type { Cursor } from "./model/cursor.ts";
export type { BlockEvent, BlockKey, TurnStatus, Usage } from "./model/event.ts";
export { copiedKind } from "./model/file-copy.ts";
export type { AgentId } from "./model/ids.ts";
export { cleanJson, defined, type Exact } from "./model/json.ts";
export {
  REASONS,
  RESULT_KINDS,
  type Reason,
  ROLES,
  type Role,
  STAGES,
  type Stage,
  type Status,
} from "./model/kind.ts";
export { latency } from "./model/latency.ts";
export {
  checkMetadata,
  type FileConflict,
  type HoldReason,
  type Metadata,
  metadataSchemas,
  patchMetadata,
  type QueuedMark,
  type ToldMark,
} from "./model/metadata.ts";
export { type Op, type OpBody, type Splice, splicesOf } from "./model/op.ts";
export { isPassing, type ProblemCode } from "./model/problem.ts";
export { stopLeased } from "./nodes/leased.ts";
export { Leases } from "./nodes/leases.ts";
export { Nodes } from "./nodes/nodes.ts";
export { closeOrphans } from "./nodes/orphans.ts";
export * from "./plain.ts";
export type { AuditEntry, AuditLog, AuditQuery, NewAuditEntry } from "./ports/audit.ts";
export { type Broadcast, type BroadcastMessage, LocalBroadcast } from "./ports/broadcast.ts";
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
  SearchIndexing,
  SearchMatch,
  SearchPlace,
  SearchQuery,
  Store,
  TurnedCommit,
} from "./ports/store.ts";
export { leftOfAsk, shownAsk } from "./presentation/ask-bounds.ts";
export { exactName, spellAlike } from "./presentation/exact.ts";
export {
  type FormField,
  type FormInput,
  formContent,
  formFields,
  wrongFields,
} from "./presentation/form-fields.ts";
export { ASK_BOUNDS } from "./presentation/limits.ts";
export { namesOtherHost } from "./presentation/safe-link.ts";
export * from "./presentation.ts";
export * from "./search.ts";
export { MemoryNodes } from "./testing/memory-nodes.ts";
export { MemoryStore } from "./testing/memory-store.ts";
export { VirtualEnv } from "./testing/virtual-env.ts";
export { cleanText } from "./text/sanitize.ts";
export { Text } from "./text/text.ts";
export { type Access, CALLER_ROLES, type CallerRole, may, mayNot, type Right } from "./tools/access.ts";
export type { BlockPatch } from "./tools/block-patch.ts";
export { problemOf, StreamProblem } from "./tools/block-subscribe.ts";
export { callBytes, makeTable, schemasOf, type ToolSchema, type ToolTable } from "./tools/call.ts";
export type { Answer, CallsOf, CallTool } from "./tools/calls.ts";
export type { ExportLine } from "./tools/conversation-export.ts";
export type { CostRow } from "./tools/cost-report.ts";
export { type CoreCalls, callTool, coreTools } from "./tools/index.ts";
export { mayDirect } from "./tools/rights.ts";
export {
  blockIdField,
  type Call,
  contract,
  conversationField,
  conversationMetadataField,
  type FilePort,
  jsonField,
  type Signal,
  type Streamed,
  type Tool,
  tool,
} from "./tools/tool.ts";
export {
  type BlockSnapshot,
  type ConversationView,
  snapshotSchema,
  snapshotView,
  type TurnView,
  turnSchema,
  turnView,
} from "./tools/view.ts";
export * from "./tools.ts";
export { Replica } from "./wire/client/replica.ts";
export { View, type ViewChange } from "./wire/client/view.ts";
export { encodeFrame } from "./wire/encode.ts";
export type { ByeCode, ClientFrame, ServerFrame } from "./wire/frame.ts";
export type { LlmEvent } from "./wire/llm-event.ts";
export { isContent, LlmEvents } from "./wire/llm-events.ts";
export { type LlmMessage, legacy, reduceLlm } from "./wire/llm-messages.ts";
export { Connection, type Presence } from "./wire/server/connection.ts";
export type { ToolUpdate } from "./wire/tool-updates.ts";
export { type ContextBlock, contextOf, type PathBlock, pathIn } from "./write/context.ts";
export { sessionDeletedAt } from "./write/deletions.ts";
export { Draft } from "./write/draft.ts";
export type { NewBlock } from "./write/draft-base.ts";
export { patiently } from "./write/patience.ts";
export { isFromPrompt, titleFrom, titlePatch } from "./write/title.ts";
export type { Write } from "./write/write.ts";
