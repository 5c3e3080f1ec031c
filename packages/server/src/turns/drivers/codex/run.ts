/**
 * A turn of Codex over its app-server: one process, ended with its turn, since a loaded thread is locked against the user's own
 * `codex resume`. The traffic of both directions is what the conversation is made of; this file opens the thread, starts the
 * turn, answers and steers it, and ends the process.
 *
 * It ends with the process, whatever that does: dies at any point, never answers, says nothing for too long, retries for ever,
 * lives on after its turn. What interrupting leaves running (commands, sub-agents) ends with the process and its offspring.
 */

import {
  type BlockEvent,
  type BlockId,
  isProblem,
  type Json,
  type JsonObject,
  jsonText,
  type Problem,
  problem,
  type Reason,
} from "@blockyard/kernel";
import { isObject, KNOWN_PROMPT, type Provider, saidIn } from "@blockyard/providers";
import { StreamIngest } from "../../../ingest/ingest-stream.ts";
import { Child, type ChildEnd, type ChildSpec } from "../../../processes/child.ts";
import { VERSION } from "../../../system/version.ts";
import { endUnstored, explain, STOPPED, TOO_MANY_ASKS } from "../../agent-end.ts";
import { AgentWatch } from "../../agent-watch.ts";
import { fileText } from "../../attachments.ts";
import type { ChildOptions } from "../../child-run.ts";
import type { Message } from "../../message.ts";
import type { AgentTask, Answer, RunEnd, TurnStart } from "../../run.ts";
import type { Trial } from "../../second-try.ts";
import { TurnCost } from "../../turn-cost.ts";
import type { CodexCommand } from "./commands.ts";
import { Connection } from "./connection.ts";
import { Kept } from "./kept.ts";
import { FIRST_VERSION, limits } from "./limits.ts";
import { isLoggedOut, LOGIN } from "./offers.ts";
import { Questions } from "./questions.ts";
import {
  type Input,
  inputOf,
  isOlder,
  modeParams,
  threadRequest,
  versionOf,
  type Wanted,
} from "./settings.ts";
import { CodexThread } from "./thread.ts";
import { UsageLimit } from "./usage-limit.ts";

interface Program {
  readonly provider: Provider;
  readonly spec: ChildSpec;
  readonly wanted: Wanted;
  readonly input: Input;
  /** Runs instead of a model turn. */
  readonly command: CodexCommand | undefined;
  /** The part that is not in the conversation's prompt; stored with its answer. */
  readonly told: string;
  /** It has started, and is initialized. */
  readonly opened: () => void;
}

const LOST = /no rollout found for thread id|thread not found/;
const NO_APP_SERVER = /unrecognized subcommand|unexpected argument|invalid subcommand/i;
const LOCKED =
  "This thread is open in another Codex. Close that one first: only one program at a time can write to a thread.";
/** Output while nothing happens: it does not show that the agent works. */
const IDLE_WORDS = new Set(["account/rateLimits/updated", "thread/status/changed"]);
/** Repeated output that is covered elsewhere. */
const NOT_NEEDED = ["turn/diff/updated", "thread/readState/changed", "remoteControl/status/changed"];

export class CodexRun implements Trial {
  readonly ended: Promise<RunEnd>;
  /** The thread is gone: nothing is written, and the turn may be retried without it. */
  isLost = false;
  /** This Codex has no app-server that can be used. */
  needsExec = false;
  readonly #options: ChildOptions;
  readonly #program: Program;
  readonly #start: TurnStart;
  readonly #child: Child;
  readonly #stream: StreamIngest;
  readonly #kept: Kept;
  readonly #talk: Connection;
  readonly #questions: Questions;
  /** Messages that were sent and not read. */
  readonly #sent = new Map<string, { readonly message: Message; readonly text: string }>();
  readonly #thread: CodexThread;
  #stopping: Reason | undefined;
  #why: string | undefined;
  #isOver = false;
  readonly #usage = new UsageLimit();
  readonly #watch: AgentWatch;

