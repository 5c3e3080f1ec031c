/**
 * A store that behaves as badly as a real one may: slow, failing before a commit took effect, failing after it took
 * effect, answering a dead kernel's commit late. Underneath is a MemoryStore, so what was committed stays.
 *
 * A kernel gets a connection of its own. A connection that is cut answers nothing any more: that is how a kernel dies
 * here. What its last commit comes to is for the seed to decide. Logs come back with appends merged into runs, as
 * the port allows.
 */
import {
  type BlockId,
  type BlockLog,
  type Commit,
  type CommitAnswer,
  type Compacted,
  MemoryNodes,
  type MemoryStore,
  type Op,
  type Store,
  StoreError,
  type TurnedCommit,
  type VirtualEnv,
} from "@blockyard/kernel";
import type { Random } from "./random.ts";

export interface Weather {
  /** Calls take up to this long, each way. */
  readonly delayMs: number;
  /** Chances that a commit fails before, or after, it took effect; that a read fails. */
  readonly failBefore: number;
  readonly failAfter: number;
  readonly failRead: number;
}

export const FAIR: Weather = { delayMs: 0, failBefore: 0, failAfter: 0, failRead: 0 };

export interface Connection {
  readonly store: Store;
  /** From now on nothing is answered. */
  cut(): void;
  /** Whether a commit is under way. */
  readonly isBusy: boolean;
}

type Count = (event: string) => void;

interface State {
  alive: boolean;
  commits: number;
}

export class SimStore {
  weather: Weather = FAIR;
  readonly inner: MemoryStore;
  /** Every commit that took effect, in the order in which it did. */
  onCommitted: (commit: Commit) => void = () => {};
  onCompacted: (block: BlockId, version: number) => void = () => {};
  readonly #env: VirtualEnv;
  readonly #random: Random;
  readonly #count: Count;

  constructor(inner: MemoryStore, env: VirtualEnv, random: Random, count: Count) {
    this.inner = inner;
    // Several kernels write to it: they take turns, as nodes of one database do.
    inner.nodes = new MemoryNodes(() => env.now());
    this.#env = env;
    this.#random = random;
    this.#count = count;
  }

  connect(): Connection {
    const state: State = { alive: true, commits: 0 };
    const methods: Record<string, (...given: never[]) => Promise<unknown>> = {};
    const store = new Proxy(this.inner, {
      get: (inner, name: keyof MemoryStore) => {
        // What the port leaves open and this store does not have is not there for the kernel either.
        if (typeof inner[name] !== "function") return inner[name];
        methods[name] ??= this.#method(name, state);
        return methods[name];
      },
    });
    return {
      store,
      cut: () => {
        state.alive = false;
      },
      get isBusy() {
        return state.commits > 0;
      },
    };
  }

  #method(name: keyof MemoryStore, state: State): (...given: never[]) => Promise<unknown> {
    if (name === "commit")
      return (commit: Commit) => this.#commit(state, async () => [await this.inner.commit(commit), commit]);
    if (name === "commitInTurn")
      return (turned: TurnedCommit) => this.#commit(state, () => this.#inTurn(turned));
    return (...given) => this.#call(name, given, state);
  }

  /** The answer, and what was planned when its turn came. */
  async #inTurn(turned: TurnedCommit): Promise<readonly [CommitAnswer, Commit | undefined]> {
    let planned: Commit | undefined;
    const answer = await this.inner.commitInTurn({
      ...turned,
      plan: (missed, answers) => {
        planned = turned.plan(missed, answers);
        return planned;
      },
    });
    if (planned) this.#count("commit in turn");
    return [answer, planned];
  }

  async #commit(
    state: State,
    commit: () => Promise<readonly [CommitAnswer, Commit | undefined]>,
  ): Promise<CommitAnswer> {
    if (!state.alive) return never();
    const { failBefore, failAfter } = this.weather;
    state.commits++;
    await this.#delay();
    // The kernel has died; its commit may be on its way still.
    if (!state.alive && this.#random.chance(0.5)) return never();
    if (this.#random.chance(failBefore)) {
      this.#count("commit failed");
      state.commits--;
      if (!state.alive) return never();
      throw new StoreError(this.#random.chance(0.5) ? "full" : "io", "no space, or no disk");
    }
    const [answer, committed] = await commit();
    if (answer.type === "moved") this.#count("moved");
    else if (committed) this.onCommitted(committed);
    await this.#delay();
    state.commits--;
    if (!state.alive) return never();
    if (answer.type === "committed" && this.#random.chance(failAfter)) {
      this.#count("commit of unknown outcome");
      throw new StoreError("io", "the answer to a commit was lost");
    }
    return answer;
  }

  async #call(
    name: keyof MemoryStore,
    given: readonly unknown[],
    state: { alive: boolean },
  ): Promise<unknown> {
    if (!state.alive) return never();
    await this.#delay();
    if (this.#random.chance(this.weather.failRead)) {
      this.#count("read failed");
      if (!state.alive) return never();
      throw new StoreError("io", "the disk does not answer");
    }
    const method = this.inner[name] as (...given: unknown[]) => Promise<unknown>;
    const answer = await method.apply(this.inner, [...given]);
    if (name === "compact") this.onCompacted(given[0] as BlockId, (given[1] as Compacted).version);
    await this.#delay();
    if (!state.alive) return never();
    return name === "log" ? withRuns(answer as BlockLog, this.#random) : answer;
  }

  #delay(): Promise<void> | undefined {
    const { delayMs } = this.weather;
    if (delayMs === 0 || this.#random.chance(0.3)) return undefined;
    return new Promise((done) => this.#env.after(this.#random.below(delayMs * 10) / 10, done));
  }
}

function never<T>(): Promise<T> {
  return new Promise(() => {});
}

/** Merges neighbouring appends of one unit, some of them. */
function withRuns(log: BlockLog, random: Random): BlockLog {
  const ops: Op[] = [];
  for (const op of log.ops) {
    const last = ops.at(-1);
    if (
      last?.body.type === "append" &&
      op.body.type === "append" &&
      last.unit === op.unit &&
      last.agent === op.agent &&
      random.chance(0.7)
    ) {
      const body = { type: "append", at: last.body.at, text: last.body.text + op.body.text } as const;
      ops[ops.length - 1] = { ...op, versionFrom: last.versionFrom, seqFrom: last.seqFrom, body };
    } else ops.push(op);
  }
  return { ...log, ops };
}
