/**
 * An agent's process and the connection to it, for one conversation: started, greeted, with one session. It lives on between turns;
 * whoever runs a turn listens to it meanwhile.
 *
 * Neither `fs` nor `terminal` is declared: the agent works on the disk itself.
 */

import { type Env, type Json, type JsonObject, jsonText, type Problem, problem } from "@blockyard/kernel";
import { type Direction, isObject, LineReader, trafficLine } from "@blockyard/providers";
import { Child, type ChildEnd, type ChildSpec } from "../../../processes/child.ts";
import type { ProcessTracker } from "../../../processes/process-tracker.ts";
import { bounds } from "../limits.ts";
import { COMMANDS_MS, HELLO_MS } from "./limits.ts";
import { Peer, type Reply, type Respond } from "./peer.ts";
import { changed, inMode, type Setting, settled, type Wish, withUsual } from "./settings.ts";

const CLIENT = { name: "blockyard", title: "Blockyard", version: "1" };
const CAPABILITIES = {
  fs: { readTextFile: false, writeTextFile: false },
  terminal: false,
  elicitation: { form: {} },
};
const AUTH_REQUIRED = -32000;

export interface Listener {
  /** A line of traffic, as it is stored. */
  line(record: string): void;
  /** False: it is refused. */
  request(method: string, params: JsonObject, id: string, respond: Respond): boolean;
  /** All output so far is stored. */
  settled(): Promise<void>;
}

interface ConnectionOptions {
  readonly env: Env;
  readonly tracker: ProcessTracker;
  readonly graceMs?: number | undefined;
  readonly helloMs?: number | undefined;
}

export class Connection {
  readonly cwd: string;
  readonly ended: Promise<ChildEnd>;
  /** The output until there was a session: each turn's record begins with it. */
  readonly hello: string[] = [];
  #helloChars = 0;
  readonly #child: Child;
  readonly #peer: Peer;
  readonly #options: ConnectionOptions;
  readonly #since: number;
  #listener: Listener | undefined;
  #agent: JsonObject = {};
  #session: JsonObject = {};
  /** As it was before anything was set in it. */
  #first: JsonObject = {};
  /** The model and the effort that were set here. */
  #set: Wish = {};
  #sessionId = "";
  #isGone = false;
  /** The number of its lines. */
  saidLines = 0;
  /** Its output between two turns. */
  readonly #kept: string[] = [];
  #keptChars = 0;
  /** It has listed its commands, or has had the time to. */
  readonly toldCommands: Promise<void>;
  #hasToldCommands: () => void;
  /** As it last reported. */
  commands: readonly JsonObject[] = [];
  usage: JsonObject = {};

