/**
 * A turn of an agent that runs as a child process: its output goes through the provider's adapter, its input takes the
 * owner's answers. How each agent is started and spoken to is in agents.ts.
 *
 * It ends with the child, whatever the child does: dies, hangs after its result, closes its output and lives on, is
 * silent for too long. While it waits for an answer of the owner, silence is not its fault.
 */

import {
  type Ask,
  type AskSuggestion,
  askOf,
  type BlockEvent,
  type BlockId,
  type BlockKey,
  isProblem,
  type JsonObject,
  type Kernel,
  type Problem,
  problem,
  type Reason,
} from "@blockyard/kernel";
import { type Before, countedIn, type Provider, providers } from "@blockyard/providers";
import { StreamIngest } from "../ingest/ingest-stream.ts";
import type { Secrets } from "../ingest/secrets.ts";
import { Child, type ChildEnd, type ChildSpec } from "../processes/child.ts";
import type { ProcessTracker } from "../processes/process-tracker.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { endUnstored, explain, LOST, STOPPED } from "./agent-end.ts";
import { AgentWatch } from "./agent-watch.ts";
import { type Agent, type AgentRequest, childSpec } from "./agents.ts";
import { NOTHING_ATTACHED, pictureFiles, readAttachments } from "./attachments.ts";
import type { Driver } from "./driver.ts";
import { FIRST_ERROR_BYTES } from "./limits.ts";
import { openingOf } from "./opening.ts";
import type { Prices } from "./prices.ts";
import type { Answer, RunEnd, TurnRequest, TurnStart } from "./run.ts";
import { SecondTry, type Trial } from "./second-try.ts";
import { TurnCost } from "./turn-cost.ts";

export interface ChildOptions {
  readonly kernel: Kernel;
  readonly root: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly tracker: ProcessTracker;
  readonly sandbox?: Sandbox;
  readonly prices?: Prices;
  /** A folder in which nothing acts by itself. */
  readonly home?: string;
  /** The owner has started the server so that agents may do everything without asking. */
  readonly fullAccess?: boolean;
  /** The answers to an ask besides yes and no, including the agent's suggestions. */
  readonly suggest?: (ask: Ask, cwd: string) => readonly AskSuggestion[];
  /** Removes secrets from stored text. */
  readonly secrets?: Secrets | undefined;
  /** An agent that says nothing for this long is stopped. */
  readonly silentMs?: number | undefined;
  /** An agent that has finished and does not end is killed after this. */
  readonly lingerMs?: number | undefined;
  /** The time between asking it to stop and killing it. */
  readonly graceMs?: number | undefined;
}

/** Turns of one agent. */
export function childDriver(agent: Agent, options: ChildOptions): Driver {
  return {
    provider: agent.provider,
    abilities: agent.abilities,
    check: (request) => {
      const spec = childSpec(agent, requestOf(options, request));
      return isProblem(spec) ? spec : undefined;
    },
    async start(start) {
      const first = await beginRun(agent, options, start);
      if (isProblem(first) || !first.mayBeLost) return first;
      return new SecondTry(first, () => beginRun(agent, options, start, true));
    },
  };
}

/** With `isLost`, all of the agent's sessions are gone. */
async function beginRun(
  agent: Agent,
  options: ChildOptions,
  start: TurnStart,
  isLost = false,
): Promise<ChildRun | Problem> {
  const { kernel, tracker } = options;
  const { request } = start;
  const opening = await openingOf(kernel, agent, start, isLost);
  if (isProblem(opening)) return opening;
  const { session, told } = opening;
  const provider = providers.get(agent.provider);
  if (!provider) return problem("unavailable", `there is no adapter for ${agent.provider}`);
  const given = await readAttachments(kernel.store, request.attachments ?? []);
  if (isProblem(given)) return given;
  const attached = { ...given, pictures: [...told.pictures, ...given.pictures] };
  const files = pictureFiles(agent.takesPaths ? attached.pictures : []);
  const asked = {
    ...requestOf(options, request, session),
    ...(told.text === "" ? {} : { told: told.text }),
    attached,
    picturePaths: files.paths,
  };
  const spec = childSpec(agent, asked);
  if (isProblem(spec)) {
    files.remove();
    return spec;
  }
  const before = session === undefined ? undefined : await counted(kernel, start, session);
  await tracker.swept;
  const input = agent.input(asked);
  const confined = (await options.sandbox?.confineAgent(agent.kind, spec, files.paths)) ?? spec;
  const mayBeLost = session !== undefined;
  const run = new ChildRun(options, start, {
    ...{ agent, provider, spec: confined, before, input, told: told.text, mayBeLost },
  });
  void run.ended.then(() => files.remove());
  return run;
}

