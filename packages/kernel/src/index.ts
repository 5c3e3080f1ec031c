/**
 * The kernel's public surface, by name.
 */

export { keyIn } from "./ingest/imported.ts";
export { Ingest, type IngestKernel } from "./ingest/ingest.ts";
export type { IngestOptions } from "./ingest/place.ts";
export { applyOp, applyToConversation } from "./model/apply.ts";
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
  furtherAnswers,
  isAnswerableLate,
  isAsked,
  waitsFor,
} from "./model/ask.ts";
export { AssertionError, assert, unreachable } from "./model/assert.ts";
export {
  type Block,
  type BlockOf,
  blockOf,
  isResult,
  type LooseBlock,
  type WholeBlock,
  withMetadata,
} from "./model/block.ts";
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
  subtractUsage,
  type Turn,
  type TurnOrder,
} from "./model/conversation.ts";
export type { Cursor, FarCursor } from "./model/cursor.ts";
export type { BlockEvent, BlockKey, TurnStatus, Usage } from "./model/event.ts";
export { copiedKind } from "./model/file-copy.ts";
export {
  type AgentId,
  type BlockId,
  type BlockIdParts,
  blockId,
  type ConversationId,
  conversationOf,
  isAgentId,
  isConversationId,
  parseBlockId,
} from "./model/ids.ts";
export {
  cleanJson,
  type Defined,
  defined,
  type Exact,
  type Json,
  type JsonObject,
  type ReadonlyDeep,
  sameJson,
} from "./model/json.ts";
export {
  canFollow,
  isEnded,
  KINDS,
  type Kind,
  REASONS,
  RESULT_KINDS,
  type Reason,
  ROLES,
  type Role,
  STAGES,
  STATUSES,
  type Stage,
  type Status,
} from "./model/kind.ts";
export { latency, lineSeenWithinMs, seenWithinMs } from "./model/latency.ts";
export { limits } from "./model/limits.ts";
export {
  type AnyMetadata,
  CHANGE_KINDS,
  checkMetadata,
  type FileConflict,
  type HoldReason,
  type Metadata,
  metadataOf,
  metadataSchemas,
  patchMetadata,
  type QueuedMark,
  type ToldMark,
} from "./model/metadata.ts";
export {
  continues,
  countNewlines,
  type Op,
  type OpBody,
  type OpType,
  type Splice,
  splicesOf,
} from "./model/op.ts";
export { everySession } from "./model/past-sessions.ts";
export { type PictureSize, pictureSize } from "./model/picture-size.ts";
export { blobsIn, changePictures } from "./model/pictures.ts";
export { isPassing, isProblem, type Problem, type ProblemCode, problem } from "./model/problem.ts";
export { type SessionFact, type SessionFacts, sessionFacts } from "./model/session-facts.ts";
export { timesText } from "./model/times.ts";
export { type NativeFacts, nativeFacts } from "./model/turn-facts.ts";
export { stopLeased } from "./nodes/leased.ts";
export { Leases, type LeasesOptions } from "./nodes/leases.ts";
export { Nodes, type NodesOptions } from "./nodes/nodes.ts";
export { type Closed, closeOrphans } from "./nodes/orphans.ts";
export type { AuditEntry, AuditLog, AuditQuery, NewAuditEntry } from "./ports/audit.ts";
export { type Broadcast, type Hint, LocalBroadcast, type Word } from "./ports/broadcast.ts";
export { derivedName, type Env, randomName } from "./ports/env.ts";
export { legacyName } from "./ports/legacy-name.ts";
export { Retry } from "./ports/retry.ts";
export type {
  BlockLog,
  BlockQuery,
  Commit,
  CommitAnswer,
  ConversationQuery,
  Deletion,
  DeletionLog,
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
} from "./ports/store.ts";
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
} from "./ports/store-rules.ts";
export { answerWords, askWords, repeatsDenial } from "./presentation/ask-words.ts";
export {
  type CallLine,
  callLine,
  cameWords,
  commandIn,
  endWord,
  firstSentence,
  onOneLine,
  shortPath,
} from "./presentation/call-line.ts";
export { type CallOutcome, callOutcome, isAtWork } from "./presentation/call-outcome.ts";
export {
  type ChangeText,
  changedIn,
  changeTexts,
  observedHeading,
  UNVERIFIED,
} from "./presentation/change-text.ts";
export { decodeReferences } from "./presentation/character-references.ts";
export { citedMarkdown, type Source, sourcesOf } from "./presentation/citations.ts";
export { type Deed, deedOf } from "./presentation/deed.ts";
export { folderLabel, inFolder, shortenPaths, withShortPaths } from "./presentation/folder-path.ts";
export {
  type FormField,
  type FormInput,
  formContent,
  formFields,
  wrongFields,
} from "./presentation/form-fields.ts";
export {
  formatAge,
  formatCost,
  formatCount,
  formatDuration,
  plural,
  spentWords,
} from "./presentation/format.ts";
export { gather, gatheredWords, livingTodos, type TodoStep } from "./presentation/gather.ts";
export { SUMMARY_LINES } from "./presentation/limits.ts";
export {
  type LiveEdit,
  type LiveInput,
  type LiveTodo,
  liveInput,
  liveTextPath,
} from "./presentation/live-input.ts";
export {
  amountOf,
  cutLine,
  type Excerpt,
  type Extent,
  excerptOf,
  isAskedFor,
  isCutLine,
  isFailedResult,
  isLong,
  type Lines,
  leftWords,
} from "./presentation/long-text.ts";
export {
  deedOfCall,
  type Entry,
  type Facts,
  type Form,
  formOf,
  isGathered,
  isNotice,
  type Loudness,
  loudnessOf,
  startLines,
  tailLines,
} from "./presentation/loudness.ts";
export { boundRules, MarkdownBudget, type MarkdownRules, TOO_HARD } from "./presentation/markdown-bound.ts";
export { type MathToken, maskMath, mathRules } from "./presentation/markdown-math.ts";
export { noticeName } from "./presentation/notice-name.ts";
export { outputSummary } from "./presentation/output-summary.ts";
export {
  type GrowingString,
  PartialJson,
  type PartialPath,
  type PartialState,
} from "./presentation/partial-json.ts";
export { REASON_WORDS } from "./presentation/reason-words.ts";
export { isMarkdownResult, showsPictures, todoLine } from "./presentation/result-look.ts";
export { hostOf, namesOtherHost, safeImageData, safeLink, safePicture } from "./presentation/safe-link.ts";
export { isShellCommand } from "./presentation/shell-command.ts";
export { agentName, authorOf, type Speaker, speakerOf } from "./presentation/speaker.ts";
export {
  paletteColor,
  plainTerminal,
  readTerminal,
  type TerminalLine,
  type TerminalRun,
  type TerminalStyle,
} from "./presentation/terminal-text.ts";
export { knownTool, toolTitle } from "./presentation/tool-title.ts";
export { foldCase } from "./search/case-fold.ts";
export { compilePattern, type Pattern, type PatternSource } from "./search/pattern.ts";
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
} from "./search/search.ts";
export { type Matches, type MatchOptions, matchText } from "./search/search-match.ts";
export type { Demand } from "./search/search-syntax.ts";
export { filterOf, mayContain, type TrigramQuery, trigramsOf } from "./search/trigram.ts";
export { MemoryNodes } from "./testing/memory-nodes.ts";
export { MemoryStore } from "./testing/memory-store.ts";
export { VirtualEnv } from "./testing/virtual-env.ts";
export { exactName, exactText } from "./text/exact.ts";
export { cleanText } from "./text/sanitize.ts";
export { mapOffset, Text, utf8Length } from "./text/text.ts";
export { type Access, CALLER_ROLES, type CallerRole, may, mayNot, type Right } from "./tools/access.ts";
export type { BlockPatch, WholePatch } from "./tools/block-patch.ts";
export { problemOf, StreamProblem } from "./tools/block-subscribe.ts";
export {
  callBytes,
  callIn,
  makeTable,
  schemasOf,
  type ToolSchema,
  type ToolTable,
} from "./tools/call.ts";
export {
  type Answer,
  type AnswerOf,
  type Calls,
  type CallsOf,
  type CallTool,
  modelName,
  typedCalls,
} from "./tools/calls.ts";
export { type ExportLine, exportLines } from "./tools/conversation-export.ts";
export type { CostRow } from "./tools/cost-report.ts";
export { type CoreCalls, callTool, coreTable, coreTools, toolSchemas } from "./tools/index.ts";
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
export { Cursors } from "./write/cursors.ts";
export { sessionDeletedAt } from "./write/deletions.ts";
export { Draft } from "./write/draft.ts";
export type { NewBlock } from "./write/draft-base.ts";
export { Kernel, type Listener } from "./write/kernel.ts";
export { patiently } from "./write/patience.ts";
export { isFromPrompt, titleFrom, titlePatch } from "./write/title.ts";
export type { Write } from "./write/write.ts";
