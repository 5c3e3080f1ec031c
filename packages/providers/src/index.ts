/**
 * The providers' public surface, by name.
 */

export { acpWith } from "./acp/adapter.ts";
export { type Routed, SessionRoutes } from "./acp/routes.ts";
export type { AcpOptions } from "./acp/state.ts";
export { type Adapter, type Before, countedIn } from "./adapter.ts";
export { anthropicAdapter, anthropicWith } from "./anthropic/adapter.ts";
export type { AnthropicOptions } from "./anthropic/state.ts";
export { type PatchChange, patchChanges } from "./apply-patch.ts";
export { cutCall, endCall, type Outcome, openResult, resultKey } from "./call.ts";
export { joinedLabels } from "./claude/ask.ts";
export { codexAdapter } from "./codex/adapter.ts";
export { codexParentThread } from "./codex/log.ts";
export { unwrapCommand } from "./codex/shell.ts";
export type { CodexStart } from "./codex/state.ts";
export { codexAppServerAdapter } from "./codex-app-server/adapter.ts";
export { saidIn } from "./codex-app-server/item.ts";
export { KNOWN_PROMPT } from "./codex-app-server/items.ts";
export { askedText, editedFile, overwrittenFile } from "./edit-diff.ts";
export { Fold, type Folded, type FoldedBlock, type FoldedTurn, fold } from "./fold.ts";
export { hasMoreValues, isObject, parseJson, parseLine } from "./framing/json.ts";
export { type Line, LineReader } from "./framing/lines.ts";
export { END_MARKER, type SseItem, SseReader } from "./framing/sse.ts";
export { languageOf } from "./language.ts";
export { bounds } from "./limits.ts";
export {
  type FolderEntry,
  type FoundLog,
  type Importer,
  type ListFolder,
  type LogFile,
  type LogFiles,
  type LogFinder,
  logBytes,
  logFile,
} from "./log.ts";
export { type NormalizeOptions, Normalizer, normalize } from "./normalize.ts";
export { type OpenaiOptions, openaiAdapter, openaiWith } from "./openai/adapter.ts";
export { type Recognised, recognise } from "./recognise.ts";
export { type Provider, providers } from "./registry.ts";
export { compactParams, cutRow, lineCount, rowOf } from "./row.ts";
export { type Asks, type Summary, summaryOf } from "./summary.ts";
export { type Direction, readTraffic, type Traffic, trafficLine } from "./traffic.ts";
export { type TreeOptions, treeText } from "./tree.ts";
export { type ChangeKind, type Hunk, hunksOf, joinDiffs, unifiedDiff } from "./unified-diff.ts";
export { NOISE, noiseBlock, typeOf, unknownEvent } from "./unknown.ts";
export {
  anthropicUsage,
  costSince,
  costUsd,
  openaiUsage,
  type Price,
  type PriceTable,
  usageSince,
} from "./usage.ts";
