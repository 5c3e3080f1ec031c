/**
 * The driver of Claude Code: one process per conversation, which stays alive between turns within limits, with its
 * background tasks, and is restarted with its session if it has ended. run.ts handles turns, rest.ts the time between
 * them.
 */

import { randomUUID } from "node:crypto";
import {
  type AgentId,
  type BlockEvent,
  type ConversationId,
  type Draft,
  isProblem,
  type Kernel,
  limits,
  type Problem,
  problem,
} from "@blockyard/kernel";
import { type Before, type Provider, providers } from "@blockyard/providers";
import { StreamIngest } from "../../../ingest/ingest-stream.ts";
import { Child } from "../../../processes/child.ts";
import { AGENTS, type Agent, childSpec } from "../../agents.ts";
import { readAttachments } from "../../attachments.ts";
import { type ChildOptions, counted, requestOf } from "../../child-run.ts";
import type { Abilities, Driver, Login, Offers } from "../../driver.ts";
import { withoutFull } from "../../mode.ts";
import { openingOf } from "../../opening.ts";
import type { TurnStart } from "../../run.ts";
import { SecondTry } from "../../second-try.ts";
import { TurnCost } from "../../turn-cost.ts";
import { IdleAgents } from "../idle-agents.ts";
import { bounds } from "../limits.ts";
import { noteElsewhere } from "./elsewhere.ts";
import { claudeMessage } from "./message.ts";
import { loginOf, modelRefusal, offersOf } from "./offers.ts";
import { ClaudePeer } from "./peer.ts";
import { ClaudeRest } from "./rest.ts";
import { ClaudeRun } from "./run.ts";
import { saidElsewhere } from "./session-file.ts";

const CLAUDE_ABILITIES: Abilities = {
  resumes: true,
  staysAlive: true,
  asks: ["permission", "question", "plan", "elicitation"],
  rules: true,
  modes: ["plan", "ask", "edits", "full"],
  sandboxes: [],
  steering: "step",
  midTurn: ["mode", "model", "effort"],
  stopsTasks: true,
  commands: true,
  models: true,
  usage: true,
  efforts: true,
  limits: true,
  servers: true,
};

const NOT_FOR_ROOT = "Claude Code refuses it for root. Start the server as another user, with --full-access";

export interface ClaudeOptions extends ChildOptions {
  /** How long a process waits for its next turn; 0: it ends with its turn. */
  readonly idleMs?: number | undefined;
  /** It is about to write rules that the owner allows into its settings of a folder. */
  readonly keepsRules?: (cwd: string, kept: { file: string; rules: readonly string[] }) => void;
}

