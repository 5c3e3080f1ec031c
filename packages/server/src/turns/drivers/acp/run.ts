/**
 * A turn of an agent over ACP: one `session/prompt` on a connection that is new or lives on from an earlier turn. Both directions
 * go through the adapter and are kept as they are.
 *
 * It ends with the answer to the prompt, or with the agent, whatever the agent does: dies, hangs, answers nothing after it was
 * cancelled, is silent for too long. While it waits for the owner, silence is not its fault.
 */

import {
  type BlockId,
  isProblem,
  type JsonObject,
  type Problem,
  problem,
  type Reason,
} from "@blockyard/kernel";
import { StreamIngest } from "../../../ingest/ingest-stream.ts";
import { explain, howEnded, LOST, STOPPED, TOO_MANY_ASKS, unstored } from "../../agent-end.ts";
import { AgentWatch } from "../../agent-watch.ts";
import { type Attached, readAttachments } from "../../attachments.ts";
import { type ChildOptions, counted } from "../../child-run.ts";
import type { Message } from "../../message.ts";
import type { Mode } from "../../mode.ts";
import { openingOf } from "../../opening.ts";
import type { Answer, RunEnd, TurnStart } from "../../run.ts";
import type { Trial } from "../../second-try.ts";
import { TurnCost } from "../../turn-cost.ts";
import { type AcpAgent, acpSpec } from "./agents.ts";
import { cancelledResponse } from "./answer.ts";
import { AcpAsks } from "./asks.ts";
import { Connection, type Listener } from "./connection.ts";
import { Farewell } from "./farewell.ts";
import { CANCEL_MS, TRAILING_MS, WAITING_MESSAGES } from "./limits.ts";
import type { Reply, Respond } from "./peer.ts";
import { promptOf, wordsOf } from "./prompt.ts";
import { providerOf } from "./provider.ts";
import { currentMode, effortSetting, hasMode, modelSetting, modeSetting, type Setting } from "./settings.ts";

/** A lost session is reported in its own answer, never in a turn's error. */
const NEVER = /(?!)/;

export interface AcpOptions extends ChildOptions {
  readonly helloMs?: number | undefined;
  readonly cancelMs?: number | undefined;
}

/** Where connections wait between turns. */
export interface Idle {
  take(conversation: string, cwd: string): Connection | undefined;
  put(conversation: string, connection: Connection): void;
}

export class AcpRun implements Trial {
  readonly ended: Promise<RunEnd>;
  /** Its process had waited since an earlier turn and was gone: it has output nothing. */
  isLost = false;
  /** Its connection, once that has a session; undefined if it gets none. */
  readonly opened: Promise<Connection | undefined>;
  readonly #hasOpened: (connection: Connection | undefined) => void;
  readonly #agent: AcpAgent;
  readonly #options: AcpOptions;
  readonly #start: TurnStart;
  readonly #idle: Idle;
  #connection: Connection | undefined;
  #stream: StreamIngest | undefined;
  /** Writes to the stream, in order. */
  #queue: Promise<void> = Promise.resolve();
  #lost: Problem | undefined;
  #stopping: Reason | undefined;
  #why: string | undefined;
  #isOver = false;
  readonly #asks = new AcpAsks();
  readonly #watch: AgentWatch;
  readonly #farewell = new Farewell();
  #cancelGrace: (() => void) | undefined;

  /** Messages that the agent has not requested yet, if it requests them. */
  readonly #messages = new Map<string, Message>();
  readonly #seen: (made: Connection | Problem) => void;

