/**
 * A turn of Claude Code over its control protocol. It ends when the agent says so: then the process is free for the next turn, and what
 * it runs in the background goes on (rest.ts). Agents in the background are part of the turn: its result is held back until they have
 * ended, and may be gone on with.
 *
 * It is stopped by its own means first, so that its process, and what runs beside the turn, lives on. Where that takes too long it is
 * ended.
 *
 * Messages while it works are written to the conversation where the agent reads them. Requests that nobody here knows are refused, so
 * that the agent never waits for an answer that does not come.
 */

import {
  type BlockEvent,
  type BlockId,
  isProblem,
  type JsonObject,
  jsonText,
  type Problem,
  problem,
  type Reason,
} from "@blockyard/kernel";
import { trafficLine } from "@blockyard/providers";
import type { StreamIngest } from "../../../ingest/ingest-stream.ts";
import { endUnstored, explain, LOST, STOPPED, TOO_MANY_ASKS } from "../../agent-end.ts";
import { AgentWatch } from "../../agent-watch.ts";
import type { Message } from "../../message.ts";
import type { Mode } from "../../mode.ts";
import type { AgentTask, Answer, RunEnd } from "../../run.ts";
import type { Trial } from "../../second-try.ts";
import { bounds } from "../limits.ts";
import { OpenAsks } from "../open-asks.ts";
import { costIn, cutAt, limitIn, nameOf, objectOf } from "./line.ts";
import { claudeMessage, modeOf, NATIVE_MODES } from "./message.ts";
import type { ClaudePeer } from "./peer.ts";
import { claudeResponse, keptRules } from "./response.ts";
import { ENDED } from "./rest.ts";
import type { ClaudeTurn } from "./turn.ts";

export class ClaudeRun implements Trial {
  readonly ended: Promise<RunEnd>;
  isLost = false;
  /** It has ended, and its process waits for the next turn. */
  get isFree(): boolean {
    return this.#isLeaving;
  }
  readonly #turn: ClaudeTurn;
  readonly #peer: ClaudePeer;
  readonly #stream: StreamIngest;
  readonly #startedAt: number;
  #settle: () => void = () => undefined;
  #fault: ((error: unknown) => void) | undefined;
  #stopping: Reason | undefined;
  #why: string | undefined;
  #isOver = false;
  #said: string | undefined;
  #limit: { readonly resetsAt?: number } | undefined;
  /** It has output that belongs to the turn. */
  #hasSpoken = false;
  #isLeaving = false;
  readonly #asks = new OpenAsks<JsonObject>((request) => this.#refuse(request, UNANSWERED));
  readonly #messages = new Map<string, Message>();
  /** Results of turns whose agents still work in the background. */
  readonly #results: { readonly record: Buffer; readonly cut: string | undefined }[] = [];
  /** Turns that it has begun after a held result: it is at work until the last of them has ended. */
  readonly #ahead = new Set<string>();
  /** Its last output: its session can be copied up to there. */
  #cut: string | undefined;
  /** It has begun the requested turn. */
  #hasBegun: boolean;
  #giveUp: (() => void) | undefined;
  readonly #watch: AgentWatch;