  constructor(spec: ChildSpec, options: ConnectionOptions) {
    this.cwd = spec.cwd;
    this.#options = options;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.toldCommands = promise;
    this.#hasToldCommands = resolve;
    this.#since = options.env.monotonic();
    this.#child = new Child(spec, options.tracker, { graceMs: options.graceMs });
    this.#peer = new Peer({
      write: (line) => this.#child.write(`${line}\n`),
      onLine: (dir, line) => this.#line(dir, line),
      onRequest: (...asked) => this.#listener?.request(...asked) ?? false,
      onNotification: (method, params) => this.#note(method, params),
    });
    this.ended = this.#read();
    void this.ended.then(() => resolve());
  }

  get sessionId(): string {
    return this.#sessionId;
  }

  /** The session as its agent described it: modes, models, options. */
  get session(): JsonObject {
    return this.#session;
  }

  /** The model and the effort to set for a turn: also back to the agent's own, because the session keeps those of the turn before. */
  choose(wish: Wish): Wish {
    return withUsual(wish, this.#set, this.#first, this.#session);
  }

  /** The agent's abilities, from its initialization. */
  get agent(): JsonObject {
    return this.#agent;
  }

  get isGone(): boolean {
    return this.#isGone || this.#child.hasExited;
  }

  /** From here on, this listener gets its output, beginning with what arrived while nobody listened. */
  listen(listener: Listener | undefined): void {
    this.#listener = listener;
    if (listener === undefined) return;
    for (const record of this.#kept.splice(0)) listener.line(record);
    this.#keptChars = 0;
  }

  /** Sets something, and remembers that it is so. */
  async set(setting: Setting): Promise<Reply> {
    const reply = await this.request(setting.method, setting.params);
    if (!("result" in reply)) return reply;
    const before = this.#session;
    this.#session = settled(before, setting, reply.result);
    this.#set = { ...this.#set, ...changed(before, this.#session) };
    return reply;
  }

  request(method: string, params: JsonObject): Promise<Reply> {
    return this.#peer.request(method, params);
  }

  notify(method: string, params: JsonObject): void {
    this.#peer.notify(method, params);
  }

  async greet(): Promise<Problem | undefined> {
    const params = { protocolVersion: 1, clientCapabilities: CAPABILITIES, clientInfo: CLIENT };
    const reply = await this.#within(this.request("initialize", params));
    if ("error" in reply) return this.#refusal(reply);
    this.#agent = isObject(reply.result) ? reply.result : {};
    const version = this.#agent["protocolVersion"];
    if (version === 1) return undefined;
    return problem(
      "unavailable",
      `The agent speaks version ${jsonText(version)} of ACP; Blockyard speaks version 1.`,
    );
  }

  /** Resumes a session: without its history if the agent supports that. False: it no longer has it. */
  async resume(sessionId: string): Promise<boolean> {
    const abilities = object(this.#agent["agentCapabilities"]);
    const canResume = "resume" in object(abilities["sessionCapabilities"]);
    if (!canResume && abilities["loadSession"] !== true) return false;
    const from = this.hello.length;
    const method = canResume ? "session/resume" : "session/load";
    const reply = await this.#within(this.request(method, { sessionId, cwd: this.cwd, mcpServers: [] }));
    if ("result" in reply) {
      this.#begin(sessionId, reply.result);
      return true;
    }
    // The output of a lost session is not part of the conversation.
    this.hello.length = from;
    return false;
  }

  async create(): Promise<Problem | undefined> {
    const reply = await this.#within(this.request("session/new", { cwd: this.cwd, mcpServers: [] }));
    if ("error" in reply) return this.#refusal(reply);
    const id = object(reply.result)["sessionId"];
    if (typeof id !== "string" || id === "")
      return problem("unavailable", "The agent created a session without an id.");
    this.#begin(id, reply.result);
    return undefined;
  }

  /** Closes its input; an agent that does not end then is killed. */
  async close(): Promise<void> {
    this.#child.closeInput();
    const cancel = this.#options.env.after(this.#options.graceMs ?? 3_000, () => this.#child.kill());
    await this.ended;
    cancel();
  }

  stop(): void {
    this.#child.stop();
  }

  kill(): void {
    this.#child.kill();
  }

  #begin(id: string, session: unknown): void {
    this.#sessionId = id;
    this.#options.env.after(COMMANDS_MS, this.#hasToldCommands);
    this.#session = isObject(session as JsonObject) ? (session as JsonObject) : {};
    this.#first = this.#session;
  }

  #line(dir: Direction, line: string): void {
    if (dir === "out") this.saidLines++;
    const record = trafficLine(dir, line, Math.round(this.#options.env.monotonic() - this.#since));
    if (this.#sessionId !== "") {
      if (this.#listener !== undefined) this.#listener.line(record);
      else if (dir === "out") this.#keep(record);
      return;
    }
    this.#helloChars += record.length;
    if (this.#helloChars <= bounds.heldChars) this.hello.push(record);
    else this.#child.kill();
  }

  /** An agent that keeps producing output by itself is not waiting. */
  #keep(record: string): void {
    this.#kept.push(record);
    this.#keptChars += record.length;
    if (this.#kept.length > bounds.idleLines || this.#keptChars > bounds.heldChars) this.kill();
  }

  #note(method: string, { update }: JsonObject): void {
    if (method !== "session/update") return;
    const { sessionUpdate, availableCommands, currentModeId, configOptions, used, size } = object(update);
    if (sessionUpdate === "available_commands_update" && Array.isArray(availableCommands))
      this.commands = (availableCommands as readonly JsonObject[]).map(object);
    if (sessionUpdate === "available_commands_update") this.#hasToldCommands();
    if (sessionUpdate === "usage_update") this.usage = { used: used ?? null, size: size ?? null };
    if (sessionUpdate === "current_mode_update" && typeof currentModeId === "string")
      this.#session = inMode(this.#session, currentModeId);
    if (sessionUpdate === "config_option_update" && Array.isArray(configOptions))
      this.#session = { ...this.#session, configOptions: configOptions as Json };
  }

  async #read(): Promise<ChildEnd> {
    // The boundary of one process: whoever waits for it is told of its end, also where it could not be read.
    await this.#takeAll().catch(() => this.kill());
    // It may have closed its output and live on: nothing more is to be heard of it.
    const cancel = this.#options.env.after(this.#options.graceMs ?? 3_000, () => this.#child.kill());
    const end = await this.#child.ended;
    cancel();
    this.#isGone = true;
    this.#peer.close("the agent has ended");
    return end;
  }

  async #takeAll(): Promise<void> {
    const lines = new LineReader();
    for await (const bytes of this.#child.output()) {
      for (const { text, omittedBytes } of lines.push(bytes)) {
        if (omittedBytes === 0) this.#peer.take(text);
      }
      await this.#listener?.settled();
    }
    for (const { text } of lines.end()) this.#peer.take(text);
  }

  #within(reply: Promise<Reply>): Promise<Reply> {
    const ms = this.#options.helloMs ?? HELLO_MS;
    return new Promise((resolve) => {
      const late = {
        error: { code: undefined, message: `no response within ${Math.round(ms / 1_000)} seconds` },
      };
      const cancel = this.#options.env.after(ms, () => resolve(late));
      void reply.then((said) => {
        cancel();
        resolve(said);
      });
    });
  }

  /** Why there is no session. An agent without a login says how to log in. */
  #refusal(reply: Extract<Reply, { error: unknown }>): Problem {
    const { code, message } = reply.error;
    if (code !== AUTH_REQUIRED)
      return problem("unavailable", `The agent did not start a session: ${message}`);
    const why = [`Not logged in: ${message}`, this.login].map(sentence).join(" ").trimEnd();
    return problem("unavailable", why, { login: "out" });
  }

  /** How to log in, in the agent's own words. */
  get login(): string {
    const methods = this.#agent["authMethods"];
    const ways = (Array.isArray(methods) ? (methods as readonly JsonObject[]) : []).flatMap((method) => {
      const { name, description } = object(method);
      const words = [name, description].filter((each) => typeof each === "string" && each !== "");
      return words.length === 0 ? [] : [words.join(": ")];
    });
    return ways.length === 0
      ? ""
      : sentence(`To log in: ${ways.map((way) => way.replace(/[.\s]+$/, "")).join("; or ")}`);
  }
}

/** An agent's own words may have their full stop. */
function sentence(text: string): string {
  const words = text.trimEnd();
  return words === "" || /[.!?…]$/.test(words) ? words : `${words}.`;
}

function object(value: unknown): JsonObject {
  return isObject(value as JsonObject) ? (value as JsonObject) : {};
}