  /** `seen` gets every connection, or why there is none. */
  constructor(
    agent: AcpAgent,
    options: AcpOptions,
    start: TurnStart,
    idle: Idle,
    seen: (made: Connection | Problem) => void = () => undefined,
  ) {
    const { promise, resolve } = Promise.withResolvers<Connection | undefined>();
    this.opened = promise;
    this.#hasOpened = resolve;
    this.#seen = seen;
    this.#agent = agent;
    this.#options = options;
    this.#start = start;
    this.#idle = idle;
    this.#watch = new AgentWatch({
      ...{ env: options.kernel.env, silentMs: options.silentMs },
      isAsking: () => this.#asks.isOpen,
      onSilent: (why) => {
        this.#why ??= why;
        this.stop("interrupted");
      },
    });
    // The boundary of one run.
    this.ended = this.#work().catch((error) => this.#failed(`The turn could not be run: ${String(error)}`));
    void this.ended.then(() => resolve(undefined));
  }

  stop(reason: Reason): void {
    this.#isStopped(reason);
    const connection = this.#connection;
    if (connection === undefined || connection.sessionId === "") return connection?.kill();
    this.#asks.cancelAll();
    connection.notify("session/cancel", { sessionId: connection.sessionId });
    const { kernel, cancelMs } = this.#options;
    this.#cancelGrace ??= kernel.env.after(cancelMs ?? CANCEL_MS, () => connection.stop());
  }

  kill(reason: Reason): void {
    this.#isStopped(reason);
    this.#connection?.kill();
  }

  asks(ask: string): BlockId | undefined {
    const key = this.#asks.blockOf(ask);
    return key === undefined ? undefined : this.#stream?.idOf(key);
  }

  answer(answer: Answer): void {
    if (this.#asks.answer(answer)) this.#watch.heard();
  }

  get mode(): Mode | undefined {
    return this.#connection === undefined ? undefined : currentMode(this.#connection.session);
  }

  async send(message: Message): Promise<Problem | undefined> {
    if (this.#agent.drains === undefined || message.attached.pictures.length > 0)
      return problem("unavailable", "this agent reads messages after its turn");
    if (this.#isOver || this.#stopping !== undefined || this.#connection === undefined)
      return problem("gone", "the agent's turn is over");
    if (this.#messages.size >= WAITING_MESSAGES)
      return problem("busy", "too many messages are waiting to be read");
    this.#messages.set(message.id, message);
    return undefined;
  }

  async takeBack(message: string): Promise<boolean> {
    return this.#messages.delete(message);
  }

  setMode(mode: Mode): Promise<Problem | undefined> {
    return this.#set(({ session, sessionId }) => {
      // An agent without modes works in the only way that it has; one with modes is never assumed to be in another.
      if (!hasMode(session, mode) && mode !== "ask")
        return `${this.#agent.provider} has no mode ${mode} here`;
      return modeSetting(session, sessionId, mode);
    });
  }

  setEffort(effort: string): Promise<Problem | undefined> {
    return this.#set((connection) => effortSetting(connection.session, connection.sessionId, effort));
  }

  setModel(model: string): Promise<Problem | undefined> {
    return this.#set((connection) => modelSetting(connection.session, connection.sessionId, model));
  }

  async #work(): Promise<RunEnd> {
    const { conversation, cwd = this.#options.root } = this.#start.request;
    const made = await this.#connect(conversation, cwd);
    if (isProblem(made)) return this.#failed(made.message);
    const { connection, told, attached, isReused } = made;
    const { saidLines } = connection;
    this.#hasOpened(connection);
    const refused = await this.#prepare(connection);
    if (refused) return this.#leave(connection, refused.message);
    this.#watch.heard();
    const { sessionId, agent } = connection;
    const content = promptOf(this.#start.request.prompt, told, attached, agent);
    const reply = await connection.request("session/prompt", { sessionId, prompt: content });
    this.#isOver = true;
    this.#watch.close();
    this.#cancelGrace?.();
    if ("error" in reply && reply.isClosed)
      return this.#died(connection, isReused && connection.saidLines === saidLines);
    await new Promise<void>((resolve) => this.#options.kernel.env.after(TRAILING_MS, resolve));
    // Only the process that started it is gone, and the agent has noticed.
    const isFarewell = this.#farewell.isSaid && connection.isGone;
    for (const line of isFarewell ? this.#farewell.passedOver() : this.#farewell.lines()) this.#keep(line);
    return isFarewell ? this.#died(connection, false) : this.#over(connection, reply);
  }

  /** A connection with the session that this turn resumes, and the briefing. */
  async #connect(
    conversation: string,
    cwd: string,
  ): Promise<{ connection: Connection; told: string; attached: Attached; isReused: boolean } | Problem> {
    const { kernel, env, sandbox, tracker } = this.#options;
    const agent = { provider: this.#agent.provider, lost: NEVER };
    let opening = await openingOf(kernel, agent, this.#start);
    if (isProblem(opening)) return opening;
    const given = await readAttachments(kernel.store, this.#start.request.attachments ?? []);
    if (isProblem(given)) return given;
    const idle = this.#idle.take(conversation, cwd);
    const isSame = idle !== undefined && !idle.isGone && idle.sessionId === opening.session;
    if (idle !== undefined && !isSame) void idle.close();
    const spec = acpSpec(this.#agent, cwd, env);
    if (isProblem(spec)) return spec;
    await tracker.swept;
    const confined = (await sandbox?.confineAgent(this.#agent.provider, spec)) ?? spec;
    const connection = isSame ? idle : new Connection(confined, { ...this.#options, env: kernel.env });
    this.#connection = connection;
    if (this.#stopping !== undefined) connection.kill();
    if (!isSame) {
      const unable = await connection.greet();
      if (unable) this.#seen(unable);
      if (unable) return this.#unable(connection, unable);
      const hasSession = opening.session !== undefined && (await connection.resume(opening.session));
      if (!hasSession && opening.session !== undefined) {
        opening = await openingOf(kernel, agent, this.#start, true);
        if (isProblem(opening)) return this.#unable(connection, opening);
      }
      const refused = hasSession ? undefined : await connection.create();
      this.#seen(refused ?? connection);
      if (refused) return this.#unable(connection, refused);
    }
    const { told } = opening;
    await this.#openStream(connection, told.text, opening.session !== undefined);
    return {
      ...{ connection, isReused: isSame, told: told.text },
      attached: { ...given, pictures: [...told.pictures, ...given.pictures] },
    };
  }

  async #unable(connection: Connection, why: Problem): Promise<Problem> {
    const isDead = connection.isGone;
    connection.kill();
    const end = await connection.ended;
    const { stderr, failed } = end;
    const said = stderr.trim();
    if (failed !== undefined) return problem("unavailable", `The agent could not be started: ${failed}`);
    if (this.#stopping === "cancelled") return problem("unavailable", STOPPED);
    const how = isDead ? ` It ended ${howEnded(end)}.` : "";
    return problem(why.problem, `${why.message}${how}${said === "" ? "" : `\n\n${said}`}`);
  }

  async #openStream(connection: Connection, told: string, isResumed: boolean): Promise<void> {
    const { kernel, prices } = this.#options;
    const { request, id, prompt } = this.#start;
    const cost = new TurnCost(() => prices?.table ?? {}, request.model);
    const before = isResumed ? await counted(kernel, this.#start, connection.sessionId) : undefined;
    const stream = new StreamIngest(kernel, {
      price: (event) => cost.take(event),
      suggest: (ask) => this.#options.suggest?.(ask, connection.cwd) ?? ask.suggestions ?? [],
      secrets: this.#options.secrets,
      ...{ conversation: request.conversation, agent: this.#agent.provider, turn: id, parent: prompt },
      provider: providerOf(this.#agent),
      onEvent: (event) => this.#asks.heard(event),
      ...(before === undefined ? {} : { before }),
      ...(told === "" ? {} : { told }),
    });
    this.#stream = stream;
    const lost = await stream.open();
    if (lost) throw new Error(lost.message);
    for (const record of connection.hello) this.#keep(record);
    connection.listen(this.#listener());
  }

  #listener(): Listener {
    return {
      line: (record) => {
        if (!this.#farewell.holds(record, this.#stopping !== undefined)) this.#keep(record);
        this.#watch.heard();
      },
      request: (method, params, id, respond) => this.#take(method, params, id, respond),
      settled: () => this.#queue,
    };
  }

  #keep(record: string): void {
    this.#queue = this.#queue.then(async () => {
      this.#lost ??= await this.#stream?.push(Buffer.from(`${record}\n`));
      // An agent whose output cannot be stored does not continue unseen.
      if (this.#lost) this.#connection?.kill();
    });
  }

  /** Mode and model, before the agent reads the prompt. */
  async #prepare(connection: Connection): Promise<Problem | undefined> {
    const { mode = "ask", ...chosen } = this.#start.request;
    const refused = await this.setMode(mode);
    if (refused) return refused;
    const { model, effort } = connection.choose(chosen);
    const unlike = connection.isGone || model === undefined ? undefined : await this.setModel(model);
    if (unlike || connection.isGone || effort === undefined) return unlike;
    return this.setEffort(effort);
  }

  async #set(
    settingOf: (connection: Connection) => Setting | string | undefined,
  ): Promise<Problem | undefined> {
    const connection = this.#connection;
    if (connection === undefined || connection.sessionId === "")
      return problem("busy", "the agent has not started yet");
    const setting = settingOf(connection);
    if (setting === undefined) return undefined;
    if (typeof setting === "string") return problem("invalid", setting);
    const reply = await connection.set(setting);
    if ("result" in reply || reply.isClosed) return undefined;
    return problem("invalid", `The agent refused ${setting.method}: ${reply.error.message}`);
  }

  /** A request of the agent. Its ask is shown as soon as the line is written; an ask that cannot be shown is cancelled. */
  #take(method: string, params: JsonObject, id: string, respond: Respond): boolean {
    if (method === this.#agent.drains) return this.#drain(respond);
    if (method !== "session/request_permission" && method !== "elicitation/create") return false;
    if (this.#asks.isFull) {
      this.#why ??= TOO_MANY_ASKS;
      this.kill("failed");
    }
    if (this.#stopping !== undefined || params["sessionId"] === undefined) {
      respond({ result: cancelledResponse(method) });
      return true;
    }
    this.#asks.add(id, method, respond);
    void this.#queue.then(() => this.#asks.cancelUnseen(id));
    return true;
  }

  /** The agent requests messages that arrived while it worked: from here on it has read them. */
  #drain(respond: Respond): boolean {
    const messages = this.#stopping === undefined ? [...this.#messages.values()] : [];
    for (const { id } of messages) this.#messages.delete(id);
    respond({ result: { messages: messages.map(wordsOf), hasQueuedPrompt: false } });
    const stream = this.#stream;
    if (stream !== undefined)
      for (const message of messages)
        this.#queue = this.#queue.then(async () => {
          this.#lost ??= await stream.aside(() => message.taken());
        });
    return true;
  }

  /** The prompt was answered. */
  async #over(connection: Connection, reply: Reply): Promise<RunEnd> {
    this.#asks.cancelAll();
    connection.listen(undefined);
    await this.#queue;
    await this.#stream?.end();
    const isFine = !connection.isGone && this.#lost === undefined;
    if (isFine) this.#idle.put(this.#start.request.conversation, connection);
    if (this.#lost) return { error: unstored(this.#lost.message), isExpected: false };
    const login = "error" in reply && reply.error.code === -32000 ? connection.login : "";
    return { error: login, reason: this.#stopping, isExpected: true };
  }

  async #died(connection: Connection, wasGone: boolean): Promise<RunEnd> {
    const end = await connection.ended;
    connection.listen(undefined);
    await this.#queue;
    this.isLost = wasGone && this.#stopping === undefined && this.#lost === undefined;
    if (this.isLost) return { error: LOST, isExpected: false };
    const kept = this.#lost && unstored(this.#lost.message);
    const error = kept ?? this.#why ?? explain(end, this.#stopping);
    this.#stream?.explain({ reason: this.#stopping, error });
    await this.#stream?.end();
    const isExpected = this.#stopping !== undefined && this.#why === undefined;
    return { error, reason: this.#stopping, isExpected };
  }

  /** Nothing was sent: the connection waits for the next turn. */
  async #leave(connection: Connection, error: string): Promise<RunEnd> {
    connection.listen(undefined);
    await this.#queue;
    this.#stream?.explain({ reason: "failed", error });
    await this.#stream?.end();
    if (!connection.isGone) this.#idle.put(this.#start.request.conversation, connection);
    return { error, reason: this.#stopping, isExpected: false };
  }

  async #failed(error: string): Promise<RunEnd> {
    this.#watch.close();
    this.#cancelGrace?.();
    this.#connection?.kill();
    await this.#connection?.ended;
    await this.#queue.catch(() => undefined);
    this.#stream?.explain({ reason: this.#stopping ?? "failed", error });
    await this.#stream?.end().catch(() => undefined);
    return { error, reason: this.#stopping, isExpected: this.#stopping === "cancelled" };
  }

  #isStopped(reason: Reason): void {
    this.#stopping ??= reason;
    const error = this.#why ?? (this.#stopping === "cancelled" ? STOPPED : undefined);
    this.#stream?.explain({ reason: this.#stopping, error });
  }
}
