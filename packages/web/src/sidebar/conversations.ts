/**
 * The list of conversations: requested when the page connects, then updated with every change. Those that need an
 * answer first, then running ones, then the newest. Updates that change nothing visible are skipped, so that streaming
 * costs the list nothing.
 */

import { ownEnv, type ToolAnswer } from "@blockyard/client";
import {
  type Conversation,
  isPassing,
  isProblem,
  openAsks,
  type Problem,
  type Reason,
  Retry,
} from "@blockyard/kernel";
import { Cell } from "../state/cell.ts";
import { newsBetween } from "../state/news.ts";
import { tell } from "../state/notifications.ts";
import { listenRoute, readRoute } from "../state/route.ts";
import type { Session } from "../state/session.tsx";
import { AGE_STEP_MS, LISTED_CONVERSATIONS, MAX_CONVERSATIONS } from "./limits.ts";
import { Seen } from "./seen.ts";

export interface ListedConversation {
  readonly id: string;
  readonly title: string;
  readonly provider: string | undefined;
  readonly model: string | undefined;
  readonly isRunning: boolean;
  /** Why its last turn ended as it did, unless well. */
  readonly ended: Reason | undefined;
  /** The folder that its agents work in. */
  readonly folder: string | undefined;
  readonly turns: number;
  /** It waits for the reader's answer. */
  readonly isAsking: boolean;
  /** The call that asks; the first of several. */
  readonly asks: string | undefined;
  readonly isArchived: boolean;
  /** It is one of the sessions that a first start shows. */
  readonly isRecorded: boolean;
  /** It was deleted; for a short time it can come back. */
  readonly isDeleted: boolean;
  /** It holds the files of the workspace, which have a list of their own. */
  readonly isFiles: boolean;
  readonly isUnread: boolean;
  readonly costUsd: number | undefined;
  /** It cost more than that. */
  readonly isCostLeast: boolean;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly blocks: number;
  readonly seq: number;
}

export type Listing =
  | { readonly state: "loading" }
  | { readonly state: "here"; readonly conversations: readonly ListedConversation[] }
  | { readonly state: "failed"; readonly problem: Problem };

export class Conversations {
  readonly listing = new Cell<Listing>({ state: "loading" });
  /** Those that were deleted while the page was open, and have not come back. */
  readonly deleted = new Cell<ReadonlySet<string>>(new Set());
  readonly #session: Session;
  readonly #known = new Map<string, ListedConversation>();
  readonly #seen = new Seen();
  readonly #retry = new Retry(ownEnv);
  #current: string | undefined;

  constructor(session: Session) {
    this.#session = session;
  }