export function requestOf(
  { root, env }: ChildOptions,
  { prompt, model, cwd = root }: TurnRequest,
  session?: string,
): AgentRequest {
  return {
    prompt,
    cwd,
    env,
    attached: NOTHING_ATTACHED,
    picturePaths: [],
    ...(model === undefined ? {} : { model }),
    ...(session === undefined ? {} : { session }),
  };
}

/** The total of a session's turns so far: the state of its own counters. */
export async function counted(kernel: Kernel, { request }: TurnStart, session: string): Promise<Before> {
  const turns = await kernel.turns(request.conversation);
  if (isProblem(turns)) return {};
  const earlier = turns.filter(
    (turn) => turn.provider === request.provider && (turn.sessionId ?? session) === session,
  );
  return countedIn(earlier);
}

interface Program {
  readonly agent: Agent;
  readonly provider: Provider;
  readonly spec: ChildSpec;
  readonly before: Before | undefined;
  /** The prompt that it reads first. */
  readonly input: string;
  /** The part of it that is not in the conversation's prompt; stored with its answer. */
  readonly told: string;
  /** It resumes a session, which may be gone. */
  readonly mayBeLost: boolean;
}

class ChildRun implements Trial {
  readonly ended: Promise<RunEnd>;
  readonly mayBeLost: boolean;
  /** It reported only that the session is gone: nothing of it is written, and the turn may be retried. */
  isLost = false;
  readonly #agent: Agent;
  readonly #child: Child;
  readonly #stream: StreamIngest;
  /** Its output until the first line is complete, if that may report a lost session. */
  #held: Uint8Array[] | undefined;
  #stopping: Reason | undefined;
  /** Why the server ended it, if nobody requested that. */
  #why: string | undefined;
  /** The provider has reported the end of the turn. */
  #isOver = false;
  /** With which error it has. */
  #said: string | undefined;
  /** Requests that the owner has not answered yet, each with its call. */
  readonly #asked = new Map<string, BlockKey>();
  readonly #watch: AgentWatch;