export function claudeDriver(options: ClaudeOptions): Driver {
  const known = AGENTS.get("claude") as Agent;
  // What is off at the start cannot be switched on later. As root it refuses to start this way.
  const isRefused = process.getuid?.() === 0 && options.env["IS_SANDBOX"] !== "1";
  const isFree = options.fullAccess === true && !isRefused;
  const agent = isFree ? { ...known, args: fullArgs(known) } : known;
  const idle = new IdleAgents<ClaudePeer>(options.kernel.env, options.idleMs);
  /** As it last reported. */
  let login: { readonly at: number; readonly said: Promise<Login | Problem> } | undefined;
  const accepted = new Set<string>();
  const place: Place = { agent, options, idle, live: new Map(), wake: () => undefined };
  return {
    provider: agent.provider,
    ...(isFree ? { abilities: CLAUDE_ABILITIES } : withoutFull({ abilities: CLAUDE_ABILITIES })),
    ...(isRefused ? { fullNeeds: NOT_FOR_ROOT } : {}),
    check: (request) => {
      const spec = childSpec(agent, requestOf(options, request));
      return isProblem(spec) ? spec : undefined;
    },
    async start(start) {
      if (start.isOwn) return beginOwn(place, start);
      const begin = (isLost: boolean) => beginRun(place, start, isLost);
      const first = await begin(false);
      if (isProblem(first) || !first.mayBeLost) return isProblem(first) ? first : first.run;
      return new SecondTry(first.run, async () => {
        // A process that ended in between is started again; one without the session gets a new one.
        const second = await begin(!first.isKept);
        return isProblem(second) ? second : second.run;
      });
    },
    async refusesModel({ model, effort }) {
      // A choice accepted once is accepted again: not every turn waits for a query process.
      const name = JSON.stringify([model, effort]);
      if (accepted.has(name)) return undefined;
      const refused = await aside(place, (peer) => modelRefusal(peer, model, effort));
      if (refused === undefined && accepted.size < bounds.acceptedModels) accepted.add(name);
      return refused;
    },
    async login() {
      const now = options.kernel.env.monotonic();
      if (login === undefined || now - login.at > bounds.loginMs)
        login = { at: now, said: aside(place, loginOf) };
      const said = await login.said;
      return isProblem(said) ? { state: "unknown" } : said;
    },
    offers: (conversation, cwd) => offersIn(place, conversation, cwd),
    tasks: (conversation) => idle.of(conversation).flatMap(({ tasks }) => tasks),
    async stopTask(conversation, task) {
      const peer = idle.of(conversation).find(({ tasks }) => tasks.some(({ id }) => id === task));
      const answer = await peer?.request("stop_task", { task_id: task });
      return isProblem(answer) ? answer : undefined;
    },
    onWake(wake) {
      place.wake = wake;
    },
    isAwake: (conversation) => idle.of(conversation).some(isAwake),
    close: (conversation) => idle.close(conversation),
  };
}

function fullArgs({ args }: Agent): Agent["args"] {
  return (request) => [...args(request), "--allow-dangerously-skip-permissions"];
}

/** Queries a process of its own, in a folder without project settings or hooks. */
async function aside<T>(place: Place, ask: (peer: ClaudePeer) => Promise<T>): Promise<T | Problem> {
  const { home, root } = place.options;
  const peer = await startPeer(place, requestOf(place.options, { ...NOBODY, cwd: home ?? root }));
  if (isProblem(peer)) return peer;
  const said = await ask(peer);
  peer.child.kill();
  await peer.ended;
  return said;
}

const NOBODY = { conversation: "", provider: "claude", prompt: "" };

/** Of the process that runs; otherwise one is started, which then waits for the next turn. */
async function offersIn(place: Place, conversation: ConversationId, cwd: string): Promise<Offers | Problem> {
  const { live, idle, options } = place;
  const known = live.get(conversation) ?? idle.of(conversation).at(-1);
  if (known !== undefined) return offersOf(known);
  const turns = await options.kernel.turns(conversation);
  if (isProblem(turns)) return turns;
  const last = turns.findLast(({ provider, startedBy }) => provider === "claude" && startedBy !== undefined);
  const asked = requestOf(options, { ...NOBODY, conversation, cwd }, last?.sessionId);
  const peer = await startPeer(place, asked);
  if (isProblem(peer)) return peer;
  peer.session = last?.sessionId;
  const offers = await offersOf(peer);
  const isNeeded = !live.has(conversation) && idle.of(conversation).length === 0;
  if (isProblem(offers) || peer.isClosed || !isNeeded) peer.child.kill();
  else idle.put(conversation, peer);
  return offers;
}

interface Place {
  readonly agent: Agent;
  readonly options: ClaudeOptions;
  readonly idle: IdleAgents<ClaudePeer>;
  readonly live: Map<ConversationId, ClaudePeer>;
  /** A waiting agent has begun something by itself. */
  wake: (conversation: ConversationId, by: AgentId) => void;
}

interface Begun {
  readonly run: ClaudeRun;
  readonly mayBeLost: boolean;
  /** Its process already existed. */
  readonly isKept: boolean;
}

