/**
 * Group commit: what arrives while a transaction is under way goes together into the next one. Answers each commit when
 * it is durable, and says of one that failed whether it can have taken effect.
 *
 * Where the connection is lost before the transaction was to be committed, nothing has happened, and it is tried again. Where
 * it is lost while it was being written and committed, which is one way to the server, nobody knows until the server has ended
 * it one way or the other: if it was undone it is tried again, otherwise its callers are told that it may have taken effect, and
 * reading tells what became of it (the kernel does). Where that takes too long, its conversations are in doubt, and are not
 * read, until it has.
 *
 * Invariant: one transaction is under way at a time, and commits of one conversation keep the order in which they came.
 */

import { setTimeout as sleep } from "node:timers/promises";
import type { Commit, CommitAnswer, Op, TurnedCommit } from "@blockyard/kernel";
import { type ConversationId, StoreError } from "@blockyard/kernel/plain";
import { AnswerCounts } from "./answer-counts.ts";
import type { Connection, Connections } from "./connections.ts";
import { asFault, isDropped, isOfValues, isTransient } from "./fault.ts";
import {
  type RawPart,
  type Remembered,
  type Verdict,
  type Written,
  withOwnBytes,
  writeGroup,
} from "./group.ts";
import { DOUBT_MS, DOUBT_STEP_MS, GROUP_CHARS, GROUP_COMMITS, GROUP_MS, GROUP_TRIES } from "./limits.ts";
import { Versions } from "./versions.ts";

type Entry = { readonly commit: Commit } | { readonly turned: TurnedCommit } | { readonly raw: RawPart };

interface Waiting {
  readonly entry: Entry;
  readonly chars: number;
  readonly settle: (answer: CommitAnswer) => void;
  readonly fail: (error: unknown) => void;
}

export class Writer {
  readonly #connections: Connections;
  readonly #remembered = { versions: new Versions(), counts: new AnswerCounts() };
  readonly #written: () => void;
  readonly #doubtMs: number;
  /** Conversations with a transaction that the server has perhaps not ended: its number. */
  readonly #doubts = new Map<ConversationId, string>();
  #waiting: Waiting[] = [];
  #running: Promise<void> | undefined;

  /** `written` is called after each transaction. */
  constructor(connections: Connections, written: () => void, doubtMs: number = DOUBT_MS) {
    this.#connections = connections;
    this.#written = written;
    this.#doubtMs = doubtMs;
  }

  /** Blocks reads of a conversation while the outcome of a lost commit is unknown. */
  async requireCertain(conversation: ConversationId): Promise<void> {
    const transaction = this.#doubts.get(conversation);
    if (transaction === undefined) return;
    if ((await this.#ending(transaction)) === undefined)
      throw new StoreError("io", `${conversation}: a commit whose result was lost is still in progress`);
    this.#doubts.delete(conversation);
  }

  /** A write planned in its transaction gets its size later. */
  commitInTurn(turned: TurnedCommit): Promise<CommitAnswer> {
    return this.#add({ turned }, 0);
  }

  commit(given: Commit): Promise<CommitAnswer> {
    const commit = withOwnBytes(given);
    return this.#add(
      { commit },
      commit.ops.reduce((sum, op) => sum + charsOf(op), 0),
    );
  }

  async appendRaw({ run, bytes }: RawPart): Promise<void> {
    await this.#add({ raw: { run: { ...run }, bytes: bytes.slice() } }, bytes.length);
  }

  /** When everything that waits has been answered. */
  async idle(): Promise<void> {
    while (this.#running) await this.#running;
  }

  #add(entry: Waiting["entry"], chars: number): Promise<CommitAnswer> {
    return new Promise((settle, fail) => {
      this.#waiting.push({ entry, chars, settle, fail });
      this.#running ??= this.#run();
    });
  }

  async #run(): Promise<void> {
    // Writes of the same turn of the event loop go together.
    await new Promise<void>((done) => setImmediate(done));
    while (this.#waiting.length > 0) {
      await this.#write(this.#next());
      this.#written();
    }
    // In the same step in which the queue was found empty: the next writer must find nobody at work.
    this.#running = undefined;
  }

