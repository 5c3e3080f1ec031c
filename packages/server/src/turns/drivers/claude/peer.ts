/**
 * One process of Claude Code, and its protocol: lines in both directions, our requests with their answers. It outlives
 * turns; the running turn reads its output, and between turns rest.ts does. Output that neither reads is kept for the
 * next reader.
 */

import { type Env, type Json, type JsonObject, jsonText, type Problem, problem } from "@blockyard/kernel";
import { LineReader } from "@blockyard/providers";
import type { StreamIngest } from "../../../ingest/ingest-stream.ts";
import type { Child, ChildEnd } from "../../../processes/child.ts";
import { bounds } from "../limits.ts";
import { cutAt, objectOf, parsed } from "./line.ts";

export interface PeerListener {
  /** A printed line. The next one waits until this is processed. False: it is for the next listener. */
  heard(line: string, message: JsonObject | undefined): Promise<boolean>;
  /** A line that was written to it. */
  sent(line: string): void;
  /** It prints nothing more. */
  closed(): void;
}

/** Who listens between turns. */
export interface Resting extends PeerListener {
  /** It has begun something by itself. */
  readonly isAwake: boolean;
  /** All its output so far is written. */
  readonly written: Promise<unknown>;
  /** The rest of its work is over for the conversation too, once its process has ended. */
  readonly left: Promise<unknown>;
}

export class ClaudePeer {
  readonly child: Child;
  readonly cwd: string;
  readonly ended: Promise<ChildEnd>;
  /** As it last reported. */
  session: string | undefined;
  /** The name of its last words in the session. */
  said: string | undefined;
  mode: string | undefined;
  model: string | undefined;
  /** Our open requests. */
  wanted: string | undefined;
  effort: string | undefined;
  /** No turn has run in it yet. */
  isFresh = true;
  /** The account's limits, as its answers last stated them. */
  limits: JsonObject = {};
  /** Its background tasks. */
  tasks: readonly { readonly id: string; readonly description: string }[] = [];
  /** Some of these are agents: they end by themselves, and it continues with their reports. */
  hasAgents = false;
  /** It says when it reads each message. */
  tellsReading = false;
  /** Between turns: the listener, and what the last turn has left open. */
  rest: Resting | undefined;
  stream: StreamIngest | undefined;
  isClosed = false;
  readonly #env: Env;
  #listener: PeerListener | undefined;
  /** It has received the kept lines, and gets every line as it comes. */
  #isCaughtUp = false;
  #catchingUp: Promise<void> = Promise.resolve();
  #kept: string[] = [];
  /** How many results it has printed, as it numbers them. */
  #results = 0;
  #keptChars = 0;
  #nextRequest = 1;
  readonly #requests = new Map<string, (answer: JsonObject | Problem) => void>();

  constructor(env: Env, child: Child, cwd: string, model: string | undefined) {
    this.#env = env;
    this.child = child;
    this.cwd = cwd;
    this.model = model;
    this.wanted = model;
    this.ended = child.ended;
    void this.#read();
  }

  /** From here on, this listener gets its output, until it leaves, beginning with what arrived while nobody listened. */
  listen(listener: PeerListener): Promise<void> {
    this.#listener = listener;
    this.#isCaughtUp = false;
    this.#catchingUp = this.#catchUp(listener);
    return this.#catchingUp;
  }

  /** Lines that arrive during the replay are queued after it, so that the listener gets everything in order. */
  async #catchUp(listener: PeerListener): Promise<void> {
    for (let at = 0; at < this.#kept.length; ) {
      const line = this.#kept[at] as string;
      const isTaken = await listener.heard(line, parsed(line));
      if (isTaken) this.#keptChars -= this.#kept.splice(at, 1)[0]?.length ?? 0;
      else at++;
      if (this.#listener !== listener) return;
    }
    this.#isCaughtUp = true;
    if (this.isClosed) listener.closed();
  }

  /** The results that the next listener will not get. */
  get results(): number {
    const waiting = this.#kept
      .map((line) => parsed(line))
      .filter((message) => message?.["type"] === "result");
    return this.#results - waiting.length;
  }

  leave(): void {
    this.#listener = undefined;
  }

  /** Waits for the next turn; this listener gets its output meanwhile. */
  waits(rest: Resting): void {
    this.rest = rest;
    void this.listen(rest);
  }

  /** Stops waiting: further output belongs to the next turn. By then everything else is written. */
  async wakes(): Promise<Problem | undefined> {
    this.leave();
    await this.#catchingUp;
    await this.rest?.written;
    this.rest = undefined;
    return this.stream?.leave();
  }

  /** The stream of the last turn, if something of it continues: for the next one, which keeps nothing else of it. */
  takeStream(): StreamIngest | undefined {
    const { stream } = this;
    this.stream = undefined;
    return stream;
  }

