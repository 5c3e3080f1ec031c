/**
 * Every bound of this package, in one place. What a provider sends may be of any size and shape; what is held in
 * memory and what is handed on may not.
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
