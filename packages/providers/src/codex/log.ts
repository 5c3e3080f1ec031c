/**
 * The importer of Codex's rollout logs, `~/.codex/sessions/YYYY/MM/DD/rollout-<time>-<thread>.jsonl`, 0.47 to 0.169.
 *
 * Gives what the live stream gives, and what it hides: prompts, failed calls, diffs, exit codes, sub-agents' threads
 * below the calls that started them. Instructions and bookkeeping are left out; an unknown record is an `unknown`
 * block. Keys are built from the log's own ids (call ids, message ids, ordinals), so that importing again names the
 * same blocks. log-index.ts decides which of two equal records counts.
 */

import type { BlockEvent, BlockKey, JsonObject } from "@blockyard/kernel";
import type { FoundLog, Importer, ListFolder, LogFile, LogFinder } from "../log.ts";
import { given, listOf, objectOf, textOf, wordsOf } from "../read.ts";
import { codexDetails } from "../session-details.ts";
import { noiseBlock } from "../unknown.ts";
import { isZero } from "../usage.ts";
import { showAgentMessage } from "./log-agents.ts";
import { eventItem, indexLog, isCall, type LogIndex, type LogRecord, messageText } from "./log-index.ts";
import { PROVIDER, type Reading, showUnknown } from "./log-reading.ts";
import {
  bare,
  confirm,
  readMessage,
  readPromptEvent,
  showAnswer,
  showCompaction,
  showNotice,
  showReasoning,
  showReview,
  showThought,
  showTitle,
} from "./log-said.ts";
import {
  readOutcomeEvent,
  showCall,
  showFoundTools,
  showImage,
  showOutput,
  showSearch,
} from "./log-tools.ts";
import { completeTurn, countTokens, duration, endThread, endTurn, startTurn } from "./log-turns.ts";

export const importCodexLog: Importer = (files, run) => {
  const main = indexLog(files.main.lines());
  // Only files that begin with this thread's name are read on: most of what lies beside is none of its business.
  const others = descendants(main.thread, files.sidecars).map((file) => indexLog(file.lines()));
  const out: BlockEvent[] = [];
  readThread(main, others, { prefix: `${run}/`, parent: undefined, out });
  return out;
};

/** The thread that started the one in this file; undefined for one that a person has started. */
export function codexParentThread(file: LogFile): string | undefined {
  return threadsOf(file).parentThread;
}

function threadsOf(file: LogFile): {
  readonly thread: string | undefined;
  readonly parentThread: string | undefined;
} {
  for (const line of file.lines()) return indexLog([line]);
  return { thread: undefined, parentThread: undefined };
}

/** The files of the threads that a thread has started, and of those that they have. */
function descendants(thread: string | undefined, files: readonly LogFile[]): readonly LogFile[] {
  const found: LogFile[] = [];
  const rest = files
    .filter((file) => file.path.endsWith(".jsonl"))
    .map((file) => ({ file, ...threadsOf(file) }));
  const parents = new Set([thread]);
  for (let grew = thread !== undefined; grew; ) {
    grew = false;
    for (const each of rest) {
      if (each.thread === undefined || parents.has(each.thread) || !parents.has(each.parentThread)) continue;
      found.push(each.file);
      parents.add(each.thread);
      grew = true;
    }
  }
  return found;
}

/** Rollouts lie in a folder per day. The threads that belong together are of the same day, or of neighbours. */
export const findCodexLogs: LogFinder = (list) => {
  const days = dayFolders(list).map((folder) => rollouts(list, folder));
  return days.flatMap((paths, i) => {
    const near = [...(days[i - 1] ?? []), ...paths, ...(days[i + 1] ?? [])];
    return paths.map((path): FoundLog => {
      return { provider: PROVIDER, path, sidecars: near.filter((other) => other !== path) };
    });
  });
};

function dayFolders(list: ListFolder): readonly string[] {
  let folders: readonly string[] = ["sessions"];
  for (let depth = 0; depth < 3; depth++) folders = folders.flatMap((folder) => subfolders(list, folder));
  return folders;
}

function subfolders(list: ListFolder, folder: string): readonly string[] {
  const names = list(folder).filter((entry) => entry.isFolder && /^\d+$/.test(entry.name));
  return names.map((entry) => `${folder}/${entry.name}`).sort();
}

function rollouts(list: ListFolder, folder: string): readonly string[] {
  const files = list(folder).filter((entry) => !entry.isFolder && /^rollout-.*\.jsonl$/.test(entry.name));
  return files.map((entry) => `${folder}/${entry.name}`).sort();
}