  /** It has background tasks, or has begun something by itself. */
  get isBusy(): boolean {
    return this.tasks.length > 0 || this.rest?.isAwake === true;
  }

  get left(): Promise<unknown> | undefined {
    return this.rest?.left;
  }

  write(message: JsonObject): void {
    const line = JSON.stringify(message);
    this.#listener?.sent(line);
    this.child.write(`${line}\n`);
  }

  /** A request of ours; returns its answer, or why there is none. */
  request(subtype: string, fields: JsonObject = {}): Promise<JsonObject | Problem> {
    if (this.isClosed) return Promise.resolve(problem("gone", "the agent is no longer running"));
    if (this.#requests.size >= bounds.openRequests)
      return Promise.resolve(problem("busy", "the agent has not answered earlier requests"));
    const id = `blockyard-${this.#nextRequest++}`;
    return new Promise((resolve) => {
      const settle = (answer: JsonObject | Problem) => {
        cancel();
        this.#requests.delete(id);
        resolve(answer);
      };
      const cancel = this.#env.after(bounds.answerMs, () =>
        settle(problem("unavailable", `the agent did not answer ${subtype} in time`)),
      );
      this.#requests.set(id, settle);
      this.write({ type: "control_request", request_id: id, request: { subtype, ...fields } });
    });
  }

  async #read(): Promise<void> {
    // The boundary of one process: whoever waits for it is told of its end, also where it could not be read.
    await this.#takeAll().catch(() => this.child.kill());
    this.isClosed = true;
    for (const settle of [...this.#requests.values()])
      settle(problem("gone", "the agent ended before it responded"));
    if (this.#isCaughtUp) this.#listener?.closed();
  }

  async #takeAll(): Promise<void> {
    const reader = new LineReader();
    for await (const bytes of this.child.output()) {
      for (const { text } of reader.push(bytes)) await this.#take(text);
    }
    for (const { text } of reader.end()) await this.#take(text);
  }

  async #take(line: string): Promise<void> {
    if (line.trim() === "") return;
    const message = parsed(line);
    if (message !== undefined) this.#note(message);
    const isBehind = this.#listener !== undefined && !this.#isCaughtUp;
    if (this.#listener && !isBehind && (await this.#listener.heard(line, message))) return;
    if (isBehind || !QUIET.has(jsonText(message?.["type"]))) this.#keep(line);
  }

  /** For the next listener, or one that has not received everything yet. */
  #keep(line: string): void {
    this.#kept.push(line);
    this.#keptChars += line.length;
    // An agent that keeps producing output by itself is not waiting.
    if (this.#kept.length <= bounds.idleLines && this.#keptChars <= bounds.heldChars) return;
    this.#kept.pop();
    this.child.kill();
  }

  /** What any line tells of it. */
  #note(message: JsonObject): void {
    const { type, subtype, session_id: session, permissionMode, model, tasks, capabilities } = message;
    if (type === "control_response") return this.#answered(message);
    if (type === "result" && typeof message["result_index"] === "number")
      this.#results = message["result_index"] + 1;
    if (type === "assistant") this.said = cutAt(message) ?? this.said;
    if (type === "rate_limit_event") this.#noteLimit(objectOf(message["rate_limit_info"]));
    if (type !== "system") return;
    if (typeof permissionMode === "string") this.mode = permissionMode;
    if (subtype === "init" && typeof session === "string") this.session = session;
    if (subtype === "init" && typeof model === "string") this.model = model;
    if (Array.isArray(capabilities)) this.tellsReading = capabilities.includes("msg_lifecycle_v1");
    if (subtype === "background_tasks_changed" && Array.isArray(tasks)) {
      this.tasks = tasks.flatMap(taskOf);
      this.hasAgents = tasks.some((task) => objectOf(task)["task_type"] === "local_agent");
    }
  }

  #noteLimit({ unifiedWindows, rateLimitType, utilization, resetsAt }: JsonObject): void {
    const one =
      typeof rateLimitType === "string" ? { [rateLimitType]: { utilization, resetsAt } as JsonObject } : {};
    this.limits = { ...this.limits, ...one, ...objectOf(unifiedWindows) };
  }

  #answered(message: JsonObject): void {
    const response = objectOf(message["response"]);
    const settle = this.#requests.get(jsonText(response["request_id"]));
    if (settle === undefined) return;
    if (response["subtype"] === "error")
      settle(
        problem("invalid", jsonText(response["error"] ?? "the agent refused this"), {
          code: response["error_code"] ?? null,
        }),
      );
    else settle(objectOf(response["response"]));
  }
}

/** Between turns these say nothing that a conversation would show. */
const QUIET = new Set(["command_lifecycle", "control_response", "keep_alive"]);

function taskOf(value: Json): { id: string; description: string }[] {
  const { task_id: id, description } = objectOf(value);
  return typeof id === "string" ? [{ id, description: jsonText(description ?? id) }] : [];
}
