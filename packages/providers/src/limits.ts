/**
 * Every limit of this package, in one place. A provider may send data of any size and shape; what is held in memory and
 * passed on is bounded.
 */

import { limits } from "@blockyard/kernel";

export const bounds = {
  /** A line or an SSE event that is longer is cut, and goes on as noise. A 16 MB output, escaped, is well below. */
  lineBytes: 48 * 1024 * 1024,
  /** What is kept of a line that is over the bound. */
  keptLineBytes: 64 * 1024,
  /** Nesting of an event. */
  eventDepth: limits.jsonDepth,
  /** Nesting of a tool input that came as text inside an event: it ends up inside a block's metadata. */
  inputDepth: limits.jsonDepth - 8,
  /** Metadata of one block event, with room for what the kernel adds. */
  metadataChars: limits.metadataChars - 64 * 1024,
  /** Text of one `unknown` block. */
  unknownChars: 256 * 1024,
  /** Text of one event; longer is cut with a marker. */
  textChars: limits.writeTextChars - 1024,
  /** Tool calls whose results may still come, remembered by id. */
  openCalls: 10_000,
  /** Threads of one app-server whose state is remembered: conversations and their sub-agents. */
  threads: 1_000,
  /** Sessions of one ACP connection that are shown: the one that is meant, and its sub-agents. */
  acpSessions: 200,
  /** Terminals of an ACP client whose output is remembered. */
  openTerminals: 100,
  /** Names in each list of what a session works with, and characters of one. */
  sessionNames: 200,
  sessionNameChars: 100,
  /** compactParams and shortResult. */
  rowChars: 200,
} as const;

// The command that prints blocks
/** So much of a stream is read to find out whose format it is. */
export const HEAD_BYTES = 256 * 1024;
/** Of a text, and of a value, with `--pretty`. */
export const PRINTED_TEXT_CHARS = 4_000;
export const PRINTED_VALUE_CHARS = 160;

// What would not fit
/** Of one text of a provider that would not fit. */
export const CUT_CHARS = 64 * 1024;

// Claude Code's control protocol
/** What is kept of the end of a process's errors. */
export const STDERR_CHARS = 8 * 1024;

// Claude's lists of tasks
/** More tasks than anybody has; a list that grows over it is cut at its beginning. */
export const MAX_TASKS = 1_000;

// Claude's results
/** Of a text, to know it again. */
export const COMPARED_CHARS = 64;

// Claude's messages
/** Messages of which late lines may still come; far more than are ever open at once. */
export const RECENT_MESSAGES = 512;
/** So much of a text tells it from others. */
export const MARK_CHARS = 200;

// Codex's app server
/** Names of ended turns that are remembered, so that what comes late begins no new one. */
export const REMEMBERED_TURNS = 256;

// Codex's items
/** Ids of ended items that are remembered, so that one that is sent again adds nothing. */
export const REMEMBERED_ITEMS = 256;

// Diffs of edits
/** A longer diff is not shown with an ask. */
export const ASKED_DIFF_CHARS = 64 * 1024;

// Framing
/** What is held of a line at first; it grows as needed. */
export const FIRST_BUFFER_BYTES = 4_096;
/** How much is decoded at once. */
export const SEGMENT_BYTES = 1024 * 1024;

// Batches of events
/** What comes of lines of this length together fits, whatever they are. */
export const SHORT_BATCH_CHARS = 256 * 1024;
/** Events that are given on together. */
export const BATCH_EVENTS = 256;

// opencode
/** Parts that were shown and are remembered. */
export const REMEMBERED_PARTS = 256;

// Unified diffs
/** Lines around a change. */
export const DIFF_CONTEXT_LINES = 3;
/** Edits that are looked for before two texts count as wholly different; time grows with its square. */
export const DIFF_EDITS = 1_000;