interface ThreadPlace {
  readonly prefix: string;
  readonly parent: BlockKey | undefined;
  readonly out: BlockEvent[];
}

function readThread(index: LogIndex, others: readonly LogIndex[], place: ThreadPlace): Reading {
  const children =
    index.thread === undefined ? [] : others.filter((other) => other.parentThread === index.thread);
  const shown = new Set<LogIndex>();
  const reading: Reading = {
    index,
    ...place,
    showThread: (thread, below) => {
      const child = children.find((each) => each.thread === thread);
      if (child === undefined || shown.has(child)) return;
      shown.add(child);
      showChild(reading, child, below, others);
    },
    nextReview: () => children.find((child) => child.label === "review" && !shown.has(child))?.thread,
    keys: new Set(),
    said: new Map(index.said),
    open: new Map(),
    running: new Map(),
    toldContext: "",
    turn: undefined,
    total: undefined,
    model: undefined,
    at: undefined,
    lastPrompt: undefined,
    lastImageCall: undefined,
    compacted: false,
    retry: undefined,
  };
  for (const record of index.records) {
    reading.at = record.at ?? reading.at;
    readRecord(reading, record);
  }
  for (const { ordinal, line } of index.noise) {
    reading.out.push(
      ...noiseBlock(
        { key: `${place.prefix}line-${ordinal}`, provider: PROVIDER, parent: place.parent },
        line,
      ),
    );
  }
  endThread(reading);
  return reading;
}

/** A sub-agent's blocks below its call. Its turns are no turns of this conversation; its tokens count as messages. */
function showChild(reading: Reading, child: LogIndex, parent: BlockKey, others: readonly LogIndex[]): void {
  const prefix = `${reading.prefix}${child.thread}/`;
  const out: BlockEvent[] = [];
  const deeper = others.filter((other) => other !== child);
  const read = readThread(child, deeper, { prefix, parent, out });
  for (const event of out) {
    if (event.type === "block-start") reading.out.push(labelled(event, parent, child.label));
    else if (!event.type.startsWith("turn-") && event.type !== "session") reading.out.push(event);
  }
  if (read.total === undefined || isZero(read.total)) return;
  reading.out.push({
    type: "message-usage",
    messageId: child.thread as string,
    parent,
    usage: read.total,
    ...given({ turn: reading.turn?.id, model: read.model }),
  });
}

function labelled(
  event: Extract<BlockEvent, { type: "block-start" }>,
  parent: BlockKey,
  label: string | undefined,
): BlockEvent {
  if (event.parent !== undefined && event.parent !== parent) return event;
  return { ...event, parent, metadata: { ...event.metadata, ...given({ label }) } };
}

function readRecord(reading: Reading, record: LogRecord): void {
  switch (record.type) {
    case "session_meta":
      return readMeta(reading, record);
    case "turn_context":
      reading.model = textOf(record.payload.model) ?? reading.model;
      return tellContext(reading, record);
    case "response_item":
      return readResponseItem(reading, record);
    case "event_msg":
      return readEvent(reading, record);
    case "compacted":
      return showCompaction(reading, record, textOf(record.payload.message) ?? "");
    case "inter_agent_communication_metadata":
    // Answers to questions, which stand with their call too.
    case "retained_context":
    case "world_state":
    case "token_usage_record":
      return;
    default:
      showUnknown(reading, record, record.type === "" ? undefined : record.type);
  }
}

function readMeta(reading: Reading, record: LogRecord): void {
  const { payload } = record;
  // A forked thread repeats its parent's record behind its own.
  if (reading.parent !== undefined || textOf(payload.id) !== reading.index.thread) return;
  reading.out.push({
    type: "session",
    provider: PROVIDER,
    ...given({
      sessionId: reading.index.thread,
      cwd: wordsOf(payload.cwd),
      version: wordsOf(payload.cli_version),
    }),
  });
}

/** What the session works with is said before each turn: told where it is new. */
function tellContext(reading: Reading, { payload }: LogRecord): void {
  const details = codexDetails(payload);
  if (reading.parent !== undefined || Object.keys(details).length === 0) return;
  const session = given({ sessionId: reading.index.thread, model: wordsOf(payload.model), details });
  const told = JSON.stringify(session);
  if (told === reading.toldContext) return;
  reading.toldContext = told;
  reading.out.push({ type: "session", provider: PROVIDER, ...session });
}

