/**
 * Turns: start, queue, stop, answer. One turn runs in a conversation at a time; what is asked meanwhile waits.
 *
 * A turn ends exactly once. Its end comes from the provider's stream; where the stream does not bring it (the agent died,
 * could not start, hangs after its result, is silent for too long), it is ended here, with a reason.
 */

import {
  type AgentId,
  addUsage,
  type BlockId,
  type ConversationId,
  isProblem,
  type Json,
  type JsonObject,
  type Kernel,
  NO_USAGE,
  type Problem,
  problem,
  type Reason,
  randomName,
} from "@blockyard/kernel";
import { type Before, providers } from "@blockyard/providers";
import { StreamIngest } from "../ingest-stream.ts";
import { AGENTS, type Agent, childSpec } from "./agents.ts";
import { Child, type ChildEnd } from "./child.ts";

export interface TurnRequest {
  readonly conversation: ConversationId;
  readonly provider: string;
  readonly prompt: string;
  readonly model?: string;
  /** Go on from this block instead of the head. */
  readonly parent?: BlockId;
  /** Go on with the provider's own session, where the conversation has one (the default), or start afresh. */
  readonly fresh?: boolean;
}

export interface TurnsOptions {
  readonly kernel: Kernel;
  readonly root: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** An agent that says nothing for this long is stopped. */
  readonly silentMs?: number;
}

interface Run {
  readonly id: string;
  readonly request: TurnRequest;
  readonly by: AgentId;
  readonly child: Child;
  readonly stream: StreamIngest;
  stopping: Reason | undefined;
  /** The provider has said that the turn is over. */
  isEnded: boolean;
  cancelSilence: (() => void) | undefined;
  readonly done: Promise<void>;
}

interface Queued {
  readonly id: string;
  readonly request: TurnRequest;
  readonly by: AgentId;
  readonly prompt: BlockId;
}

const SILENT_MS = 10 * 60_000;
const LINGER_MS = 10_000;
const MAX_QUEUED = 20;

export class Turns {
  readonly #options: TurnsOptions;
  readonly #kernel: Kernel;
  readonly #runs = new Map<ConversationId, Run>();
  readonly #queues = new Map<ConversationId, Queued[]>();
  /** Conversations in which a turn is being started. */
  readonly #starting = new Set<ConversationId>();
  #isClosed = false;

  constructor(options: TurnsOptions) {
    this.#options = options;
    this.#kernel = options.kernel;
  }

