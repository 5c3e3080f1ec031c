/**
 * The table of tools: every transport (MCP, HTTP, WebSocket, command line) serves these tools and no others.
 *
 * A server adds its own tools, such as those that start turns: `makeTable([...coreTools, ...own])`, then `callIn(table,
 * …)` and `schemasOf(table)`. `callTool` and `toolSchemas` are the same for the core alone.
 */

import { blockAppend } from "./block-append.ts";
import { blockApplyPatch } from "./block-apply-patch.ts";
import { blockCreate } from "./block-create.ts";
import { blockEdit } from "./block-edit.ts";
import { blockHistory } from "./block-history.ts";
import { blockList } from "./block-list.ts";
import { blockRead } from "./block-read.ts";
import { blockSearch } from "./block-search.ts";
import { blockSplice } from "./block-splice.ts";
import { blockStatus } from "./block-status.ts";
import { blockSubscribe } from "./block-subscribe.ts";
import { blockSync } from "./block-sync.ts";
import { blockRedo, blockUndo } from "./block-undo.ts";
import { callIn, makeTable, schemasOf, type ToolSchema, type ToolTable } from "./call.ts";
import type { CallsOf } from "./calls.ts";
import { conversationChanges } from "./conversation-changes.ts";
import { conversationCreate } from "./conversation-create.ts";
import { conversationDelete, conversationRestore } from "./conversation-delete.ts";
import { conversationExport } from "./conversation-export.ts";
import { conversationFork } from "./conversation-fork.ts";
import { conversationInclude } from "./conversation-include.ts";
import { conversationList } from "./conversation-list.ts";
import { conversationPrune } from "./conversation-prune.ts";
import { conversationRead } from "./conversation-read.ts";
import { conversationUpdate } from "./conversation-update.ts";
import { costReport } from "./cost-report.ts";
import { cursorSet } from "./cursor-set.ts";
import { kernelSearch } from "./kernel-search.ts";
import type { Call, Tool } from "./tool.ts";
import { turnBegin } from "./turn-begin.ts";
import { turnEnd } from "./turn-end.ts";

export const coreTools = [
  blockCreate,
  blockStatus,
  blockAppend,
  blockEdit,
  blockSplice,
  blockApplyPatch,
  blockRead,
  blockSearch,
  blockList,
  blockSync,
  blockSubscribe,
  blockUndo,
  blockRedo,
  blockHistory,
  kernelSearch,
  conversationCreate,
  conversationList,
  conversationRead,
  conversationChanges,
  conversationFork,
  conversationPrune,
  conversationInclude,
  conversationExport,
  conversationUpdate,
  conversationDelete,
  conversationRestore,
  costReport,
  cursorSet,
  turnBegin,
  turnEnd,
] as const satisfies readonly Tool[];

/** What each of them takes and answers. */
export type CoreCalls = CallsOf<typeof coreTools>;

export const coreTable: ToolTable = makeTable(coreTools);

export function callTool(call: Call, name: string, input: unknown): Promise<unknown> {
  return callIn(coreTable, call, name, input);
}

export function toolSchemas(): readonly ToolSchema[] {
  return schemasOf(coreTable);
}
