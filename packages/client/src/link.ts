/**
 * The link: keeps one WebSocket to the server open for the replica. It reconnects with backoff, and detects a dead connection by
 * unanswered pings.
 *
 * It knows nothing about blocks and passes frames through unchanged. The replica catches up after a reconnect.
 */

import type { Replica, ServerFrame } from "@blockyard/kernel";
import { FIRST_WAIT_MS, LONGEST_WAIT_MS, PING_MS, PONG_MS, STEADY_MS } from "./limits.ts";

export type LinkState =
  | { readonly state: "connecting"; readonly tries: number }
  | { readonly state: "open" }
  /** Waits before it tries again. */
  | { readonly state: "waiting"; readonly tries: number; readonly until: number }
  /** The server refuses this program: retrying would not help. */
  | { readonly state: "refused"; readonly message: string }
  | { readonly state: "closed" };

export interface LinkOptions {
  readonly replica: Replica;
  /** Where the server is, as it prints it: http://127.0.0.1:4567 */
  readonly url: string;
  /** Without a token, a browser's session cookie is used, with the page's ticket. */
  readonly token?: string;
  /** Proves, besides the cookie, that the server's own page asks; undefined if there is none now. */
  readonly ticket?: () => Promise<string | undefined>;
  /** Called with every new state. */
  readonly onState: (state: LinkState) => void;
}

/** WebSocket outside of browsers. */
type Socket = new (url: string, options?: { headers: Record<string, string> }) => WebSocket;

export class Link {
  readonly #replica: Replica;
  readonly #url: string;
  readonly #headers: Record<string, string>;
  readonly #ticket: LinkOptions["ticket"];
  readonly #onState: (state: LinkState) => void;
  #state: LinkState = { state: "connecting", tries: 0 };
  #socket: WebSocket | undefined;
  #tries = 0;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #beats: ReturnType<typeof setInterval> | undefined;
  /** Runs from a ping until the next message. A late ping proves nothing: hidden tabs throttle timers to one a minute. */
  #patience: ReturnType<typeof setTimeout> | undefined;
  #openedAt = Number.POSITIVE_INFINITY;
  #pings = 0;

  constructor({ replica, url, token, ticket, onState }: LinkOptions) {
    this.#replica = replica;
    this.#url = url.replace(/\/$/, "");
    this.#headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    this.#ticket = ticket;
    this.#onState = onState;
  }

  get state(): LinkState {
    return this.#state;
  }

  start(): void {
    this.#beats = setInterval(() => this.#beat(), PING_MS);
    this.#open();
  }

  /** Retries at once instead of waiting; pings an open connection at once. */
  hurry(): void {
    if (this.#state.state === "waiting") this.#open();
    else this.#beat();
  }

  close(): void {
    clearTimeout(this.#retry);
    clearInterval(this.#beats);
    this.#heardBack();
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.close();
    this.#replica.disconnected();
    this.#set({ state: "closed" });
  }

  #set(state: LinkState): void {
    this.#state = state;
    this.#onState(state);
  }

  #open(): void {
    clearTimeout(this.#retry);
    const connecting: LinkState = { state: "connecting", tries: this.#tries };
    this.#set(connecting);
    if (!this.#ticket) return this.#connect();
    void this.#ticket().then((ticket) => {
      if (this.#state === connecting) this.#connect(ticket);
    });
  }

  #connect(ticket?: string): void {
    const query = ticket === undefined ? "" : `?ticket=${encodeURIComponent(ticket)}`;
    const url = `${this.#url.replace(/^http/, "ws")}/v1/feed${query}`;
    const headers = this.#headers;
    const isBare = Object.keys(headers).length === 0;
    // Node's WebSocket takes headers, and the types of browsers have no such parameter.
    const socket = isBare ? new WebSocket(url) : new (WebSocket as unknown as Socket)(url, { headers });
    this.#socket = socket;
    socket.onopen = () => {
      this.#heardBack();
      this.#replica.connected((frame) => {
        if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(frame));
      });
    };
    socket.onmessage = (message) => this.#receive(socket, message.data);
    socket.onclose = () => this.#closed(socket);
  }

  #receive(socket: WebSocket, data: unknown): void {
    if (socket !== this.#socket || typeof data !== "string") return;
    this.#heardBack();
    const frame = JSON.parse(data) as ServerFrame;
    this.#replica.receive(frame);
    if (frame.type !== "hello") return;
    this.#openedAt = performance.now();
    this.#set({ state: "open" });
  }

  #closed(socket: WebSocket): void {
    if (socket !== this.#socket) return;
    this.#socket = undefined;
    this.#heardBack();
    this.#replica.disconnected();
    const bye = this.#replica.bye;
    if (bye && !bye.resumable) return this.#refuse(bye.message);
    this.#tries = performance.now() - this.#openedAt > STEADY_MS ? 1 : this.#tries + 1;
    this.#openedAt = Number.POSITIVE_INFINITY;
    if (this.#tries <= 2) void this.#askWhy();
    const longest = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** this.#tries);
    const waitMs = longest * (0.5 + Math.random() / 2);
    this.#set({ state: "waiting", tries: this.#tries, until: performance.now() + waitMs });
    this.#retry = setTimeout(() => this.#open(), waitMs);
  }

  #refuse(message: string): void {
    clearTimeout(this.#retry);
    clearInterval(this.#beats);
    this.#set({ state: "refused", message });
  }

  /** A refused WebSocket does not say why; a plain request does. */
  async #askWhy(): Promise<void> {
    const ticket = await this.#ticket?.();
    const shown = ticket === undefined ? {} : { "x-blockyard-ticket": ticket };
    const options = { headers: { ...this.#headers, ...shown }, credentials: "same-origin" } as const;
    const answer = await fetch(`${this.#url}/v1/conversations`, options).catch(() => undefined);
    if ((answer?.status !== 401 && answer?.status !== 403) || this.#state.state !== "waiting") return;
    const isToken = "authorization" in this.#headers;
    this.#refuse(
      isToken
        ? "The server does not accept this token. `blockyard token create` makes a new one."
        : "This browser is not signed in. Open a new link: blockyard link prints one.",
    );
  }

  #beat(): void {
    const socket = this.#socket;
    if (socket?.readyState !== WebSocket.OPEN) return;
    this.#patience ??= setTimeout(() => {
      socket.close();
      this.#closed(socket);
    }, PONG_MS);
    socket.send(JSON.stringify({ type: "ping", n: ++this.#pings }));
  }

  #heardBack(): void {
    clearTimeout(this.#patience);
    this.#patience = undefined;
  }
}
