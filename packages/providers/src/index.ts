/**
 * The providers' public surface, by name.
 */

export { acpWith } from "./acp/adapter.ts";
export { type Routed, SessionRoutes } from "./acp/routes.ts";
export { type Adapter, type Before, countedIn } from "./adapter.ts";
export { anthropicWith } from "./anthropic/adapter.ts";
export { patchChanges } from "./apply-patch.ts";
export { endCall, type Outcome, openResult } from "./call.ts";
export { joinedLabels } from "./claude/ask.ts";
export { codexParentThread } from "./codex/log.ts";
export { unwrapCommand } from "./codex/shell.ts";
export { saidIn } from "./codex-app-server/item.ts";
export { KNOWN_PROMPT } from "./codex-app-server/items.ts";
export { askedText, editedFile, overwrittenFile } from "./edit-diff.ts";
export { Fold, type Folded, type FoldedBlock, fold } from "./fold.ts";
export { hasMoreValues, isObject, parseJson } from "./framing/json.ts";
export { LineReader } from "./framing/lines.ts";
export { END_MARKER, type SseItem, SseReader } from "./framing/sse.ts";
export { languageOf } from "./language.ts";
export { bounds } from "./limits.ts";
export { type FolderEntry, type FoundLog, type LogFile, type LogFiles, logBytes, logFile } from "./log.ts";
export { Normalizer, normalize } from "./normalize.ts";
export { openaiWith } from "./openai/adapter.ts";
export { recognise } from "./recognise.ts";
export { type Provider, providers } from "./registry.ts";
export { compactParams, lineCount, rowOf } from "./row.ts";
export { type Direction, trafficLine } from "./traffic.ts";
export { hunksOf, joinDiffs, unifiedDiff } from "./unified-diff.ts";
export { costUsd, type Price, type PriceTable } from "./usage.ts";
