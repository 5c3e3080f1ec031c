/**
 * The list of conversations: asked for when the page connects and while it is looked at, and again soon after the open
 * conversation changes. Running ones first, then the newest.
 */
import { type Conversation, isProblem, type Json, type Problem } from "@blockyard/kernel";
import { Cell } from "../cell.ts";
import type { Session } from "../session.tsx";

const POLL_MS = 4_000;
const SOON_MS = 400;
const LISTED = 500;

export interface ListedConversation {
  readonly id: string;
  readonly title: string;
  readonly provider: string | undefined;
  readonly model: string | undefined;
  readonly isRunning: boolean;
  readonly costUsd: number | undefined;
  readonly updatedAt: number;
  readonly blocks: number;
}

export type Listing =
  | { readonly state: "loading" }
  | { readonly state: "here"; readonly conversations: readonly ListedConversation[] }
  | { readonly state: "failed"; readonly problem: Problem };

export class Conversations {
  readonly listing = new Cell<Listing>({ state: "loading" });
  readonly #session: Session;
  #soon: ReturnType<typeof setTimeout> | undefined;
  #isAsking = false;

  constructor(session: Session) {
    this.#session = session;
  }

  start(): void {
    const { replica, link } = this.#session;
    link.state.listen(() => {
      if (link.state.get().state === "open") void this.refresh();
    });
    replica.listen((change) => {
      if (!change.presence) this.refreshSoon();
    });
    setInterval(() => {
      if (document.visibilityState === "visible") void this.refresh();
    }, POLL_MS);
  }

  refreshSoon(): void {
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined;
      void this.refresh();
    }, SOON_MS);
  }

  async refresh(): Promise<void> {
    if (this.#isAsking || !this.#session.replica.isConnected) return;
    this.#isAsking = true;
    const answer = await this.#session.ask("conversation.list", { limit: LISTED });
    this.#isAsking = false;
    if (!isProblem(answer)) return this.#show(readListing(answer));
    if (this.listing.get().state !== "here") this.listing.set({ state: "failed", problem: answer });
  }

  #show(conversations: readonly ListedConversation[]): void {
    const now = this.listing.get();
    if (now.state === "here" && JSON.stringify(now.conversations) === JSON.stringify(conversations)) return;
    this.listing.set({ state: "here", conversations });
  }
}

/** An answer of conversation.list: rows in snake_case, or the kernel's own records. */
export function readListing(answer: Json): readonly ListedConversation[] {
  const rows = Array.isArray(answer)
    ? (answer as readonly Json[])
    : ((answer as { readonly conversations?: readonly Json[] } | null)?.conversations ?? []);
  return rows.flatMap(readRow).sort(runningFirst);
}

type Row = Partial<Conversation> & {
  readonly conversation?: string;
  readonly updated_at?: number | string;
  readonly cost_usd?: number | null;
  readonly running?: readonly string[] | boolean | number;
};

function readRow(json: Json): ListedConversation[] {
  if (typeof json !== "object" || json === null || Array.isArray(json)) return [];
  const row = json as unknown as Row;
  const id = row.id ?? row.conversation;
  if (typeof id !== "string") return [];
  const updated = row.updated_at ?? row.updatedAt ?? 0;
  const running: unknown = row.running;
  return [
    {
      id,
      title: row.title ?? "",
      provider: row.provider,
      model: row.model,
      isRunning: Array.isArray(running) ? running.length > 0 : Boolean(running),
      costUsd: row.cost_usd ?? row.costUsd ?? undefined,
      updatedAt: typeof updated === "string" ? Date.parse(updated) : updated,
      blocks: typeof row.blocks === "number" ? row.blocks : 0,
    },
  ];
}

function runningFirst(a: ListedConversation, b: ListedConversation): number {
  return Number(b.isRunning) - Number(a.isRunning) || b.updatedAt - a.updatedAt;
}
