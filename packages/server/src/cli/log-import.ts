/**
 * Importing session logs, many or one: which of them are new, which are here by another way, and what each brought. The
 * server remembers every log's stamp in its conversation, so an unchanged log is not even read.
 */

import { type ConversationView, everySession, isProblem, type Problem, problem } from "@blockyard/kernel";
import type { Imported } from "../import/body-import.ts";
import { type LogMark, markOf } from "../import/import-log.ts";
import { LIVE_MS } from "../import/limits.ts";
import { type LogContent, logBody, type OpenEnd, readLog } from "../import/log-body.ts";
import type { SessionLog } from "../import/session-logs.ts";
import { type BlockSource, known } from "./block-source.ts";
import { IMPORTED_PAGE_ROWS } from "./limits.ts";

export type Outcome =
  | { readonly type: "imported"; readonly imported: Imported; readonly isNew: boolean }
  | { readonly type: "unchanged" }
  /** A turn or a stream has brought this session into a conversation already. */
  | { readonly type: "here"; readonly conversation: string }
  /** Another command is importing it at this moment, and continues. */
  | { readonly type: "importing" }
  /** It has no messages yet: it would be a conversation without a block. */
  | { readonly type: "empty" }
  /** Its conversation was deleted. */
  | { readonly type: "deleted" }
  | { readonly type: "failed"; readonly problem: Problem };

/** The known sessions. */
export class KnownSessions {
  /** By provider and the log's name, with the target of its import. */
  readonly #marks = new Map<string, { readonly conversation: string; readonly mark: LogMark }>();
  /** Conversations that hold a session without having been imported from its log. */
  readonly #others = new Map<string, string>();
  /** The same by the session's name alone: an agent over ACP has a name of its own here. */
  readonly #holders = new Map<string, string[]>();

  static async read(client: BlockSource): Promise<KnownSessions> {
    const sessions = new KnownSessions();
    for (let before: number | undefined; ; ) {
      const input = { limit: IMPORTED_PAGE_ROWS, ...(before === undefined ? {} : { before }) };
      const page = known(await client.call("conversation.list", input));
      for (const view of page.conversations) sessions.#add(view);
      const last = page.conversations.at(-1)?.updated_at;
      if (!page.more || last === undefined) return sessions;
      // Several may have changed at the same moment: the boundary of a page must not lose any of them.
      before = page.conversations[0]?.updated_at === last ? last : last + 1;
    }
  }

  /** The conversation that a log was imported to. */
  idOf(log: SessionLog): string | undefined {
    return this.#marks.get(keyOf(log.provider.name, log.name))?.conversation;
  }

  markOf(log: SessionLog): LogMark | undefined {
    return this.#marks.get(keyOf(log.provider.name, log.name))?.mark;
  }

  remember(log: SessionLog, conversation: string, mark: LogMark): void {
    this.#marks.set(keyOf(log.provider.name, log.name), { conversation, mark });
  }

  otherOf(log: SessionLog): string | undefined {
    return this.markOf(log) ? undefined : this.conversationOf(log.provider.name, log.sessionId);
  }

  /** The conversation into which a stream or a turn has brought a session. */
  conversationOf(provider: string, session: string): string | undefined {
    return this.#others.get(`${provider} ${session}`);
  }

  /** All of them, whatever the agent is called, the last changed first. */
  holdersOf(session: string): readonly string[] {
    return this.#holders.get(session) ?? [];
  }

  #add(view: ConversationView): void {
    const { conversation, metadata } = view;
    const mark = markOf(metadata);
    if (mark) this.#marks.set(keyOf(mark.provider, mark.name), { conversation, mark });
    // An imported one may have been continued here, in sessions of its own.
    for (const [provider, id] of everySession(view))
      if (!(mark?.provider === provider && mark.name.includes(id))) this.#hold(provider, id, conversation);
  }

  #hold(provider: string, id: string, conversation: string): void {
    this.#others.set(`${provider} ${id}`, conversation);
    const holders = this.#holders.get(id) ?? [];
    if (!holders.includes(conversation)) this.#holders.set(id, [...holders, conversation]);
  }
}

function keyOf(provider: string, name: string): string {
  return `${provider} ${name}`;
}

interface LogImportOptions {
  readonly now: number;
  /** Open blocks of a live log are written and left open: they are continued soon. */
  readonly isFollowed: boolean;
  /** The user has named it: it is imported although its conversation was deleted. */
  readonly again?: boolean;
}

export async function importLog(
  client: BlockSource,
  sessions: KnownSessions,
  log: SessionLog,
  { now, isFollowed, again = false }: LogImportOptions,
): Promise<Outcome> {
  const other = sessions.otherOf(log);
  if (other !== undefined) return { type: "here", conversation: other };
  const mark = sessions.markOf(log);
  const isLive = now - log.changedAt < LIVE_MS;
  const openEnd: OpenEnd = !isLive ? "close" : isFollowed ? "leave" : "hold";
  const stamp = openEnd === "close" ? log.stamp : `${log.stamp} ${openEnd}`;
  if (mark?.stamp === stamp) return { type: "unchanged" };
  const rawFrom = mark && mark.raw_bytes <= log.bytes ? mark.raw_bytes : 0;
  const content = contentOf(log, openEnd);
  if (isProblem(content)) return { type: "failed", problem: content };
  if (!mark && !content.events.some(({ type }) => type === "block-start")) return { type: "empty" };
  const answer = await client.import(logBody({ ...log, stamp }, content, openEnd, rawFrom, again));
  if (isProblem(answer) && answer.details?.["importing"] === true) return { type: "importing" };
  if (isProblem(answer) && answer.details?.["deleted"] === true) return { type: "deleted" };
  if (isProblem(answer)) return { type: "failed", problem: answer };
  const { provider, name, path } = log;
  sessions.remember(log, answer.conversation, {
    ...{ provider: provider.name, name, path, stamp },
    ...{ open: openEnd === "leave", raw_bytes: answer.raw_bytes ?? 0 },
  });
  return { type: "imported", imported: answer, isNew: mark === undefined };
}

/** A log of another account, or one moved away meanwhile, ends its own import and no other. */
function contentOf(log: SessionLog, openEnd: OpenEnd): LogContent | Problem {
  try {
    return readLog(log, openEnd);
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (syscall === undefined) throw error;
    const fix = code === "EACCES" ? "; does another account own it?" : "";
    return problem("unavailable", `cannot read it or one of its files (${code})${fix}`);
  }
}
