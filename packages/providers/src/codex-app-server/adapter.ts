/**
 * The adapter of `codex app-server`, 0.130 to 0.166: both directions of its traffic (see traffic.ts), or its output
 * alone.
 *
 * The agent's lines are notifications, answers to the client, and its own requests. The client's lines count only if
 * they answer such a request; the effect of its own requests shows in what the agent does. Threads of sub-agents come
 * on the same connection and are below the call that started them.
 *
 * Bookkeeping of the protocol is no block; a notification, an item or a request of an unknown kind is an `unknown`
 * block.
 */

import type { Json, JsonObject } from "@blockyard/kernel";
import type { Adapter, Before } from "../adapter.ts";
import { wholeBlock } from "../call.ts";
import { noticeBlock, readFailure } from "../codex/failure.ts";
import { isObject } from "../framing/json.ts";
import { bounds } from "../limits.ts";
import { given, listOf, objectOf, textOf, wordsOf } from "../read.ts";
import { readTraffic } from "../traffic.ts";
import { noiseBlock, unknownEvent } from "../unknown.ts";
import { answered, expireAsks, resolved } from "./answers.ts";
import { asked } from "./asks.ts";
import {
  cut,
  itemCompleted,
  itemStarted,
  outputDelta,
  patchDelta,
  progress,
  sentPrompt,
  textDelta,
  thoughtDelta,
  typedInto,
} from "./items.ts";
import { SILENT, SILENT_REQUESTS } from "./methods.ts";
import {
  idOf,
  newState,
  noticeKey,
  type Out,
  PROVIDER,
  placeIn,
  remember,
  type State,
  type Thread,
  threadOf,
} from "./state.ts";
import {
  endRetries,
  endTurn,
  errorTold,
  forgetCounter,
  inTurn,
  placed,
  planUpdated,
  settleError,
  turnCompleted,
  turnStarted,
  usageTold,
} from "./turn.ts";

export const codexAppServerAdapter: Adapter<State> = {
  provider: PROVIDER,
  start: (run: string, before: Before = {}) => newState(run, before.previousUsage),
  step(state, event) {
    const out: Out = [];
    const traffic = readTraffic(event);
    if (traffic === undefined) heard(state, out, event);
    else if (traffic.message === undefined) {
      // Half a line is left by a cut; unreadable client lines are not part of the conversation.
      if (traffic.dir === "out" && !traffic.isCut && traffic.line.trim() !== "")
        out.push(...noiseBlock({ key: noticeKey(state), provider: PROVIDER }, traffic.line));
    } else if (traffic.dir === "out") heard(state, out, traffic.message);
    else if (isObject(traffic.message)) told(state, out, traffic.message);
    return [state, out];
  },
  noise(state, line) {
    return [state, noiseBlock({ key: noticeKey(state), provider: PROVIDER }, line)];
  },
  end(state) {
    const out: Out = [];
    for (const thread of state.threads.values()) {
      for (const known of thread.open.values()) cut(state, out, known);
      thread.open.clear();
      endRetries(thread, out);
      endTurn(state, out, thread, { status: "interrupted" });
    }
    expireAsks(state, out);
    return out;
  },
};

/** Input from the client. */
function told(state: State, out: Out, message: JsonObject): void {
  const id = idOf(message.id);
  if (id === undefined) return;
  const method = textOf(message.method);
  if (method === undefined) return answered(state, out, id, message);
  if (PROMPTING.has(method)) sentPrompt(state, objectOf(message.params));
  state.requests.set(id, method);
  remember(state.requests, bounds.openCalls);
}

const PROMPTING = new Set(["turn/start", "turn/steer"]);

/** Output of the agent. */
function heard(state: State, out: Out, message: Json): void {
  const method = isObject(message) ? textOf(message.method) : undefined;
  const id = isObject(message) ? idOf(message.id) : undefined;
  if (!isObject(message) || (method === undefined && id === undefined)) {
    const type = isObject(message) && message.error !== undefined ? "error without an id" : undefined;
    out.push(...unknownEvent({ key: noticeKey(state), provider: PROVIDER }, message, type));
  } else if (method === undefined) answer(state, out, id ?? "", message);
  else if (id !== undefined) request(state, out, id, method, message);
  else notified(state, out, method, message);
}

