/**
 * The driver of Claude Code: one process per conversation, which lives on between turns within bounds, and is started again with its
 * session where it has ended. What happens in a turn is run.ts'.
 */

import { randomUUID } from "node:crypto";
import { type ConversationId, isProblem, type Problem } from "@blockyard/kernel";
import { type Provider, providers } from "@blockyard/providers";
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
import { claudeMessage } from "./message.ts";
import { loginOf, modelRefusal, offersOf } from "./offers.ts";
import { ClaudePeer } from "./peer.ts";
import { ClaudeRun } from "./run.ts";

export const CLAUDE_ABILITIES: Abilities = {
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

export interface ClaudeOptions extends ChildOptions {
  /** How long a process waits for its next turn; 0: it ends with its turn. */
  readonly idleMs?: number | undefined;
  /** It is about to write rules that the owner allows into its settings of a folder. */
  readonly keepsRules?: (cwd: string, kept: { file: string; rules: readonly string[] }) => void;
}

export function claudeDriver(options: ClaudeOptions): Driver {
  const known = AGENTS.get("claude") as Agent;
  // What is not said at the start cannot be switched on later. For root it refuses to start so.
  const isFree =
    options.fullAccess === true && (process.getuid?.() !== 0 || options.env["IS_SANDBOX"] === "1");
  const agent = isFree ? { ...known, args: fullArgs(known) } : known;
  const idle = new IdleAgents<ClaudePeer>(options.kernel.env, options.idleMs);
  /** As it last said. */
  let login: { readonly at: number; readonly said: Promise<Login | Problem> } | undefined;
  const place = { agent, options, idle, live: new Map<ConversationId, ClaudePeer>() };
  return {
    provider: agent.provider,
    abilities: isFree ? CLAUDE_ABILITIES : withoutFull({ abilities: CLAUDE_ABILITIES }).abilities,
    check: (request) => {
      const spec = childSpec(agent, requestOf(options, request));
      return isProblem(spec) ? spec : undefined;
    },
    async start(start) {
      const begin = (isLost: boolean) => beginRun(place, start, isLost);
      const first = await begin(false);
      if (isProblem(first) || !first.mayBeLost) return isProblem(first) ? first : first.run;
      return new SecondTry(first.run, async () => {
        // A process that had ended meanwhile is started again; one that does not know the session gets a new one.
        const second = await begin(!first.isKept);
        return isProblem(second) ? second : second.run;
      });
    },
    async refusesModel({ model = "" }) {
      return aside(place, (peer) => modelRefusal(peer, model));
    },
    async login() {
      const now = options.kernel.env.monotonic();
      if (login === undefined || now - login.at > bounds.loginMs)
        login = { at: now, said: aside(place, loginOf) };
      const said = await login.said;
      return isProblem(said) ? { state: "unknown" } : said;
    },
    offers: (conversation, cwd) => offersIn(place, conversation, cwd),
    close: (conversation) => idle.close(conversation),
  };
}

function fullArgs({ args }: Agent): Agent["args"] {
  return (request) => [...args(request), "--allow-dangerously-skip-permissions"];
}

/** Asks a process of its own, in a folder where nothing acts by itself. */
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
  const known = live.get(conversation) ?? idle.peek(conversation);
  if (known !== undefined) return offersOf(known);
  const turns = await options.kernel.turns(conversation);
  if (isProblem(turns)) return turns;
  const last = turns.findLast(({ provider, startedBy }) => provider === "claude" && startedBy !== undefined);
  const asked = requestOf(options, { ...NOBODY, conversation, cwd }, last?.sessionId);
  const peer = await startPeer(place, asked);
  if (isProblem(peer)) return peer;
  peer.session = last?.sessionId;
  const offers = await offersOf(peer);
  const isNeeded = !live.has(conversation) && idle.peek(conversation) === undefined;
  if (isProblem(offers) || peer.isClosed || !isNeeded) peer.child.kill();
  else idle.put(conversation, peer);
  return offers;
}

interface Place {
  readonly agent: Agent;
  readonly options: ClaudeOptions;
  readonly idle: IdleAgents<ClaudePeer>;
  readonly live: Map<ConversationId, ClaudePeer>;
}

interface Begun {
  readonly run: ClaudeRun;
  readonly mayBeLost: boolean;
  /** Its process was there already. */
  readonly isKept: boolean;
}

async function beginRun(place: Place, start: TurnStart, isLost: boolean): Promise<Begun | Problem> {
  const { agent, options, idle, live } = place;
  const { kernel } = options;
  const { request } = start;
  const { conversation, mode, model, effort } = request;
  const opening = await openingOf(kernel, agent, start, isLost);
  if (isProblem(opening)) return opening;
  const { session, told } = opening;
  const given = await readAttachments(kernel.store, request.attachments ?? []);
  if (isProblem(given)) return given;
  const attached = { ...given, pictures: [...told.pictures, ...given.pictures] };
  const asked = requestOf(options, request, session);
  const kept = idle.take(
    conversation,
    (peer) =>
      (session === undefined ? peer.isFresh && peer.session === undefined : peer.session === session) &&
      peer.cwd === asked.cwd &&
      !peer.isClosed,
  );
  const peer = kept ?? (await startPeer(place, asked));
  if (isProblem(peer)) return peer;
  const before = session === undefined ? undefined : await counted(kernel, start, session);
  const words = { prompt: asked.prompt, attached, ...(told.text === "" ? {} : { told: told.text }) };
  const cost = new TurnCost(() => options.prices?.table ?? {}, model);
  const run = new ClaudeRun({
    ...{ kernel, peer, mode, effort, model: kept === undefined ? undefined : model, lost: agent.lost },
    stream: (onEvent) =>
      new StreamIngest(kernel, {
        ...{ conversation, agent: agent.provider, turn: start.id, parent: start.prompt, onEvent },
        provider: providers.get("claude-control") as Provider,
        price: (event) => cost.take(event),
        suggest: (ask) => options.suggest?.(ask, asked.cwd) ?? ask.suggestions ?? [],
        secrets: options.secrets,
        ...(before === undefined ? {} : { before }),
        ...(told.text === "" ? {} : { told: told.text }),
      }),
    input: claudeMessage(words, randomUUID()),
    mayBeLost: session !== undefined,
    keeps: options.idleMs !== 0,
    keepsRules: (kept) => options.keepsRules?.(asked.cwd, kept),
    silentMs: options.silentMs,
    lingerMs: options.lingerMs,
  });
  peer.isFresh = false;
  live.set(conversation, peer);
  void run.ended.then(() => {
    if (live.get(conversation) === peer) live.delete(conversation);
    if (!peer.isClosed && run.isFree) idle.put(conversation, peer);
  });
  return { run, mayBeLost: session !== undefined, isKept: kept !== undefined };
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
