/**
 * The writes of one conversation that wait to be planned, in order. A batch takes them from the front, and returns
 * there what it planned but did not commit. A write leaves when it is answered, and not before.
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

  /** Whether the keys of all were looked for, where they have one. */
  get areNew(): boolean {
    for (const write of this.#writes) if (!write.isNew) return false;
    return true;
  }

  /** Why no more can wait. */
  refusal(): Problem | undefined {
    const { length: waiting } = this.#writes;
    if (waiting < limits.queuedWrites) return undefined;
    return problem("busy", `${waiting} writes are queued in this conversation; try again`, { waiting });
  }

  /** Those that are not among the given ones. */
  after(some: readonly Queued[]): readonly Queued[] {
    const known = new Set(some);
    return this.#writes.filter((write) => !known.has(write));
  }

  /** An array that begins with its first has no room that nobody needs: nearly always it is the only one. */
  add(write: Queued): void {
    if (this.#writes.length === 0) this.#writes = [write];
    else this.#writes.push(write);
  }

  /** The first `count` are planned. */
  taken(count: number): void {
    this.#writes = count === this.#writes.length ? NOTHING : this.#writes.slice(count);
  }

  /** What was planned and is not going to be committed waits again, in front. */
  giveBack(planned: readonly Queued[]): void {
    for (const write of planned) write.isNew = write.key === undefined;
    this.putFirst(planned);
  }

  putFirst(writes: readonly Queued[]): void {
    this.#writes = [...writes, ...this.#writes];
  }

  /** These have their answers. */
  remove(settled: ReadonlySet<Queued>): void {
    if (settled.size > 0) this.#writes = this.#writes.filter((write) => !settled.has(write));
  }

  /** Another node may have committed: a key that was new may have come through it. */
  forgetKeys(): void {
    for (const write of this.#writes) write.isNew = write.key === undefined;
  }

  /** Answers one that cannot be planned; nothing, where it has left meanwhile. */
  refuse(write: Queued, error: unknown): void {
    if (!this.#writes.includes(write)) return;
    this.remove(new Set([write]));
    write.settle(refusalOf(write, error));
  }

  refuseAll(error: unknown): void {
    this.#refuse(this.#writes, [], error);
  }

  /** Those that do not wait for an outcome are told at once. */
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