async function beginRun(place: Place, start: TurnStart, isLost: boolean): Promise<Begun | Problem> {
  const { agent, options, idle } = place;
  const { kernel } = options;
  const { request } = start;
  const opening = await openingOf(kernel, agent, start, isLost);
  if (isProblem(opening)) return opening;
  const { session, cut, told } = opening;
  const given = await readAttachments(kernel.store, request.attachments ?? []);
  if (isProblem(given)) return given;
  const attached = { ...given, pictures: [...told.pictures, ...given.pictures] };
  const asked = { ...requestOf(options, request, session), ...(cut === undefined ? {} : { cut: cut.at }) };
  const stale = await staleIn(place, request.conversation);
  const fits = (peer: ClaudePeer) =>
    (session === undefined ? peer.isFresh && peer.session === undefined : peer.session === session) &&
    cut === undefined &&
    peer.cwd === asked.cwd &&
    !stale.has(peer) &&
    !peer.isClosed;
  const kept = idle.take(request.conversation, fits);
  const peer = kept ?? (await startPeer(place, await withUsual(kernel, request, asked)));
  if (isProblem(peer)) return peer;
  if (kept === undefined) peer.wanted = asked.model;
  const words = { prompt: asked.prompt, attached, ...(told.text === "" ? {} : { told: told.text }) };
  const before = session === undefined ? undefined : await counted(kernel, start, session);
  const unwritten = await wakes(peer);
  if (unwritten) return unwritten;
  if (session !== undefined && cut === undefined)
    await noteElsewhere(kernel, start, { env: options.env, cwd: asked.cwd, session });
  const run = runIn(place, start, peer, {
    ...{ before, told: told.text, mayBeLost: session !== undefined },
    input: claudeMessage(words, randomUUID()),
    model: asked.model,
  });
  return { run, mayBeLost: session !== undefined, isKept: kept !== undefined };
}

type Asked = ReturnType<typeof requestOf>;

/** A resumed session has the model that was chosen last, unless another one is named. */
async function withUsual(
  kernel: Kernel,
  { conversation }: TurnStart["request"],
  asked: Asked,
): Promise<Asked> {
  if (asked.session === undefined || asked.model !== undefined) return asked;
  const record = await kernel.conversation(conversation);
  const isSwitched = !isProblem(record) && record.metadata.switched?.model !== undefined;
  return isSwitched ? { ...asked, model: DEFAULT_MODEL } : asked;
}

/** As Claude Code names it. */
const DEFAULT_MODEL = "default";

/** Those that wait while another process has gone on with their session. What one of them runs in the background counts more. */
async function staleIn({ idle, options }: Place, conversation: ConversationId): Promise<Set<ClaudePeer>> {
  const stale = new Set<ClaudePeer>();
  for (const peer of idle.of(conversation)) {
    const { session, said, cwd, isBusy } = peer;
    if (session === undefined || said === undefined || isBusy) continue;
    if (await saidElsewhere({ env: options.env, cwd, session }, said)) stale.add(peer);
  }
  return stale;
}

/** What a waiting agent has begun by itself. */
async function beginOwn(place: Place, start: TurnStart): Promise<ClaudeRun | Problem> {
  const { idle, options } = place;
  const peer = idle.take(start.request.conversation, isAwake);
  if (peer === undefined) return problem("gone", "the agent has ended");
  const known = peer.session === undefined ? {} : await counted(options.kernel, start, peer.session);
  const before = { ...known, isOwn: true };
  const own = { told: "", mayBeLost: false, input: undefined, model: undefined };
  return (await wakes(peer)) ?? runIn(place, start, peer, { ...own, before });
}

/** The rest of its last turn is written before the next one resumes it. If that fails, the process ends. */
async function wakes(peer: ClaudePeer): Promise<Problem | undefined> {
  const unwritten = await peer.wakes();
  if (unwritten) peer.child.kill();
  return unwritten;
}

function isAwake({ rest, isClosed }: ClaudePeer): boolean {
  return rest?.isAwake === true && !isClosed;
}

interface RunOptions {
  readonly before: Before | undefined;
  readonly told: string;
  readonly mayBeLost: boolean;
  readonly input: ReturnType<typeof claudeMessage> | undefined;
  /** To be changed to. */
  readonly model: string | undefined;
}

