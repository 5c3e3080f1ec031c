/**
 * How things read, for whoever only shows them: exports and the command line. It needs schemas, and neither texts that merge nor
 * the write path. Everything here is in index.ts too.
 */

export { type Ask, askOf, waitsFor } from "./model/ask.ts";
export { metadataOf } from "./model/metadata.ts";
export { timesText } from "./model/times.ts";
export { nativeFacts } from "./model/turn-facts.ts";
export { answerLabel, answerWords, askWords, NO_PLAN, repeatsDenial } from "./presentation/ask-words.ts";
export { auditRows } from "./presentation/audit-rows.ts";
export {
  type CallLine,
  callLine,
  cameWords,
  commandIn,
  endWord,
  errorBelow,
  firstSentence,
  onlyChange,
  onOneLine,
  shortPath,
} from "./presentation/call-line.ts";
export { callOutcome, isAtWork } from "./presentation/call-outcome.ts";
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
export { exactText } from "./presentation/exact.ts";
export { folderLabel, inFolder, shortenPaths, withShortPaths } from "./presentation/folder-path.ts";
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
export { gather, gatheredWords, livingTodos, type TodoStep } from "./presentation/gather.ts";
export { SUMMARY_LINES } from "./presentation/limits.ts";
export { type LiveInput, liveInput } from "./presentation/live-input.ts";
export {
  amountOf,
  cutLine,
  type Excerpt,
  type Extent,
  excerptOf,
  isCutLine,
  isLong,
  type Lines,
  leftWords,
} from "./presentation/long-text.ts";
export {
  deedOfCall,
  type Entry,
  type Form,
  formOf,
  inShownOrder,
  isGathered,
  isNotice,
  saysCommand,
  startLines,
  tailLines,
} from "./presentation/loudness.ts";
export { boundRules, MarkdownBudget, TOO_HARD } from "./presentation/markdown-bound.ts";
export { type MathToken, maskMath, mathRules } from "./presentation/markdown-math.ts";
export { isNoticeLine, isNoticeOpen, noticeName, noticePieces } from "./presentation/notice-name.ts";
export { cutSummary, outputSummary } from "./presentation/output-summary.ts";
export { PartialJson } from "./presentation/partial-json.ts";
export { knownCode, REASON_WORDS, reasonShown } from "./presentation/reason-words.ts";
export { isMarkdownResult, showsPictures, todoLine } from "./presentation/result-look.ts";
export { hostOf, safeImageData, safeLink, safePicture } from "./presentation/safe-link.ts";
export { type HitText, hitText } from "./presentation/search-hit.ts";
export { isShellCommand } from "./presentation/shell-command.ts";
export { agentName, authorOf, ITSELF, type Speaker, speakerOf } from "./presentation/speaker.ts";
export {
  paletteColor,
  plainTerminal,
  readTerminal,
  type TerminalLine,
  type TerminalRun,
  type TerminalStyle,
} from "./presentation/terminal-text.ts";
export { tookMs } from "./presentation/took.ts";
export { knownTool, toolTitle } from "./presentation/tool-title.ts";