  #next(): readonly Waiting[] {
    let chars = 0;
    let count = 0;
    const inTurn = new Set<ConversationId>();
    while (count < this.#waiting.length && count < GROUP_COMMITS && (count === 0 || chars < GROUP_CHARS)) {
      const { entry, chars: some } = this.#waiting[count] as Waiting;
      if ("turned" in entry) {
        // The second one of a conversation is planned on the first one's commit: in the next transaction.
        if (inTurn.has(entry.turned.conversation)) break;
        inTurn.add(entry.turned.conversation);
      }
      chars += some;
      count++;
    }
    return this.#waiting.splice(0, count);
  }

  /** Answers all of them. Never throws: the failure is theirs. */
  async #write(group: readonly Waiting[]): Promise<void> {
    const endMs = performance.now() + GROUP_MS;
    for (let tries = 1; ; tries++) {
      const attempt = new Attempt(group, this.#remembered);
      try {
        const written = await this.#connections.once((connection) => attempt.run(connection));
        return this.#settle(group, written);
      } catch (error) {
        if (attempt.isDoubtful && !(await this.#wasUndone(group, attempt))) return this.#doubt(group, error);
        if (isOfValues(error) && group.length > 1) return this.#writeOneByOne(group);
        const isOver = tries === GROUP_TRIES || performance.now() > endMs;
        if (isOver || !(isDropped(error) || isTransient(error))) {
          const fault = asFault(error, "commit");
          for (const { fail } of group) fail(fault);
          return;
        }
      }
    }
  }

  /** One of them cannot be stored. The others can. */
  async #writeOneByOne(group: readonly Waiting[]): Promise<void> {
    for (const each of group) await this.#write([each]);
  }

  #settle(group: readonly Waiting[], { verdicts, planned }: Written): void {
    for (const { entry, settle, fail } of group) {
      const commit =
        "commit" in entry ? entry.commit : "turned" in entry ? planned.get(entry.turned) : undefined;
      const verdict = commit === undefined ? COMMITTED : (verdicts.get(commit) as Verdict);
      if ("error" in verdict) {
        fail(verdict.error);
        continue;
      }
      if (commit !== undefined && verdict.type === "committed") this.#remembered.versions.committed(commit);
      settle(verdict);
    }
  }

  /**
   * Waits until the server has ended a transaction whose answer was lost, and whether it has rolled it back. Its number
   * alone does not prove a commit: after a crash that can be another one's.
   */
  async #wasUndone(group: readonly Waiting[], { transaction }: Attempt): Promise<boolean> {
    for (const { entry } of group)
      if (!("raw" in entry)) this.#doubts.set(conversationOf(entry), transaction);
    const endMs = performance.now() + this.#doubtMs;
    for (let leftMs = this.#doubtMs; leftMs > 0; leftMs = endMs - performance.now()) {
      // A server that says nothing does not make its callers wait for longer.
      const ending = await Promise.race([this.#ending(transaction), sleep(leftMs, undefined)]);
      if (ending !== undefined) return ending === "undone";
      await sleep(DOUBT_STEP_MS);
    }
    return false;
  }

  #doubt(group: readonly Waiting[], cause: unknown): void {
    const message = "commit: the connection was lost before the result arrived, so it may have taken effect";
    const fault = new StoreError("io", message, { cause });
    for (const { fail } of group) fail(fault);
  }

  /** How a transaction has ended, if it has. */
  async #ending(transaction: string): Promise<"undone" | "ended" | undefined> {
    try {
      const [row] = await this.#connections.once((connection) =>
        connection.rows<{ status: string | null }>({
          text: "SELECT pg_xact_status($1::xid8) AS status",
          values: [transaction],
        }),
      );
      if (row?.status === "in progress") return undefined;
      return row?.status === "aborted" ? "undone" : "ended";
    } catch (error) {
      // A number that the server does not know: it has lost that transaction in a crash, before any of it was written.
      return isDropped(error) || error instanceof StoreError ? undefined : "ended";
    }
  }
}

const COMMITTED: CommitAnswer = { type: "committed" };

/**
 * All statements of a group look up rows by key, whatever the values: planning them again for each group took longer
 * than running them. A plan made while the tables were small must not scan them when they have grown.
 */
const PLANNED_ONCE = "SET LOCAL plan_cache_mode = force_generic_plan; SET LOCAL enable_seqscan = off";

function conversationOf(entry: Exclude<Entry, { readonly raw: RawPart }>): ConversationId {
  return "commit" in entry ? entry.commit.conversation : entry.turned.conversation;
}

/** One try of one transaction. */
class Attempt {
  readonly #group: readonly Waiting[];
  readonly #remembered: Remembered;
  /** Its number on the server. */
  transaction = "";
  /** The commit was requested and not answered. */
  isDoubtful = false;

  constructor(group: readonly Waiting[], remembered: Remembered) {
    this.#group = group;
    this.#remembered = remembered;
  }

  run(connection: Connection): Promise<Written> {
    return connection.together(() => this.#write(connection));
  }

  #write(connection: Connection): Promise<Written> {
    let number = "";
    const begun = connection
      .script<{ number: string }>(
        `BEGIN ISOLATION LEVEL READ COMMITTED; ${PLANNED_ONCE}; SELECT pg_current_xact_id()::text AS number`,
      )
      .then((rows) => {
        number = rows[0]?.number ?? "";
      });
    const entries = this.#group.map(({ entry }) => entry);
    const commits = entries.flatMap((entry) => ("commit" in entry ? [entry.commit] : []));
    const turned = entries.flatMap((entry) => ("turned" in entry ? [entry.turned] : []));
    const raws = entries.flatMap((entry) => ("raw" in entry ? [entry.raw] : []));
    const group = { commits, turned, raws };
    return writeGroup(connection, group, this.#remembered, begun, async () => {
      this.transaction = number;
      try {
        await connection.commit();
      } catch (error) {
        // An answer is an answer, also if it is no: a constraint, or a transaction that was not to be committed.
        this.isDoubtful = isDropped(error);
        throw error;
      }
    });
  }
}

function charsOf({ body }: Op): number {
  if (body.type === "append" || body.type === "create") return body.text.length + 64;
  return body.type === "splice" ? body.update.length + 256 : 256;
}