/** Answers to the client's requests: an opened thread, or an error. */
function answer(state: State, out: Out, id: string, message: JsonObject): void {
  const method = state.requests.get(id);
  state.requests.delete(id);
  const result = objectOf(message.result);
  if (isObject(result.thread) && wordsOf(result.model) !== undefined) openThread(state, out, result);
  const agent = wordsOf(result.userAgent);
  if (agent !== undefined) state.version = /\/(\d+\.\d+\.\d+[^\s]*)/.exec(agent)?.[1];
  if (message.error === undefined || message.error === null || !TELLING.has(method ?? "")) return;
  const failure = readFailure(textOf(objectOf(message.error).message) ?? JSON.stringify(message.error));
  const metadata = given({ code: failure.code, details: failure.details });
  const block = {
    key: noticeKey(state),
    kind: "error",
    role: "system",
    text: failure.text,
    metadata,
  } as const;
  out.push(...wholeBlock(block, { status: "error", reason: "failed" }));
}

/** Requests without which there is no turn, or not the intended one. */
const TELLING = new Set([
  "initialize",
  "thread/start",
  "thread/resume",
  "thread/fork",
  "turn/start",
  "turn/steer",
  "review/start",
  "thread/compact/start",
]);

function openThread(state: State, out: Out, opened: JsonObject): void {
  const told = objectOf(opened.thread);
  const id = textOf(told.id) ?? "";
  const thread = threadOf(state, id, true);
  thread.model = wordsOf(opened.model);
  thread.path = wordsOf(told.path);
  const details = given({
    permissionMode: wordsOf(opened.approvalPolicy),
    sandbox: wordsOf(objectOf(opened.sandbox).type) ?? wordsOf(opened.sandbox),
    effort: wordsOf(opened.reasoningEffort),
    modelProvider: wordsOf(opened.modelProvider),
  });
  out.push({
    ...{ type: "session", provider: PROVIDER, sessionId: id },
    ...given({
      model: thread.model,
      cwd: wordsOf(opened.cwd),
      version: state.version,
      title: wordsOf(told.name),
      details: Object.keys(details).length === 0 ? undefined : details,
    }),
  });
}

function request(state: State, out: Out, id: string, method: string, message: JsonObject): void {
  const params = objectOf(message.params);
  if (SILENT_REQUESTS.has(method)) return;
  const thread = inTurn(state, out, params);
  if (asked(state, out, thread, id, method, params)) return;
  const place = { key: noticeKey(state), provider: PROVIDER, ...placeIn(thread) };
  out.push(...unknownEvent(place, message, `request/${method}`));
}

function notified(state: State, out: Out, method: string, message: JsonObject): void {
  const params = objectOf(message.params);
  if (SILENT.has(method) || isOldName(state, method, params)) return;
  if (method === "error") return errorTold(state, out, params);
  const id = textOf(params.threadId);
  const known = id === undefined ? undefined : state.threads.get(id);
  if (known !== undefined && method.startsWith("item/")) {
    endRetries(known, out);
    settleError(known, out);
  }
  const item = inItems(state, out, method, params);
  if (item) return;
  const step = STEPS[method];
  if (step !== undefined) step(state, out, params);
  else out.push(...unknownEvent({ key: noticeKey(state), provider: PROVIDER }, message, method));
}

/** Up to 0.110 everything about a thread is repeated in the form of the inner protocol. */
function isOldName(state: State, method: string, params: JsonObject): boolean {
  return method.startsWith("codex/event/") && state.threads.has(textOf(params.conversationId) ?? "");
}

/** Notifications about an item. */
function inItems(state: State, out: Out, method: string, params: JsonObject): boolean {
  const step = ITEM_STEPS[method];
  if (step === undefined) return false;
  step(state, out, inTurn(state, out, params), params);
  return true;
}

type ItemStep = (state: State, out: Out, thread: Thread, params: JsonObject) => void;

const ITEM_STEPS: Readonly<Record<string, ItemStep>> = {
  "item/started": (state, out, thread, { item }) => itemStarted(state, out, thread, objectOf(item)),
  "item/completed": (state, out, thread, { item }) => itemCompleted(state, out, thread, objectOf(item)),
  "item/agentMessage/delta": (_, out, thread, params) => textDelta(out, thread, params),
  "item/plan/delta": (_, out, thread, params) => textDelta(out, thread, params),
  "item/reasoning/summaryTextDelta": (_, out, thread, params) => thoughtDelta(out, thread, params, false),
  "item/reasoning/textDelta": (_, out, thread, params) => thoughtDelta(out, thread, params, true),
  "item/commandExecution/outputDelta": (_, out, thread, params) => outputDelta(out, thread, params),
  "item/commandExecution/terminalInteraction": typedInto,
  "item/fileChange/patchUpdated": patchDelta,
  "item/mcpToolCall/progress": (_, out, thread, params) => progress(out, thread, params),
  "item/autoApprovalReview/completed": reviewed,
};