  constructor(options: ChildOptions, start: TurnStart, program: Program) {
    const { agent, provider, spec, before, input, told, mayBeLost } = program;
    this.mayBeLost = mayBeLost;
    this.#held = mayBeLost ? [] : undefined;
    this.#agent = agent;
    this.#child = new Child(spec, options.tracker, { graceMs: options.graceMs });
    this.#watch = new AgentWatch({
      ...{ env: options.kernel.env, silentMs: options.silentMs, lingerMs: options.lingerMs },
      isAsking: () => this.#asked.size > 0,
      onSilent: (why) => {
        this.#why ??= why;
        this.stop("interrupted");
      },
      onLingering: (why) => {
        if (this.#child.isOver) return; // and how it ended is known
        this.#why ??= why;
        this.#child.kill();
      },
    });
    const cost = new TurnCost(() => options.prices?.table ?? {}, start.request.model);
    this.#stream = new StreamIngest(options.kernel, {
      price: (event) => cost.take(event),
      conversation: start.request.conversation,
      agent: agent.provider,
      turn: start.id,
      provider,
      parent: start.prompt,
      neverAsks: !agent.talks,
      secrets: options.secrets,
      onEvent: (event) => this.#heard(event),
      ...(before === undefined ? {} : { before }),
      ...(told === "" ? {} : { told }),
    });
    this.ended = this.#pump().catch(async (error) => {
      // The boundary of one run: if its output cannot be stored, it does not continue unseen.
      this.#child.kill();
      await this.#child.ended;
      this.#watch.close();
      return endUnstored(this.#stream, error);
    });
    this.#child.write(input);
    if (!agent.talks) this.#child.closeInput();
  }

  stop(reason: Reason): void {
    this.#isStopped(reason);
    this.#child.stop();
  }

  kill(reason: Reason): void {
    this.#isStopped(reason);
    this.#child.kill();
  }

  /** An interrupted agent may still report in a result that it was interrupted, but not by whom. */
  #isStopped(reason: Reason): void {
    this.#stopping ??= reason;
    const error = this.#why ?? (this.#stopping === "cancelled" ? STOPPED : undefined);
    this.#stream.explain({ reason: this.#stopping, error });
  }

  asks(ask: string): BlockId | undefined {
    const key = this.#asked.get(ask);
    return key === undefined ? undefined : this.#stream.idOf(key);
  }

  /** What only prints cannot be answered; it asks nothing. */
  answer({ ask }: Answer): void {
    this.#asked.delete(ask);
    this.#watch.heard();
  }

  /** From the agent's first byte to its last. */
  async #pump(): Promise<RunEnd> {
    this.#require(await this.#stream.open());
    this.#watch.heard();
    for await (const bytes of this.#child.output()) {
      this.#watch.heard();
      await this.#take(bytes);
    }
    this.#watch.linger(); // it may have closed its output and live on
    const end = await this.#child.ended;
    this.#watch.close();
    const reason = this.#stopping;
    if (await this.#hasLost(end)) return { error: LOST, isExpected: false };
    const known = this.#why ?? explain(end, reason);
    const isLost = this.#agent.lost.test(this.#said ?? known);
    const error = !isLost ? known : this.#isOver ? LOST : `${LOST}\n\n${known}`;
    this.#stream.explain({ reason, error });
    await this.#stream.end();
    // Whoever stopped it knows why; its own error needs no explanation either.
    const isExpected = !isLost && (this.#isOver || (reason !== undefined && this.#why === undefined));
    return { error, reason, isExpected };
  }

  async #take(bytes: Uint8Array): Promise<void> {
    if (this.#held === undefined) return this.#require(await this.#stream.push(bytes));
    this.#held.push(bytes);
    const start = Buffer.concat(this.#held);
    const end = start.indexOf("\n");
    if (start.length < FIRST_ERROR_BYTES && end === -1) return;
    if (end !== -1 && this.#agent.lost.test(start.toString("utf8", 0, end))) return this.#closing();
    this.#held = undefined;
    this.#require(await this.#stream.push(start));
  }

  /** An agent whose output cannot be stored, however long it was held, does not continue unseen. */
  #require(lost: Problem | undefined): void {
    if (lost) throw new Error(lost.message);
  }

  /** Whether it only reported a lost session. Held output that says anything else is processed now. */
  async #hasLost({ stderr }: ChildEnd): Promise<boolean> {
    if (this.#held === undefined) return false;
    const held = Buffer.concat(this.#held);
    const said = held.length === 0 ? stderr : (held.toString("utf8").split("\n", 1)[0] ?? "");
    this.isLost = this.#stopping === undefined && this.#agent.lost.test(said);
    if (this.isLost) await this.#stream.keepAside(held);
    else await this.#stream.push(held);
    return this.isLost;
  }

  #heard(event: BlockEvent): void {
    if (event.type === "block-meta" || event.type === "block-end") this.#heardAsk(event.key, event.metadata);
    if (event.type !== "turn-end" || this.#isOver) return;
    this.#isOver = true;
    this.#said = event.error;
    this.#closing();
  }

  #closing(): void {
    this.#child.closeInput();
    this.#watch.linger(); // some versions stay alive after their result
  }

  #heardAsk(key: BlockKey, metadata: JsonObject | undefined): void {
    const ask = askOf(metadata);
    if (ask === undefined) return;
    if (ask.state === "asked") this.#asked.set(ask.id, key);
    else this.#asked.delete(ask.id);
  }
}