  constructor(turn: ClaudeTurn) {
    this.#turn = turn;
    this.#peer = turn.peer;
    this.#startedAt = turn.kernel.env.monotonic();
    this.#hasBegun = !turn.mayBeEarly;
    this.#watch = new AgentWatch({
      ...{ env: turn.kernel.env, silentMs: turn.silentMs, lingerMs: turn.lingerMs },
      isAsking: () => this.#asks.isOpen,
      onSilent: (why) => {
        this.#why ??= why;
        this.stop("interrupted");
      },
      onLingering: (why) => {
        if (this.#peer.child.isOver) return;
        this.#why ??= why;
        this.#peer.child.kill();
      },
    });
    this.#stream = turn.stream(
      (event) => this.#heard(event),
      () => this.#cut,
    );
    this.ended = this.#follow().catch(async (error) => {
      // The boundary of one run: if its output cannot be stored, it does not continue unseen.
      this.#peer.child.kill();
      await this.#peer.ended;
      this.#watch.close();
      return endUnstored(this.#stream, error);
    });
  }

  get limit(): { readonly resetsAt?: number } | undefined {
    return this.#said === undefined ? undefined : this.#limit;
  }

  get mode(): Mode | undefined {
    return modeOf(this.#peer.mode);
  }

  stop(reason: Reason): void {
    this.#isStopped(reason);
    if (this.#giveUp !== undefined) return;
    const { env } = this.#turn.kernel;
    this.#giveUp = env.after(Math.min(bounds.interruptMs, this.#turn.graceMs ?? bounds.interruptMs), () =>
      this.#peer.child.stop(),
    );
    void this.#peer.request("interrupt", { cancel_queued: true });
  }

  kill(reason: Reason): void {
    this.#isStopped(reason);
    this.#peer.child.kill();
  }

  #isStopped(reason: Reason): void {
    this.#stopping ??= reason;
    const error = this.#why ?? (this.#stopping === "cancelled" ? STOPPED : undefined);
    this.#stream.explain({ reason: this.#stopping, error });
  }

  asks(ask: string): BlockId | undefined {
    const key = this.#asks.blockOf(ask);
    return key === undefined ? undefined : this.#stream.idOf(key);
  }

  answer(answer: Answer): void {
    const { ask } = answer;
    if (this.#asks.take(ask) === undefined) return;
    const kept = keptRules(answer);
    if (kept) this.#turn.keepsRules?.(kept);
    const response = { subtype: "success", request_id: ask, response: claudeResponse(answer) };
    this.#peer.write({ type: "control_response", response });
    this.#watch.heard();
  }

  async send(message: Message): Promise<Problem | undefined> {
    if (this.#isOver || this.#stopping !== undefined || this.#peer.isClosed)
      return problem("gone", "the agent's turn is over");
    this.#messages.set(message.id, message);
    const { text, attached, id, when } = message;
    this.#peer.write(claudeMessage({ prompt: text, attached }, id, when));
    return undefined;
  }

  async takeBack(message: string): Promise<boolean> {
    if (!this.#messages.has(message)) return false;
    const answer = await this.#peer.request("cancel_async_message", { message_uuid: message });
    const isBack = (answer as JsonObject)["cancelled"] === true;
    if (isBack) this.#messages.delete(message);
    return isBack;
  }

  async setMode(mode: Mode): Promise<Problem | undefined> {
    const answer = await this.#peer.request("set_permission_mode", { mode: NATIVE_MODES[mode] });
    return isProblem(answer) ? answer : undefined;
  }

  /** Undefined: its own default. */
  async setModel(model: string | undefined): Promise<Problem | undefined> {
    const answer = await this.#peer.request("set_model", { model: model ?? null });
    if (isProblem(answer)) return answer;
    this.#peer.wanted = model;
    return undefined;
  }

  async setEffort(effort: string | undefined): Promise<Problem | undefined> {
    const settings = { effortLevel: effort ?? null };
    const answer = await this.#peer.request("apply_flag_settings", { settings });
    if (isProblem(answer)) return answer;
    this.#peer.effort = effort;
    return undefined;
  }

  async tasks(): Promise<readonly AgentTask[]> {
    return this.#peer.tasks;
  }

  async stopTask(task: string): Promise<Problem | undefined> {
    const answer = await this.#peer.request("stop_task", { task_id: task });
    return isProblem(answer) ? answer : undefined;
  }

  async #follow(): Promise<RunEnd> {
    this.#require(await this.#stream.open());
    const over = new Promise<void>((settle, fail) => {
      this.#settle = settle;
      this.#fault = fail;
    });
    this.#watch.heard();
    await this.#peer.listen({
      heard: (line, message) =>
        this.#line(line, message)
          .catch((error) => this.#fault?.(error))
          .then(() => true),
      sent: (line) => this.#sent(line),
      closed: () => this.#settle(),
    });
    this.#begin();
    await over;
    this.#giveUp?.();
    this.#peer.leave();
    await this.#release();
    if (!this.#isLeaving) return this.#gone();
    this.#watch.close();
    const goesOn = this.#peer.isBusy || this.#stream.hasOpen;
    this.#require(await (goesOn ? this.#stream.leave() : this.#stream.end()));
    this.#peer.stream = goesOn ? this.#stream : undefined;
    return { error: this.#stopping === "cancelled" ? STOPPED : "", reason: this.#stopping, isExpected: true };
  }

  #begin(): void {
    const { mode, model, effort, input } = this.#turn;
    const isOther = mode !== undefined && NATIVE_MODES[mode] !== this.#peer.mode;
    // A turn that it has begun by itself continues in the last chosen mode.
    if (input === undefined) return void (isOther && this.setMode(mode));
    // It was stopped before anything was sent.
    if (this.#stopping !== undefined)
      return this.#stopping === "cancelled" && this.#turn.keeps ? this.#leave() : this.#peer.child.kill();
    if (isOther) void this.setMode(mode);
    // Also back to its defaults: its process knows what was chosen for the turn before.
    if (model !== this.#peer.wanted) void this.setModel(model);
    if (effort !== this.#peer.effort) void this.setEffort(effort);
    this.#peer.write(input);
  }

  /** The process has closed its output: it ends, or is killed. */
  async #gone(): Promise<RunEnd> {
    this.#watch.linger();
    const end = await this.#peer.ended;
    this.#watch.close();
    const reason = this.#stopping;
    const { mayBeLost, lost } = this.#turn;
    const known = this.#why ?? explain(end, reason);
    if (mayBeLost && !this.#hasSpoken && reason === undefined) {
      this.isLost = true;
      // Its background tasks have ended with it.
      this.#stream.explain({ reason: "interrupted", callError: ENDED });
      if (this.#stream.hasOpen) await this.#stream.end();
      return { error: LOST, isExpected: false };
    }
    const isLost = lost.test(this.#said ?? known);
    const error = !isLost ? known : this.#isOver ? LOST : `${LOST}\n\n${known}`;
    this.#stream.explain({ reason, error });
    await this.#stream.end();
    const isExpected = !isLost && (this.#isOver || (reason !== undefined && this.#why === undefined));
    return { error, reason, isExpected };
  }

  #sent(line: string): void {
    const isMessage = line.startsWith('{"type":"user"');
    const record = trafficLine("in", line, this.#now());
    // Its block exists already, or is written when the agent reads it.
    if (isMessage) this.#stream.keepLine(record);
    else void this.#stream.push(Buffer.from(`${record}\n`)).catch((error) => this.#fault?.(error));
  }

  async #line(line: string, message: JsonObject | undefined): Promise<void> {
    this.#watch.heard();
    const type = message?.["type"];
    if (this.#turn.mayBeLost && !this.#hasSpoken && this.#turn.lost.test(line)) return; // before any other output
    if (type !== "control_response" && type !== "command_lifecycle") this.#hasSpoken = true;
    if (type === "rate_limit_event" && message) this.#limit = limitIn(message);
    if (type === "assistant" && message) this.#cut = cutAt(message) ?? this.#cut;
    if (type === "command_lifecycle" && message) await this.#lifecycle(message);
    const asked = type === "control_request" && message ? this.#asksHost(message) : undefined;
    if (type === "control_cancel_request" && message) this.#asks.take(nameOf(message) ?? "");
    const record = Buffer.from(`${trafficLine("out", line, this.#now())}\n`);
    const isWaiting =
      this.#peer.hasAgents && this.#stopping === undefined && this.#results.length < bounds.heldResults;
    if (type === "result" && message && isWaiting) {
      this.#results.push({ record, cut: this.#cut });
      // The server may be killed before they have ended.
      this.#turn.keepsCost?.(costIn(message));
      return;
    }
    if (!isWaiting) await this.#release();
    this.#require(await this.#stream.push(record));
    if (asked !== undefined) this.#asks.settle(asked);
    if (this.#isOver) this.#leaveIfDone();
  }

  /** The result held back while agents worked in the background: their turn ends with them. */
  async #release(): Promise<void> {
    const last = this.#cut;
    for (const { record, cut } of this.#results.splice(0)) {
      this.#cut = cut;
      this.#require(await this.#stream.push(record));
    }
    this.#cut = last;
  }

  async #lifecycle(line: JsonObject): Promise<void> {
    const id = jsonText(line["command_uuid"]);
    const isRead = line["state"] === "started" || line["state"] === "completed";
    if (isRead && id === this.#turn.input?.uuid && !this.#hasBegun) {
      this.#hasBegun = true;
      this.#stream.claim();
    }
    const message = this.#messages.get(id);
    if (message === undefined) return;
    if (isRead) {
      this.#messages.delete(id);
      this.#isOver = false; // where the turn was over, the next one is this message's
      this.#require(await this.#stream.aside(() => message.taken()));
    } else if (line["state"] === "cancelled" || line["state"] === "discarded") this.#messages.delete(id);
  }

  /** Requests that are no asks are answered at once. Returns the name of one that is. */
  #asksHost(line: JsonObject): string | undefined {
    // Without an id there is nothing that an answer could name.
    if (line["request_id"] === undefined) return undefined;
    const { subtype } = objectOf(line["request"]);
    const name = nameOf(line);
    // An open name means the same question: it gets only one answer.
    if (name !== undefined && this.#asks.has(name)) return undefined;
    if (subtype === "hook_callback") {
      const response = { subtype: "success", request_id: line["request_id"] ?? null, response: {} };
      this.#peer.write({ type: "control_response", response });
      return undefined;
    }
    const isAsk = subtype === "can_use_tool" || subtype === "elicitation";
    if (!isAsk || name === undefined) {
      this.#refuse(line, `Blockyard does not know the request ${jsonText(subtype).slice(0, 100)}`);
      return undefined;
    }
    if (this.#asks.isFull) {
      this.#why ??= TOO_MANY_ASKS;
      this.kill("failed");
    }
    this.#asks.add(name, line);
    return name;
  }

  #refuse(line: JsonObject, error: string): void {
    const response = { subtype: "error", request_id: line["request_id"] ?? null, error };
    this.#peer.write({ type: "control_response", response });
  }

  #heard(event: BlockEvent): void {
    this.#asks.heard(event);
    if (event.type === "turn-start" && this.#results.length > 0) this.#ahead.add(event.turn);
    if (event.type === "turn-start" && this.#isOver) {
      // It continues by itself, with an agent's report.
      this.#isOver = false;
      this.#watch.stay();
    }
    if (event.type !== "turn-end" || this.#isOver || !this.#hasBegun) return;
    this.#ahead.delete(event.turn);
    if (this.#ahead.size > 0) return;
    this.#isOver = true;
    this.#said = event.error;
  }

  /** The turn is over. Messages that the agent has received and not read yet become the next turn. */
  #leaveIfDone(): void {
    const isStopped = this.#stopping === "cancelled";
    if (this.#messages.size > 0 && this.#stopping === undefined) return;
    // A failed process may be in any state: it is kept only for its background tasks.
    const isSound = this.#said === undefined || isStopped || this.#peer.isBusy;
    const isFree = (this.#stopping === undefined || isStopped) && !this.#asks.isOpen && isSound;
    if (isFree && this.#turn.keeps) return this.#leave();
    if (isStopped) return this.#peer.child.stop();
    this.#peer.child.closeInput();
    this.#watch.linger(); // some versions stay alive after their result
  }

  /** Further output is not this turn's, and neither is output that waits already. */
  #leave(): void {
    this.#isLeaving = true;
    this.#peer.leave();
    this.#settle();
  }

  #now(): number {
    return Math.round(this.#turn.kernel.env.monotonic() - this.#startedAt);
  }

  #require(lost: Problem | undefined): void {
    if (lost) throw new Error(lost.message);
  }
}

const UNANSWERED = "Nobody can answer this request";