type Step = (state: State, out: Out, params: JsonObject) => void;

const STEPS: Readonly<Record<string, Step>> = {
  "turn/started": turnStarted,
  "turn/completed": turnCompleted,
  "turn/plan/updated": planUpdated,
  "thread/tokenUsage/updated": usageTold,
  "thread/started": (state, _, { thread }) => {
    const { id, parentThreadId, path, forkedFromId } = objectOf(thread);
    if (typeof id !== "string") return;
    const isOwn = parentThreadId === null || parentThreadId === undefined;
    const known = threadOf(state, id, isOwn);
    known.path = wordsOf(path) ?? known.path;
    known.isNew = wordsOf(forkedFromId) === undefined;
  },
  "thread/reverted": (state, _, params) => {
    const thread = state.threads.get(textOf(params.threadId) ?? "");
    if (thread !== undefined) forgetCounter(thread);
  },
  "thread/name/updated": (_, out, params) => {
    const title = wordsOf(params.threadName);
    const sessionId = textOf(params.threadId);
    if (title !== undefined)
      out.push({ type: "session", provider: PROVIDER, title, ...given({ sessionId }) });
  },
  "thread/settings/updated": (state, _, params) => {
    const model = wordsOf(objectOf(params.threadSettings).model);
    const thread = state.threads.get(textOf(params.threadId) ?? "");
    if (thread !== undefined && model !== undefined) thread.model = model;
  },
  "account/rateLimits/updated": (state, _, { rateLimits }) => {
    const { primary, secondary } = objectOf(rateLimits);
    if (isObject(primary) || isObject(secondary)) state.limits = objectOf(rateLimits);
  },
  "serverRequest/resolved": (state, out, params) => {
    const id = idOf(params.requestId);
    if (id !== undefined) resolved(state, out, id);
  },
  "mcpServer/startupStatus/updated": (state, out, params) => {
    if (params.status !== "failed" && wordsOf(params.error) === undefined) return;
    const why = wordsOf(params.error) ?? "no reason given";
    warn(state, out, params, `The MCP server ${textOf(params.name) ?? ""} did not start: ${why}`);
  },
  "model/rerouted": (state, out, params) => {
    const [from, to] = [textOf(params.fromModel) ?? "", textOf(params.toModel) ?? ""];
    const thread = state.threads.get(textOf(params.threadId) ?? "");
    if (thread !== undefined && to !== "") thread.model = to;
    warn(state, out, params, `${to} answers instead of ${from}`);
  },
  "hook/completed": (state, out, params) => {
    const run = objectOf(params.run);
    if (run.status === "completed" || run.status === "running") return;
    const said = wordsOf(run.statusMessage) ?? textOf(run.status) ?? "failed";
    const entries = listOf(run.entries).flatMap((entry) => wordsOf(objectOf(entry).text) ?? []);
    warn(state, out, params, [`Hook ${textOf(run.eventName) ?? ""}: ${said}`, ...entries].join("\n"));
  },
  warning: (state, out, params) => warn(state, out, params, textOf(params.message) ?? ""),
  guardianWarning: (state, out, params) => warn(state, out, params, textOf(params.message) ?? ""),
  configWarning: (state, out, params) => warn(state, out, params, summed(params)),
  deprecationNotice: (state, out, params) => warn(state, out, params, summed(params)),
  "thread/realtime/error": (state, out, params) => warn(state, out, params, textOf(params.message) ?? ""),
};

/** The verdict of the model that reviews approvals in place of a person. */
function reviewed(state: State, out: Out, thread: Thread, params: JsonObject): void {
  const { status, rationale } = objectOf(params.review);
  const text = [`Automatic review: ${textOf(status) ?? "done"}`, wordsOf(rationale)];
  const said = text.filter((part) => part !== undefined).join(". ");
  out.push(...placed(noticeBlock(noticeKey(state), said, "warning"), placeIn(thread)));
}

function summed({ summary, details }: JsonObject): string {
  return [wordsOf(summary), wordsOf(details)].filter((part) => part !== undefined).join("\n\n");
}

function warn(state: State, out: Out, params: JsonObject, message: string): void {
  if (message === "") return;
  const thread = state.threads.get(textOf(params.threadId) ?? "");
  const place = thread === undefined ? {} : placeIn(thread);
  out.push(...placed(noticeBlock(noticeKey(state), message, "warning"), place));
}