function readResponseItem(reading: Reading, record: LogRecord): void {
  const { payload } = record;
  if (isCall(payload)) return showCall(reading, record);
  switch (payload.type) {
    case "message":
      return readMessage(reading, record);
    case "agent_message":
      return showAgentMessage(reading, record);
    case "reasoning":
      return showReasoning(reading, record);
    case "function_call_output":
    case "custom_tool_call_output":
      return showOutput(reading, record);
    case "tool_search_output":
      return showFoundTools(reading, record);
    case "web_search_call":
      return showSearch(reading, record, payload, wordsOf(payload.id));
    case "image_generation_call":
      return showImage(reading, record);
    case "compaction":
    case "compaction_summary":
    case "context_compaction":
      return showCompaction(reading, record, "");
    case "ghost_snapshot":
    case "additional_tools":
    case "compaction_trigger":
    case "configuration_update":
      return;
    default:
      showUnknown(reading, record, `response_item/${textOf(payload.type) ?? "(no type)"}`);
  }
}

/** Events that tell nothing that is not told elsewhere; those that announce or grow something are none besides. */
const BOOKKEEPING: ReadonlySet<string> = new Set([
  "agent_reasoning_section_break",
  "apply_patch_approval_request",
  "background_event",
  "collab_agent_interaction_end",
  "collab_agent_spawn_end",
  "collab_close_end",
  "collab_resume_end",
  "collab_waiting_end",
  "elicitation_request",
  "exec_approval_request",
  "guardian_assessment",
  "image_generation_end",
  "item_updated",
  "mcp_startup_complete",
  "mcp_startup_update",
  "plan_update",
  "raw_response_item",
  "request_permissions",
  "request_user_input",
  "session_configured",
  "shutdown_complete",
  "sub_agent_activity",
  "thread_goal_updated",
  "thread_rolled_back",
  "thread_settings_applied",
  "turn_diff",
  "view_image_tool_call",
]);

function isBookkeeping(type: string): boolean {
  return BOOKKEEPING.has(type) || /_(begin|delta|started)$/.test(type);
}

function readEvent(reading: Reading, record: LogRecord): void {
  const { payload } = record;
  const type = textOf(payload.type) ?? "";
  const done = eventItem(payload);
  if (done !== undefined) return readOutcomeEvent(reading, record, done);
  switch (type) {
    case "task_started":
    case "turn_started":
      return startTurn(reading, record, wordsOf(payload.turn_id));
    case "task_complete":
    case "turn_complete":
      return completeTurn(reading, record);
    case "turn_aborted":
      return endTurn(reading, { status: "error", reason: "interrupted", ...duration(payload) });
    case "token_count":
      return countTokens(reading, payload);
    case "user_message":
      return readPromptEvent(reading, record);
    case "agent_message":
      return confirm(reading, "assistant", textOf(payload.message) ?? "", (text) =>
        showAnswer(reading, bare(record), text),
      );
    case "agent_reasoning":
    case "agent_reasoning_raw_content":
      return confirm(reading, "reasoning", textOf(payload.text) ?? "", (text) =>
        showThought(reading, record, text),
      );
    case "item_completed":
      return readItemEvent(reading, record, objectOf(payload.item));
    case "context_compacted":
      return showCompaction(reading, record, undefined);
    case "entered_review_mode":
    case "exited_review_mode":
      return showReview(reading, record, payload);
    case "error":
    case "stream_error":
    case "warning":
    case "deprecation_notice":
      return showNotice(reading, record);
    case "thread_name_updated":
      return showTitle(reading, payload);
    default:
      if (!isBookkeeping(type)) showUnknown(reading, record, `event_msg/${type || "(no type)"}`);
  }
}

function readItemEvent(reading: Reading, record: LogRecord, item: JsonObject): void {
  switch (item.type) {
    case "UserMessage":
      return readPromptEvent(reading, record);
    case "AgentMessage":
      return confirm(reading, "assistant", messageText(item), (text) =>
        showAnswer(reading, { ...record, payload: item }, text),
      );
    case "Reasoning":
      for (const text of listOf(item.summary_text)) {
        if (typeof text === "string")
          confirm(reading, "reasoning", text, () => showThought(reading, record, text));
      }
      return;
    case "ContextCompaction":
      return showCompaction(reading, record, undefined);
    case "EnteredReviewMode":
    case "ExitedReviewMode":
      return showReview(reading, record, item);
    case "ImageView":
    case "ImageGeneration":
    case "SubAgentActivity":
      return;
    case "Plan":
      return confirm(reading, "assistant", textOf(item.text) ?? "", (text) =>
        showAnswer(reading, { ...record, payload: item }, text),
      );
    default:
      showUnknown(reading, record, `event_msg/item_completed/${textOf(item.type) ?? "(no type)"}`);
  }
}
