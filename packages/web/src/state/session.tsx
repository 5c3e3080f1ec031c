/**
 * The session: the replica, its socket, and its subscribers. Incoming changes are batched and delivered once per
 * animation frame, and only to components that show a changed part: an unchanged block does not render.
 */

import { ownEnv, type ToolAnswer, type ToolInput, type ToolName } from "@blockyard/client";
import {
  type Block,
  type BlockId,
  type CallerRole,
  type ClosedResult,
  type Conversation,
  type ConversationId,
  type Cursor,
  isProblem,
  latency,
  may,
  type Problem,
  problem,
  Replica,
  type Text,
  type Turn,
  type View,
  type ViewChange,
} from "@blockyard/kernel";
import { createContext, useContext, useEffect, useMemo, useSyncExternalStore } from "react";
import { Cell, useCell } from "./cell.ts";
import { PageLink } from "./connect.ts";
import { FRAME_CHARS, HIDDEN_MS, TEXT_ANSWER_MS } from "./limits.ts";
import { proofHeader, request } from "./proof.ts";

/** Streaming text is drawn every second frame of a 60 Hz screen: every frame would double the work without a visible difference. */
const DRAW_MS = latency.drawMs;

export class Session {
  readonly replica: Replica;
  readonly link: PageLink;
  /** Why something on the page cannot be updated now; this is retried automatically. */
  readonly waitsFor = new Cell<Problem | undefined>(undefined);
  readonly #listeners = new Map<string, Set<() => void>>();
  readonly #dirty = new Set<string>();
  readonly #wanted = new Map<View, Set<BlockId>>();
  readonly #kept = new Map<View, number>();
  #isScheduled = false;
  #drawnAt = 0;