  /** Starts a turn, or queues it behind the one that runs. */
  async start(
    by: AgentId,
    request: TurnRequest,
  ): Promise<{ turn: string; queued: boolean; block: BlockId } | Problem> {
    const { conversation, provider } = request;
    const agent = AGENTS.get(provider);
    if (!agent) return problem("invalid", `no agent ${provider}: one of ${[...AGENTS.keys()].join(", ")}`);
    const spec = childSpec(agent, {
      ...this.#agentRequest(request),
      cwd: this.#options.root,
      env: this.#options.env,
    });
    if (isProblem(spec)) return spec;
    const waiting = this.#queues.get(conversation) ?? [];
    if (waiting.length >= MAX_QUEUED)
      return problem("busy", `${waiting.length} messages wait in this conversation already`);
    const isBusy = this.#runs.has(conversation) || this.#starting.has(conversation);
    const id = `turn-${randomName(this.#kernel.env, 8)}`;
    if (!isBusy) this.#starting.add(conversation);
    const asked = await this.#kernel.write(conversation, {
      agent: by,
      plan: (draft) => {
        const { prompt: text, parent } = request;
        const status = isBusy ? ("pending" as const) : ("done" as const);
        return draft.create({
          kind: "text",
          role: "user",
          text,
          status,
          metadata: { turn: id },
          ...(parent ? { parent } : {}),
        });
      },
    });
    if (isProblem(asked)) {
      if (!isBusy) this.#starting.delete(conversation);
      return asked;
    }
    const queued: Queued = { id, request, by, prompt: asked.id };
    if (isBusy) this.#queues.set(conversation, [...waiting, queued]);
    else await this.#begin(queued, agent);
    return { turn: id, queued: isBusy, block: asked.id };
  }

  /** Stops what runs in a conversation; with `queued`, what waits there too. */
  async stop(
    conversation: ConversationId,
    queued: boolean,
  ): Promise<{ stopped: number; dropped: number } | Problem> {
    const waiting = queued ? (this.#queues.get(conversation) ?? []) : [];
    if (queued) this.#queues.delete(conversation);
    for (const { prompt, by } of waiting) {
      await this.#kernel.writeBlock(prompt, {
        agent: by,
        plan: (draft) => draft.status(prompt, "error", { reason: "cancelled" }),
      });
    }
    const run = this.#runs.get(conversation);
    if (!run) return { stopped: 0, dropped: waiting.length };
    run.stopping ??= "cancelled";
    run.child.stop();
    await run.done;
    return { stopped: 1, dropped: waiting.length };
  }

  /** Answers a permission request of the agent that runs; once. */
  async answer(
    by: AgentId,
    block: BlockId,
    approval: string,
    allow: boolean,
    message?: string,
  ): Promise<{ state: "allowed" | "denied" } | Problem> {
    const conversation = block.split("/", 1)[0] ?? "";
    const run = this.#runs.get(conversation);
    if (!run) return problem("gone", "the agent that asked is not running any more");
    const state = allow ? ("allowed" as const) : ("denied" as const);
    const answered = await this.#kernel.writeBlock(block, {
      agent: by,
      plan: (draft) => {
        const call = draft.block(block);
        if (isProblem(call)) return call;
        const asked = call.metadata["approval"] as JsonObject | undefined;
        if (asked?.["id"] !== approval)
          return problem("not_found", `block ${block} has no request ${approval}`);
        if (asked["state"] !== "asked")
          return problem("conflict", `this request was ${asked["state"]} already`, { state: asked["state"] });
        const full = {
          ...asked,
          state,
          answeredBy: by,
          answeredAt: draft.at,
          ...(message === undefined ? {} : { message }),
        };
        const after = draft.meta(block, { approval: full });
        return isProblem(after) ? after : { input: (asked["input"] ?? null) as Json };
      },
    });
    if (isProblem(answered)) return answered;
    const response = allow
      ? { behavior: "allow", updatedInput: answered.input }
      : { behavior: "deny", message: message ?? `${by} did not allow this` };
    run.child.write(
      `${JSON.stringify({ type: "control_response", response: { subtype: "success", request_id: approval, response } })}\n`,
    );
    return { state };
  }

  get running(): number {
    return this.#runs.size;
  }

  /** Stops everything; nothing is left behind. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#queues.clear();
    for (const run of this.#runs.values()) {
      run.stopping ??= "interrupted";
      run.child.kill();
    }
    await Promise.all([...this.#runs.values()].map(({ done }) => done));
  }

  #agentRequest({ prompt, model }: TurnRequest, session?: string) {
    return {
      prompt,
      ...(model === undefined ? {} : { model }),
      ...(session === undefined ? {} : { session }),
    };
  }

  async #begin(queued: Queued, agent: Agent): Promise<void> {
    const { id, request, by, prompt } = queued;
    const { conversation } = request;
    try {
      const record = await this.#kernel.conversation(conversation);
      const session =
        isProblem(record) || request.fresh || request.parent ? undefined : record.sessions[agent.provider];
      const bound = {
        ...this.#agentRequest(request, session),
        cwd: this.#options.root,
        env: this.#options.env,
      };
      const spec = childSpec(agent, bound);
      await this.#open(queued, agent);
      const provider = providers.get(agent.provider);
      if (isProblem(spec) || !provider)
        return await this.#fail(id, conversation, by, isProblem(spec) ? spec.message : "no provider");
      const child = new Child(spec);
      const onEvent = (event: { readonly type: string }) => this.#heard(run, event.type);
      const stream = new StreamIngest(this.#kernel, {
        conversation,
        agent: agent.provider,
        turn: id,
        provider,
        parent: prompt,
        onEvent,
        ...(session === undefined
          ? {}
          : { before: await this.#counted(conversation, agent.provider, session) }),
      });
      const done: Promise<void> = this.#pump(() => run);
      const run: Run = {
        id,
        request,
        by,
        child,
        stream,
        stopping: undefined,
        isEnded: false,
        cancelSilence: undefined,
        done,
      };
      this.#runs.set(conversation, run);
      child.write(agent.input(bound));
      if (!agent.talks) child.closeInput();
    } finally {
      this.#starting.delete(conversation);
    }
  }

  /** What the turns of a session add up to so far: where its own counters stand. */
  async #counted(conversation: ConversationId, provider: string, session: string): Promise<Before> {
    const turns = await this.#kernel.turns(conversation);
    if (isProblem(turns)) return {};
    const earlier = turns.filter(
      (turn) => turn.provider === provider && (turn.sessionId ?? session) === session,
    );
    return {
      previousCostUsd: earlier.reduce((sum, { costUsd }) => sum + (costUsd ?? 0), 0),
      previousUsage: earlier.reduce((sum, { usage }) => addUsage(sum, usage ?? NO_USAGE), NO_USAGE),
    };
  }

  async #open({ id, request, by, prompt }: Queued, agent: Agent): Promise<void> {
    await this.#kernel.write(request.conversation, {
      agent: by,
      plan: (draft) => {
        const asked = draft.block(prompt);
        if (!isProblem(asked) && asked.status === "pending") draft.status(prompt, "done");
        draft.setTurn({
          id,
          provider: agent.provider,
          agent: agent.provider,
          status: "running",
          startedAt: draft.at,
          ...(request.model === undefined ? {} : { model: request.model }),
        });
        return null;
      },
    });
  }

  /** From the agent's first byte to its last, and the end of the turn whatever happens. */
  async #pump(runOf: () => Run): Promise<void> {
    await Promise.resolve();
    const run = runOf();
    const { stream, child } = run;
    await stream.open();
    this.#watchSilence(run);
    for await (const bytes of child.output()) {
      this.#watchSilence(run);
      await stream.push(bytes);
    }
    const end = await child.ended;
    run.cancelSilence?.();
    await stream.end();
    await this.#settle(run, end);
    this.#runs.delete(run.request.conversation);
    this.#next(run.request.conversation);
  }

  #heard(run: Run, type: string): void {
    if (type !== "turn-end" || run.isEnded) return;
    run.isEnded = true;
    run.child.closeInput();
    // Some versions go on living after their result: they get a moment, then they are stopped.
    const cancel = this.#kernel.env.after(LINGER_MS, () => run.child.kill());
    run.child.ended.then(cancel);
  }

  #watchSilence(run: Run): void {
    run.cancelSilence?.();
    run.cancelSilence = this.#kernel.env.after(this.#options.silentMs ?? SILENT_MS, () => {
      run.stopping ??= "interrupted";
      run.child.stop();
    });
  }

  /** Ends the turn if the stream has not; says what became of the agent where that explains it. */
  async #settle(run: Run, end: ChildEnd): Promise<void> {
    const { conversation } = run.request;
    const turns = await this.#kernel.turns(conversation);
    const open = isProblem(turns)
      ? undefined
      : turns.find(({ id, status }) => id === run.id && status === "running");
    const explained = explain(end, run.stopping);
    if (open) await this.#fail(run.id, conversation, run.by, explained, run.stopping);
    else if (run.stopping === undefined && !run.isEnded && end.code !== 0)
      await this.#show(conversation, run.by, explained, run.id);
  }

  async #fail(
    id: string,
    conversation: ConversationId,
    by: AgentId,
    error: string,
    reason: Reason = "failed",
  ): Promise<void> {
    await this.#kernel.write(conversation, {
      agent: by,
      plan: (draft) => {
        const turn = draft.turn(id);
        if (turn?.status !== "running") return null;
        draft.setTurn({ ...turn, status: "error", reason, error, endedAt: draft.at });
        return null;
      },
    });
    if (reason !== "cancelled") await this.#show(conversation, by, error, id);
  }

  async #show(conversation: ConversationId, by: AgentId, text: string, turn: string): Promise<void> {
    await this.#kernel.write(conversation, {
      agent: by,
      plan: (draft) =>
        draft.create({
          kind: "error",
          role: "system",
          status: "error",
          text,
          side: true,
          metadata: { turn, code: "agent" },
        }),
    });
  }

  #next(conversation: ConversationId): void {
    const [first, ...rest] = this.#queues.get(conversation) ?? [];
    if (!first || this.#isClosed) return;
    if (rest.length === 0) this.#queues.delete(conversation);
    else this.#queues.set(conversation, rest);
    const agent = AGENTS.get(first.request.provider);
    this.#starting.add(conversation);
    if (agent) void this.#begin(first, agent);
  }
}

function explain(end: ChildEnd, stopping: Reason | undefined): string {
  if (end.failed !== undefined) return `The agent could not be started: ${end.failed}`;
  if (stopping === "cancelled") return "Stopped.";
  const how = end.signal === null ? `with exit code ${end.code}` : `by signal ${end.signal}`;
  const said = end.stderr.trim();
  return `The agent ended ${how} before its turn was over.${said === "" ? "" : `\n\n${said}`}`;
}