function runIn(place: Place, start: TurnStart, peer: ClaudePeer, its: RunOptions): ClaudeRun {
  const { agent, options, live } = place;
  const { kernel } = options;
  const { conversation, mode, effort } = start.request;
  const { told, input } = its;
  const before = { ...its.before, previousResults: peer.results };
  const cost = new TurnCost(() => options.prices?.table ?? {}, start.request.model);
  const mayBeEarly = peer.stream !== undefined && input !== undefined && peer.tellsReading;
  const run = new ClaudeRun({
    ...{ kernel, peer, mode, effort, model: its.model, lost: agent.lost, input, mayBeEarly },
    stream: (onEvent, cut) =>
      new StreamIngest(kernel, {
        ...{ conversation, agent: agent.provider, turn: start.id, parent: start.prompt, onEvent },
        // Copied, and not held by a closure here: each turn would hold all turns before it.
        after: peer.takeStream(),
        provider: providers.get("claude-control") as Provider,
        price: (event) => withCut(cost.take(event), cut()),
        suggest: (ask) => options.suggest?.(ask, peer.cwd) ?? ask.suggestions ?? [],
        secrets: options.secrets,
        ...(mayBeEarly ? { begins: "later" } : {}),
        before,
        ...(told === "" ? {} : { told }),
      }),
    mayBeLost: its.mayBeLost,
    keeps: options.idleMs !== 0,
    keepsRules: (kept) => options.keepsRules?.(peer.cwd, kept),
    keepsCost: (costUsd) => void keepCost(kernel, start, costUsd),
    silentMs: options.silentMs,
    lingerMs: options.lingerMs,
    graceMs: options.graceMs,
  });
  peer.isFresh = false;
  live.set(conversation, peer);
  void run.ended.then(() => {
    if (live.get(conversation) === peer) live.delete(conversation);
    if (run.isFree) rests(place, conversation, peer, start.by);
  });
  return run;
}

/** For a turn that continues. Its end states the real cost; if nobody lives to get that, it was at least this. */
async function keepCost(kernel: Kernel, { id, by, request }: TurnStart, costUsd: number): Promise<void> {
  if (!(costUsd > 0 && costUsd <= limits.turnUsd)) return;
  const plan = (draft: Draft) => {
    const turn = draft.turn(id);
    if (turn?.status === "running") draft.setTurn({ ...turn, costUsd: (turn.costUsd ?? 0) + costUsd });
    return null;
  };
  await kernel.write(request.conversation, { agent: by, plan });
}

/** Its process waits for the next turn. */
function rests(
  { options, idle, ...place }: Place,
  conversation: ConversationId,
  peer: ClaudePeer,
  by: AgentId,
): void {
  const startedAt = options.kernel.env.monotonic();
  const rest = new ClaudeRest({
    ...{ peer, stream: peer.stream },
    now: () => Math.round(options.kernel.env.monotonic() - startedAt),
    onWake: () => {
      idle.renew(peer);
      place.wake(conversation, by);
    },
    onTasks: () => idle.changed(peer),
  });
  // A turn that has just ended is reported to its stream, and waits for nothing.
  if (!peer.isClosed) idle.put(conversation, peer);
  peer.waits(rest);
}

/** Where the session can be cut after a turn, for a copy without anything later. */
function withCut(event: BlockEvent, cut: string | undefined): BlockEvent {
  if (event.type !== "turn-end" || event.status !== "done" || cut === undefined) return event;
  return { ...event, native: { ...event.native, resume_at: cut } };
}

async function startPeer(
  { agent, options }: Place,
  asked: ReturnType<typeof requestOf>,
): Promise<ClaudePeer | Problem> {
  const spec = childSpec(agent, asked);
  if (isProblem(spec)) return spec;
  await options.tracker.swept;
  const confined = (await options.sandbox?.confineAgent(agent.kind, spec, [])) ?? spec;
  const child = new Child(confined, options.tracker, { graceMs: options.graceMs });
  return new ClaudePeer(options.kernel.env, child, asked.cwd, asked.model);
}