  constructor(url: string) {
    this.replica = new Replica({ env: ownEnv, isBrief: true });
    this.link = new PageLink(this.replica, url);
    this.replica.listen((change) => this.#onChange(change));
  }

  /** `topic` is a block's id, or one of the topics below. */
  listen(topic: string, listener: () => void): () => void {
    const listeners = this.#listeners.get(topic) ?? new Set();
    this.#listeners.set(topic, listeners);
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(topic) === listeners) this.#listeners.delete(topic);
    };
  }

  /** Keeps a view until the last of its users has released it. Waits for a moment, in case another component takes over. */
  keep(view: View): () => void {
    this.#kept.set(view, (this.#kept.get(view) ?? 0) + 1);
    return () => {
      this.#kept.set(view, (this.#kept.get(view) ?? 1) - 1);
      setTimeout(() => {
        if (this.#kept.get(view) !== 0) return;
        this.#kept.delete(view);
        this.replica.unsubscribe(view);
      });
    };
  }

  /** Requests a text that the window left out; requests within a frame are sent together. */
  want(view: View, block: BlockId): void {
    const wanted = this.#wanted.get(view) ?? new Set();
    this.#wanted.set(view, wanted);
    wanted.add(block);
    this.#schedule();
  }

  /** A block's whole text, requested if the window left it out; undefined if it does not arrive. */
  async text(view: View, block: BlockId): Promise<string | undefined> {
    const isHere = () => view.texts.has(block);
    if (!isHere() && view.blocks.get(block)?.chars === 0) return "";
    if (!isHere())
      await new Promise<void>((resolve) => {
        const end = () => {
          clearTimeout(timer);
          stop();
          resolve();
        };
        const timer = setTimeout(end, TEXT_ANSWER_MS);
        const stop = this.listen(block, () => isHere() && end());
        this.want(view, block);
      });
    return view.texts.get(block)?.toString();
  }

  /** A tool call that only reads. */
  ask<Name extends ToolName>(tool: Name, input: ToolInput<Name>): Promise<ToolAnswer<Name> | Problem> {
    return this.#call(tool, input, false);
  }

  /** A tool call that writes: resent after a reconnect, applied once. */
  write<Name extends ToolName>(tool: Name, input: ToolInput<Name>): Promise<ToolAnswer<Name> | Problem> {
    if (this.isViewer) return Promise.resolve(problem("forbidden", "this link is read only"));
    if (isTooLong(input)) return this.post(tool, input);
    return this.#call(tool, input, true);
  }

  /** The server may demand a separate signed request for calls that run code or grant rights. */
  async #call<Name extends ToolName>(
    tool: Name,
    input: ToolInput<Name>,
    write: boolean,
  ): Promise<ToolAnswer<Name> | Problem> {
    const answer = await this.replica.call(tool, input, { write });
    if (isProblem(answer) && answer.details?.["needs"] === "proof") return this.post(tool, input);
    return answer as ToolAnswer<Name> | Problem;
  }

  /** A tool call that must not be repeated: if the connection is lost, the answer is a problem. */
  once<Name extends ToolName>(tool: Name, input: ToolInput<Name>): Promise<ToolAnswer<Name> | Problem> {
    return this.ask(tool, input);
  }

  /** A tool call as a separate signed request: for calls that are too long for a frame or need a signature. */
  async post<Name extends ToolName>(tool: Name, input: ToolInput<Name>): Promise<ToolAnswer<Name> | Problem> {
    const body = JSON.stringify(input);
    const proof = await proofHeader(tool, body);
    const answer = await request(`/v1/tools/${tool}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...proof },
      body,
    }).catch(() => undefined);
    const said: unknown = await answer?.json().catch(() => undefined);
    if (said === undefined) return problem("unavailable", "the server did not answer");
    return said as ToolAnswer<Name> | Problem;
  }

  /** Whether this user is the owner, who alone may run things. */
  get isOwner(): boolean {
    return this.replica.self?.role === "owner";
  }

  /** Whether this reader may change nothing. */
  get isViewer(): boolean {
    const role = this.replica.self?.role;
    return role !== undefined && !may(role as CallerRole, "write");
  }

  #onChange(change: ViewChange): void {
    const { conversation } = change;
    this.waitsFor.set([...this.replica.views.values()].find((view) => view.waitsFor)?.waitsFor);
    if (change.blocks) for (const id of change.blocks) this.#dirty.add(id);
    else this.#dirty.add(`${EVERYTHING}${conversation}`);
    if (change.order) this.#dirty.add(orderOf(conversation));
    this.#dirty.add(change.presence ? presenceOf(conversation) : recordOf(conversation));
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    if (document.visibilityState !== "visible") setTimeout(() => this.#flush(), HIDDEN_MS);
    else {
      const early = this.#drawnAt + DRAW_MS - performance.now();
      if (early > 0) setTimeout(() => requestAnimationFrame(() => this.#flush()), early);
      else requestAnimationFrame(() => this.#flush());
    }
  }

  #flush(): void {
    this.#isScheduled = false;
    this.#drawnAt = performance.now();
    for (const [view, blocks] of this.#wanted) this.replica.want(view, [...blocks].slice(0, 200));
    this.#wanted.clear();
    const topics = [...this.#dirty];
    this.#dirty.clear();
    for (const topic of topics) {
      if (topic.startsWith(EVERYTHING)) this.#notifyAll(topic.slice(EVERYTHING.length));
      else this.#notify(topic);
    }
  }

  #notifyAll(conversation: ConversationId): void {
    for (const topic of [...this.#listeners.keys()]) {
      if (topic.startsWith(`${conversation}/`) || topic.endsWith(`:${conversation}`)) this.#notify(topic);
    }
  }

  #notify(topic: string): void {
    const listeners = this.#listeners.get(topic);
    if (listeners) for (const listener of [...listeners]) listener();
  }
}

/** Whether a call may not fit into a frame: the server would cut the connection, and the call would be resent forever. */
function isTooLong(input: unknown): boolean {
  return JSON.stringify(input).length > FRAME_CHARS;
}

const EVERYTHING = "all:";
const orderOf = (conversation: ConversationId) => `order:${conversation}`;
const recordOf = (conversation: ConversationId) => `record:${conversation}`;
const presenceOf = (conversation: ConversationId) => `presence:${conversation}`;

const SessionContext = createContext<Session | undefined>(undefined);
const ViewContext = createContext<View | undefined>(undefined);
export const SessionProvider = SessionContext.Provider;
export const ViewProvider = ViewContext.Provider;

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error("no session");
  return session;
}

/** Whether this reader may change nothing; known when the connection is open. */
export function useIsViewer(): boolean {
  const session = useSession();
  useCell(session.link.state);
  return session.isViewer;
}

/** The view that the blocks below belong to. */
export function useView(): View {
  const view = useContext(ViewContext);
  if (!view) throw new Error("no view");
  return view;
}

function useTopic<T>(topic: string, read: () => T): T {
  const session = useSession();
  const listen = useMemo(() => (told: () => void) => session.listen(topic, told), [session, topic]);
  return useSyncExternalStore(listen, read);
}

export function useBlock(id: BlockId): Block | undefined {
  const view = useView();
  return useTopic(id, () => view.blocks.get(id));
}

/** A block's text, requested if it is missing; undefined until it arrives, or while `isWanted` is false. */
export function useText(id: BlockId, isWanted = true): Text | undefined {
  const view = useView();
  const session = useSession();
  const text = useTopic(id, () => (isWanted ? view.texts.get(id) : undefined));
  const isMissing = isWanted && text === undefined;
  useEffect(() => {
    if (isMissing) session.want(view, id);
  }, [session, view, id, isMissing]);
  return text;
}

/** What a result without text shows while it is closed, if the server sent that. */
export function useClosed(id: BlockId): ClosedResult | undefined {
  const view = useView();
  return useTopic(id, () => view.closed.get(id));
}

/** A block's text if it is loaded; it is not requested. */
export function useTextHere(id: BlockId): Text | undefined {
  const view = useView();
  return useTopic(id, () => view.texts.get(id));
}

export function useOrder(view: View): readonly BlockId[] {
  return useTopic(orderOf(view.conversation), () => view.order);
}

export function useRecord(view: View): Conversation | undefined {
  return useTopic(recordOf(view.conversation), () => view.record);
}

/** A part of the view's state besides texts; components render only when that part changes. */
export function useViewPart<P extends string | number | boolean | null | undefined>(
  view: View,
  part: (view: View) => P,
): P {
  return useTopic(recordOf(view.conversation), () => part(view));
}

export function useTurn(view: View, turn: string): Turn | undefined {
  return useTopic(recordOf(view.conversation), () => view.turns.get(turn));
}

export function useCursors(view: View): readonly Cursor[] {
  return useTopic(presenceOf(view.conversation), () => view.cursors);
}

export function useViewState(view: View): { isOpen: boolean; problem: Problem | undefined; more: boolean } {
  const isOpen = useTopic(recordOf(view.conversation), () => view.isOpen);
  const refused = useTopic(recordOf(view.conversation), () => view.problem);
  const more = useTopic(orderOf(view.conversation), () => view.more);
  return { isOpen, problem: refused, more };
}