  start(): void {
    const { replica, link } = this.#session;
    replica.watch((records) => this.#take(records.map(listed)));
    link.state.listen(() => {
      if (link.state.get().state === "open") void this.refresh();
    });
    listenRoute(() => this.#look());
    document.addEventListener("visibilitychange", () => this.#look());
    this.#look();
  }

  async refresh(): Promise<void> {
    let before: number | undefined;
    for (let read = 0; read < MAX_CONVERSATIONS; ) {
      const request = { limit: LISTED_CONVERSATIONS, ...(before === undefined ? {} : { before }) };
      const answer = await this.#session.ask("conversation.list", request);
      if (isProblem(answer)) {
        if (this.listing.get().state !== "here") this.listing.set({ state: "failed", problem: answer });
        // Where the connection is gone, the next one asks.
        if (isPassing(answer) && this.#session.replica.isConnected)
          this.#retry.later(() => void this.refresh());
        return;
      }
      const rows = readListing(answer);
      for (const { id, seq } of rows) this.#seen.assume(id, seq);
      this.#take(rows);
      if (rows.length === 0) this.#show();
      if (!answer.more) return this.#retry.over();
      before = rows.at(-1)?.updatedAt;
      read += rows.length;
    }
  }

  /** What is newer than what is known; a record may be overtaken by the list, and the other way round. */
  #take(rows: readonly ListedConversation[]): void {
    for (const row of rows) {
      const known = this.#known.get(row.id);
      if (!known || known.seq <= row.seq) this.#known.set(row.id, row);
    }
    const deleted = [...this.#known.values()].filter(({ isDeleted }) => isDeleted).map(({ id }) => id);
    if (deleted.join() !== [...this.deleted.get()].join()) this.deleted.set(new Set(deleted));
    this.#markSeen();
    this.#show();
  }

  /** The page went elsewhere: what was open until now has been seen to its end. */
  #look(): void {
    this.#markSeen();
    this.#current = readRoute(location.pathname, location.hash).conversation;
    this.#markSeen();
    this.#show();
  }

  #markSeen(): void {
    const id = this.#current;
    if (id === undefined || document.visibilityState !== "visible") return;
    const view = [...this.#session.replica.views.values()].find(({ conversation }) => conversation === id);
    this.#seen.mark(id, Math.max(view?.record?.seq ?? 0, this.#known.get(id)?.seq ?? 0));
  }

  #show(): void {
    const now = this.listing.get();
    if (now.state !== "here" && this.#known.size === 0 && !this.#session.replica.isConnected) return;
    const rows = [...this.#known.values()]
      .filter(({ isFiles, isDeleted }) => !isFiles && !isDeleted)
      .map((row) => ({ ...row, isUnread: !row.isRunning && this.#isUnread(row) }))
      .sort(runningFirst);
    if (now.state === "here" && shownOf(now.conversations) === shownOf(rows)) return;
    // What was there when the page came is no news.
    if (now.state === "here")
      tell(newsBetween(byId(now.conversations), rows, this.#session.isViewer), this.#current);
    this.listing.set({ state: "here", conversations: rows });
  }

  #isUnread({ id, seq }: ListedConversation): boolean {
    return id !== this.#current && this.#seen.isBehind(id, seq);
  }
}

function byId(rows: readonly ListedConversation[]): ReadonlyMap<string, ListedConversation> {
  return new Map(rows.map((row) => [row.id, row]));
}

/** An answer of conversation.list. */
function readListing(
  answer: Pick<ToolAnswer<"conversation.list">, "conversations">,
): readonly ListedConversation[] {
  return answer.conversations.map((row) =>
    listed({
      ...row,
      id: row.conversation,
      createdBy: row.created_by,
      createdAt: row.created_at,
      updatedAt: row.updated_at,
      costUsd: row.cost_usd,
      ...(row.late_asks === undefined ? {} : { cutAsks: row.late_asks }),
    }),
  );
}

type Facts = Pick<
  Conversation,
  | "id"
  | "title"
  | "running"
  | "asking"
  | "cutAsks"
  | "ended"
  | "deleted"
  | "turns"
  | "createdBy"
  | "createdAt"
  | "updatedAt"
  | "costUsd"
  | "uncounted"
  | "blocks"
  | "seq"
  | "metadata"
> & { readonly provider?: string; readonly model?: string };

function listed(record: Facts): ListedConversation {
  const { id, title, provider, model, running, costUsd, createdAt, updatedAt, blocks, seq, metadata } =
    record;
  const asks = openAsks(record);
  return {
    id,
    title,
    provider,
    model,
    isRunning: running.length > 0,
    ended: record.ended,
    folder: metadata.cwd,
    turns: record.turns,
    isAsking: asks.length > 0,
    asks: asks[0],
    isArchived: metadata.archived === true,
    isRecorded: metadata.recorded === true,
    isDeleted: record.deleted !== undefined,
    isUnread: false,
    isFiles: record.createdBy === "disk",
    costUsd: costUsd ?? undefined,
    isCostLeast: record.uncounted !== undefined,
    createdAt,
    updatedAt,
    blocks,
    seq,
  };
}

/** Those that run stay where they are while they run; the others by when they last changed. */
function runningFirst(a: ListedConversation, b: ListedConversation): number {
  if (a.isAsking !== b.isAsking) return Number(b.isAsking) - Number(a.isAsking);
  if (a.isRunning !== b.isRunning) return Number(b.isRunning) - Number(a.isRunning);
  return a.isRunning ? b.createdAt - a.createdAt : b.updatedAt - a.updatedAt;
}

function shownOf(rows: readonly ListedConversation[]): string {
  return JSON.stringify(
    rows.map(({ seq, blocks, updatedAt, ...row }) => [
      ...Object.values(row),
      row.isRunning ? Math.floor(updatedAt / AGE_STEP_MS) : updatedAt,
    ]),
  );
}
