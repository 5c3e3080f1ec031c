/**
 * Starts a run a second time, in the same turn: if an agent says at once that the session to continue no longer exists,
 * it is started again with a new one; so is one whose idle process from an earlier turn has ended meanwhile. opening.ts
 * decides what it is told then.
 *
 * Like every run it ends once and never rejects; stopping it stops the current run and any further one.
 */

import { type BlockId, isProblem, type Problem, problem, type Reason } from "@blockyard/kernel";
import type { Message } from "./message.ts";
import type { Mode } from "./mode.ts";
import type { AgentTask, Answer, Run, RunEnd } from "./run.ts";

const UNABLE = problem("unavailable", "this agent cannot do that while it is working");

/** A run that may find its session lost; known when it has ended. */
export interface Trial extends Run {
  readonly isLost: boolean;
}

export class SecondTry implements Run {
  readonly ended: Promise<RunEnd>;
  #run: Run;
  #stopping: Reason | undefined;

  constructor(first: Trial, again: () => Promise<Run | Problem>) {
    this.#run = first;
    this.ended = this.#follow(first, again);
  }

  async #follow(first: Trial, again: () => Promise<Run | Problem>): Promise<RunEnd> {
    const end = await first.ended;
    if (!first.isLost) return end;
    // The boundary of one run: that it cannot be started is its end, not the server's.
    const second = await again().catch((error) => problem("unavailable", String(error)));
    if (isProblem(second)) return { error: second.message, isExpected: false };
    this.#run = second;
    if (this.#stopping !== undefined) second.kill(this.#stopping);
    return second.ended;
  }

  get limit(): Run["limit"] {
    return this.#run.limit;
  }

  get mode(): Mode | undefined {
    return this.#run.mode;
  }

  stop(reason: Reason): void {
    this.#stopping ??= reason;
    this.#run.stop(reason);
  }

  kill(reason: Reason): void {
    this.#stopping ??= reason;
    this.#run.kill(reason);
  }

  asks(ask: string): BlockId | undefined {
    return this.#run.asks(ask);
  }

  answer(answer: Answer): void {
    this.#run.answer(answer);
  }

  async send(message: Message): Promise<Problem | undefined> {
    return this.#run.send ? this.#run.send(message) : UNABLE;
  }

  async takeBack(message: string): Promise<boolean> {
    return (await this.#run.takeBack?.(message)) ?? false;
  }

  async setMode(mode: Mode): Promise<Problem | undefined> {
    return this.#run.setMode ? this.#run.setMode(mode) : UNABLE;
  }

  async setModel(model: string): Promise<Problem | undefined> {
    return this.#run.setModel ? this.#run.setModel(model) : UNABLE;
  }

  async setEffort(effort: string): Promise<Problem | undefined> {
    return this.#run.setEffort ? this.#run.setEffort(effort) : UNABLE;
  }

  async tasks(): Promise<readonly AgentTask[]> {
    return (await this.#run.tasks?.()) ?? [];
  }

  async stopTask(task: string): Promise<Problem | undefined> {
    return this.#run.stopTask ? this.#run.stopTask(task) : UNABLE;
  }
}
