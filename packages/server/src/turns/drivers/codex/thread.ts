/**
 * A thread of Codex while a turn runs in it: which turn that is, which sub-agents work for it, and what can be asked of them. It
 * opens and ends nothing.
 */

import { isProblem, type Json, type JsonObject, jsonText, type Problem, problem } from "@blockyard/kernel";
import { isObject } from "@blockyard/providers";
import type { AgentTask } from "../../run.ts";
import type { Connection } from "./connection.ts";
import { limits } from "./limits.ts";
import { inputOf } from "./settings.ts";

const NO_TURN = problem("gone", "Codex is not working on a turn");
/** The feature of Codex that a change during a turn needs. Codex has it off: it is under development. */
const SWITCHING = "step_model_switching";
const BETWEEN_TURNS = problem(
  "unavailable",
  "Codex changes its model and effort only between turns: choose them with the next message",
);

export class CodexThread {
  readonly #connection: () => Connection;
  /**
   * Commands that the model waits for, by their items: `returned` if it has received their output so far, and may ask
   * for more.
   */
  readonly #awaited = new Map<string, "running" | "returned">();
  /** The turns of sub-agents, by their threads. */
  readonly #children = new Map<string, string>();
  #turn: string | undefined;
  /** Empty until it is open. */
  id = "";

  constructor(connection: () => Connection) {
    this.#connection = connection;
  }

  get hasTurn(): boolean {
    return this.#turn !== undefined;
  }

  /** The answer to the request that starts the turn; its own word for it may have come before. */
  begun(turn: Json | undefined): void {
    this.#turn ??= isObject(turn) ? jsonText(turn["id"]) : undefined;
  }

  turnStarted(thread: string, turn: Json | undefined): void {
    const id = isObject(turn) && typeof turn["id"] === "string" ? turn["id"] : undefined;
    if (id === undefined) return;
    if (thread === this.id) this.#turn = id;
    else if (this.#children.size < limits.children) this.#children.set(thread, id);
  }

  turnEnded(thread: string): void {
    this.#children.delete(thread);
  }

  /**
   * Which commands the model waits for. Codex counts the tokens of an answer once all its calls have returned. What
   * still runs then is polled (`terminalInteraction`, when that has an answer), or runs in the background: as soon as
   * the model does or says something else. Thinking is neither.
   */
  notified(method: string, { threadId, item, itemId }: JsonObject): void {
    if (threadId !== this.id) return;
    const { type, id } = isObject(item) ? item : {};
    const isCommand = type === "commandExecution" && typeof id === "string";
    if (method === "item/started" && type !== "reasoning") {
      this.#forget("returned");
      if (isCommand && this.#awaited.size < limits.commands) this.#awaited.set(id, "running");
    } else if (method === "item/completed" && isCommand) this.#awaited.delete(id);
    else if (method === "thread/tokenUsage/updated")
      for (const each of this.#awaited.keys()) this.#awaited.set(each, "returned");
    else if (method === "item/commandExecution/terminalInteraction" && this.#awaited.size < limits.commands)
      this.#awaited.set(jsonText(itemId), "returned");
    else if (method === "turn/completed") this.#awaited.clear();
  }

  #forget(state: "running" | "returned"): void {
    for (const [id, its] of this.#awaited) if (its === state) this.#awaited.delete(id);
  }

  /**
   * Interrupts its turn and those of its sub-agents, each separately. Never awaited: without an active turn it is not
   * answered.
   */
  interrupt(): void {
    if (this.#turn !== undefined) this.#interrupt(this.id, this.#turn);
    for (const [thread, turn] of this.#children) this.#interrupt(thread, turn);
  }

  /** A message to the model while it works. */
  async steer(text: string, clientUserMessageId: string): Promise<Problem | undefined> {
    const input = inputOf({ texts: [text], picturePaths: [] });
    const params = { threadId: this.id, expectedTurnId: this.#turn ?? "", input, clientUserMessageId };
    const steered = await this.#request("turn/steer", params);
    return isProblem(steered) ? steered : undefined;
  }

  /** Model and effort of the turn. */
  async update(settings: JsonObject): Promise<Problem | undefined> {
    if (this.#turn === undefined) return NO_TURN;
    const params = { threadId: this.id, turnId: this.#turn, ...settings };
    const changed = await this.#request("turn/settings/update", params);
    if (isProblem(changed)) return changed.message.includes(SWITCHING) ? BETWEEN_TURNS : changed;
    return changed["status"] === "applied" ? undefined : problem("gone", "the turn is over");
  }

  /** Commands that run beside the model's work; Codex also lists those that the model waits for. */
  async tasks(): Promise<readonly AgentTask[]> {
    if (this.id === "") return [];
    const listed = await this.#request("thread/backgroundTerminals/list", { threadId: this.id });
    const rows = isProblem(listed) ? [] : listed["data"];
    return (Array.isArray(rows) ? (rows as readonly JsonObject[]) : [])
      .filter((row) => isObject(row) && !this.#awaited.has(jsonText(row["itemId"])))
      .map((row) => ({ id: jsonText(row["processId"]), description: jsonText(row["command"] ?? "") }));
  }

  async stopTask(task: string): Promise<Problem | undefined> {
    const params = { threadId: this.id, processId: task };
    const ended = await this.#request("thread/backgroundTerminals/terminate", params);
    return isProblem(ended) ? ended : undefined;
  }

  #interrupt(threadId: string, turnId: string): void {
    void this.#request("turn/interrupt", { threadId, turnId });
  }

  #request(method: string, params: JsonObject): Promise<JsonObject | Problem> {
    return this.#connection().request(method, params, limits.answerMs);
  }
}