  constructor(options: ChildOptions, start: TurnStart, program: Program) {
    const { kernel, tracker, graceMs } = options;
    this.#options = options;
    this.#program = program;
    this.#start = start;
    this.#child = new Child(program.spec, tracker, { graceMs });
    this.#watch = new AgentWatch({
      ...{ env: kernel.env, silentMs: options.silentMs, lingerMs: options.lingerMs },
      isAsking: () => this.#questions.isOpen,
      onSilent: (why) => {
        this.#why ??= why;
        this.stop("interrupted");
      },
      onLingering: (why) => {
        if (this.#child.isOver) return;
        this.#why ??= why;
        this.#child.kill();
      },
    });
    const cost = new TurnCost(() => options.prices?.table ?? {}, start.request.model);
    this.#stream = new StreamIngest(kernel, {
      conversation: start.request.conversation,
      agent: "codex",
      turn: start.id,
      provider: program.provider,
      parent: start.prompt,
      price: (event) => cost.take(event),
      suggest: (ask) => options.suggest?.(ask, program.wanted.cwd) ?? ask.suggestions ?? [],
      secrets: options.secrets,
      onEvent: (event) => this.#heard(event),
      ...(program.told === "" ? {} : { told: program.told }),
    });
    this.#thread = new CodexThread(() => this.#talk);
    this.#questions = new Questions(this.#stream.run, () => this.#talk);
    this.#kept = new Kept(this.#stream, () => kernel.env.monotonic());
    this.#talk = new Connection(this.#child, kernel.env, {
      line: (dir, line) => this.#kept.add(dir, line),
      notified: (method, params) => this.#notified(method, params),
      asked: (id, method, params) => this.#question(id, method, params),
    });
    this.ended = this.#pump().catch(async (error) => {
      // The boundary of one run: if its output cannot be stored, it does not continue unseen.
      this.#child.kill();
      this.#talk.end();
      await this.#child.ended;
      this.#watch.close();
      return endUnstored(this.#stream, error);
    });
  }

  get limit(): { readonly resetsAt?: number } | undefined {
    return this.#usage.reached;
  }

  /** Interrupts its turn and those of its sub-agents, each separately; then the process ends. */
  stop(reason: Reason): void {
    this.#isStopped(reason);
    const { kernel, graceMs } = this.#options;
    if (!this.#thread.hasTurn) return this.#child.stop();
    this.#thread.interrupt();
    kernel.env.after(graceMs ?? limits.stopMs, () => {
      if (!this.#child.isOver) this.#child.stop();
    });
  }

  kill(reason: Reason): void {
    this.#isStopped(reason);
    this.#child.kill();
  }

  asks(ask: string): BlockId | undefined {
    const key = this.#questions.blockOf(ask);
    return key === undefined ? undefined : this.#stream.idOf(key);
  }

  answer(answer: Answer): void {
    const result = this.#questions.answer(answer);
    if (result === undefined) return;
    this.#watch.heard();
    // A refusal has no place for its reason: the model reads it as a message.
    if (result["decision"] === "decline" && answer.said !== undefined)
      void this.#thread.steer(answer.message, `${KNOWN_PROMPT}refusal`);
  }

  async send(message: Message): Promise<Problem | undefined> {
    if (!this.#thread.hasTurn || this.#stopping !== undefined || this.#isOver)
      return problem("gone", "Codex is not working on a turn");
    if (message.attached.pictures.length > 0)
      return problem("unavailable", "pictures reach Codex with the next turn");
    if (this.#sent.size >= limits.sentMessages)
      return problem("busy", "too many messages are waiting to be read");
    const id = `${KNOWN_PROMPT}${message.id}`;
    const text = [...message.attached.files.map(fileText), message.text].join("\n\n");
    this.#sent.set(id, { message, text });
    const refused = await this.#thread.steer(text, id);
    if (refused !== undefined) this.#sent.delete(id);
    return refused;
  }

  setModel(model: string): Promise<Problem | undefined> {
    return this.#thread.update({ model });
  }

  setEffort(effort: string): Promise<Problem | undefined> {
    return this.#thread.update({ effort });
  }

  tasks(): Promise<readonly AgentTask[]> {
    return this.#thread.tasks();
  }

  stopTask(task: string): Promise<Problem | undefined> {
    return this.#thread.stopTask(task);
  }

  /** An interrupted agent reports that it was interrupted, but not by whom. */
  #isStopped(reason: Reason): void {
    this.#stopping ??= reason;
    const error = this.#why ?? (this.#stopping === "cancelled" ? STOPPED : undefined);
    this.#stream.explain({ reason: this.#stopping, error });
  }

  /** From the agent's first byte to its last. */
  async #pump(): Promise<RunEnd> {
    this.#require(await this.#stream.open());
    this.#watch.heard();
    const opening = this.#open();
    for await (const bytes of this.#child.output()) {
      this.#talk.read(bytes);
      this.#require(await this.#kept.settled());
    }
    this.#talk.end();
    await opening;
    this.#watch.linger(); // it may have closed its output and live on
    const end = await this.#child.ended;
    this.#watch.close();
    return this.#finish(end);
  }

  async #finish(end: ChildEnd): Promise<RunEnd> {
    const reason = this.#stopping;
    if (this.#kept.isHeld && !this.#isOver && NO_APP_SERVER.test(end.stderr)) this.needsExec = true;
    if (reason !== undefined) this.isLost = this.needsExec = false;
    const known = this.#why ?? explain(plain(end), reason);
    this.#require(await this.#kept.settled());
    await this.#kept.aside();
    if (this.isLost || this.needsExec) return { error: known, isExpected: false };
    this.#stream.explain({ reason, error: known });
    await this.#stream.end();
    // Whoever stopped it knows why; its own error needs no explanation either.
    return {
      error: known,
      reason,
      isExpected: this.#isOver || (reason !== undefined && this.#why === undefined),
    };
  }

  #require(lost: Problem | undefined): void {
    if (lost) throw new Error(lost.message);
  }

  /** Says hello, opens the thread and starts the turn. What fails ends the process with a reason. */
  async #open(): Promise<void> {
    const refused = await this.#begin();
    if (refused === undefined || this.#child.isOver) return;
    if (refused !== ENDED) this.#why ??= refused;
    this.#closing();
  }

  async #begin(): Promise<string | undefined> {
    const { wanted, input, command } = this.#program;
    const hello = await this.#talk.request("initialize", this.#hello(), limits.openMs);
    if (isProblem(hello)) return reasonOf(hello);
    this.#program.opened();
    const version = versionOf(hello["userAgent"]);
    if (version !== undefined && isOlder(version, FIRST_VERSION)) {
      this.needsExec = true;
      return ENDED;
    }
    this.#talk.notify("initialized", {});
    const account = this.#talk.request("account/read", { refreshToken: false }, limits.answerMs);
    const thread = threadRequest(wanted);
    const opened = await this.#talk.request(thread.method, thread.params, limits.openMs);
    if (isProblem(opened)) return this.#notOpened(opened);
    if (isLoggedOut(await account)) return LOGIN;
    this.#thread.id = isObject(opened["thread"]) ? jsonText(opened["thread"]["id"]) : "";
    const params = {
      threadId: this.#thread.id,
      input: inputOf(input),
      clientUserMessageId: `${KNOWN_PROMPT}${this.#start.id}`,
      ...modeParams(wanted, opened),
    };
    const asked = command === undefined ? params : command.params(this.#thread.id);
    const method = command?.method ?? "turn/start";
    const started = await this.#talk.request(method, asked, limits.openMs, ({ turn }) => {
      this.#thread.begun(turn);
      this.#kept.release();
    });
    if (isProblem(started)) return reasonOf(started);
    if (this.#stopping !== undefined) this.#thread.interrupt();
    return undefined;
  }

  #notOpened(refused: Problem): string {
    this.isLost = this.#program.wanted.session !== undefined && LOST.test(refused.message);
    if (this.isLost) return ENDED;
    return /already has an active writer/.test(refused.message) ? LOCKED : reasonOf(refused);
  }

  #hello(): JsonObject {
    // Warnings about a user's configuration are shown with the thread's first turn.
    const known = this.#program.wanted.session === undefined ? [] : ["configWarning"];
    return {
      clientInfo: { name: "blockyard", title: "Blockyard", version: VERSION },
      capabilities: { experimentalApi: true, optOutNotificationMethods: [...NOT_NEEDED, ...known] },
    };
  }

  #notified(method: string, params: JsonObject): void {
    const isRetry = method === "error" && params["willRetry"] === true;
    if (!isRetry && !IDLE_WORDS.has(method)) this.#watch.heard();
    const thread = typeof params["threadId"] === "string" ? params["threadId"] : "";
    this.#usage.notified(method, params);
    this.#thread.notified(method, params);
    if (method === "turn/started") this.#thread.turnStarted(thread, params["turn"]);
    if (method === "turn/completed") {
      this.#thread.turnEnded(thread);
      this.#questions.turnEnded(thread);
    }
    if (method === "item/started" && isObject(params["item"])) this.#read(params["item"]);
    if (method === "serverRequest/resolved") this.#questions.withdrawn(params["requestId"] ?? null);
  }

  /** One of our messages is read here: its block goes after everything that came before. */
  #read(item: JsonObject): void {
    if (item["type"] !== "userMessage") return;
    // Up to 0.135 an item does not say which message it is.
    const { text } = saidIn(item as JsonObject);
    const same = () => [...this.#sent].find(([, sent]) => sent.text === text)?.[0];
    const id = item["clientId"] === undefined ? same() : item["clientId"];
    const { message } = this.#sent.get(jsonText(id)) ?? {};
    if (message === undefined) return;
    this.#sent.delete(jsonText(id));
    this.#kept.after(() => this.#stream.aside(() => message.taken()));
  }

  #question(id: Json, method: string, params: JsonObject): void {
    this.#watch.heard();
    const request = { id, method, params };
    if (this.#kept.isHeld) return this.#questions.refuse(request);
    if (this.#questions.isFull) {
      this.#why ??= TOO_MANY_ASKS;
      this.kill("failed");
    }
    this.#questions.add(request);
    this.#kept.after(async () => {
      this.#questions.settle(request);
      return undefined;
    });
  }

  #heard(event: BlockEvent): void {
    this.#questions.heard(event);
    if (event.type !== "turn-end" || this.#isOver) return;
    this.#isOver = true;
    this.#closing();
  }

  /** The end of its input is the end of the process, and frees the thread. */
  #closing(): void {
    this.#talk.closeInput();
    this.#watch.linger();
  }
}

/** Not a reason to show: the next message states it. */
const ENDED = "";

/** Of a process that has ended, its end says more. */
function reasonOf({ problem: code, message }: Problem): string {
  return code === "gone" ? ENDED : message;
}

/** Its log is coloured, and its last message is followed by a source location. */
function plain(end: ChildEnd): ChildEnd {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the codes of the colours
  const words = end.stderr.replace(/\u001b\[[0-9;]*m/g, "");
  return { ...end, stderr: words.replace(/\n\s*Stack backtrace:\n[\s\S]*$/, "") };
}
