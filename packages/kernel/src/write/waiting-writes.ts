/**
 * The writes of one conversation that wait to be planned, in order. Batches take them from the front, and return those that were
 * planned but not committed. A write leaves for good only when it is settled.
 */

import { limits } from "../model/limits.ts";
import { type Problem, problem } from "../model/problem.ts";
import { refusalOf } from "./outcome.ts";
import type { Queued } from "./write.ts";

/** Never added to. */
const NOTHING: Queued[] = [];

export class WaitingWrites {
  #writes: Queued[] = NOTHING;

  get all(): readonly Queued[] {
    return this.#writes;
  }

  get isEmpty(): boolean {
    return this.#writes.length === 0;
  }

  /** Whether all keys were looked up. */
  get areNew(): boolean {
    for (const write of this.#writes) if (!write.isNew) return false;
    return true;
  }

  /** Why no more writes can be queued, if the queue is full. */
  refusal(): Problem | undefined {
    const { length: waiting } = this.#writes;
    if (waiting < limits.queuedWrites) return undefined;
    return problem("busy", `${waiting} writes are queued in this conversation; try again`, { waiting });
  }

  /** Writes that are not among `some`. */
  after(some: readonly Queued[]): readonly Queued[] {
    const known = new Set(some);
    return this.#writes.filter((write) => !known.has(write));
  }

  /** Nearly always there is only one: a literal with one element allocates no spare capacity. */
  add(write: Queued): void {
    if (this.#writes.length === 0) this.#writes = [write];
    else this.#writes.push(write);
  }

  /** Removes the first `count`: they are planned. */
  taken(count: number): void {
    this.#writes = count === this.#writes.length ? NOTHING : this.#writes.slice(count);
  }

  /** Puts planned writes that will not be committed back to the front. */
  giveBack(planned: readonly Queued[]): void {
    for (const write of planned) write.isNew = write.key === undefined;
    this.putFirst(planned);
  }

  putFirst(writes: readonly Queued[]): void {
    this.#writes = [...writes, ...this.#writes];
  }

  /** Removes settled writes. */
  remove(settled: ReadonlySet<Queued>): void {
    if (settled.size > 0) this.#writes = this.#writes.filter((write) => !settled.has(write));
  }

  /** Another node has committed, perhaps under one of these keys: look them up again. */
  forgetKeys(): void {
    for (const write of this.#writes) write.isNew = write.key === undefined;
  }

  /** Refuses a write that cannot be planned, if it still waits. */
  refuse(write: Queued, error: unknown): void {
    if (!this.#writes.includes(write)) return;
    this.remove(new Set([write]));
    write.settle(refusalOf(write, error));
  }

  refuseAll(error: unknown): void {
    this.#refuse(this.#writes, [], error);
  }

  /** Refuses writes that do not wait for an unknown outcome. */
  refuseImpatient(error: unknown): void {
    const patient = this.#writes.filter((write) => write.patient);
    this.#refuse(
      this.#writes.filter((write) => !write.patient),
      patient,
      error,
    );
  }

  #refuse(refused: readonly Queued[], rest: Queued[], error: unknown): void {
    this.#writes = rest;
    for (const write of refused) write.settle(refusalOf(write, error));
  }
}
