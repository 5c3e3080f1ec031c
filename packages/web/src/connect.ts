/**
 * The socket: keeps one WebSocket to the server open and gives it to the replica. It reconnects by itself with backoff,
 * at once when the network or the tab comes back, and finds a dead connection by pings that stay unanswered.
 *
 * It knows nothing of blocks: frames go through it as they are. What was lost while it was away is the replica's matter.
 */
import type { Replica, ServerFrame } from "@blockyard/kernel";
import { Cell } from "./cell.ts";

export type LinkState =
  | { readonly state: "connecting"; readonly tries: number }
  | { readonly state: "open" }
  /** Waits before it tries again. */
  | { readonly state: "waiting"; readonly tries: number; readonly until: number }
  /** The server does not want this page: trying again would not help. */
  | { readonly state: "refused"; readonly message: string };

const PING_MS = 15_000;
const SILENCE_MS = 35_000;
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 10_000;

export class Link {
  readonly state = new Cell<LinkState>({ state: "connecting", tries: 0 });
  readonly #replica: Replica;
  readonly #url: string;
  #socket: WebSocket | undefined;
  #tries = 0;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #heardAt = 0;
  #pings = 0;

  constructor(replica: Replica, url: string) {
    this.#replica = replica;
    this.#url = url;
  }

  start(): void {
    addEventListener("online", () => this.#now());
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "visible") this.#now();
    });
    setInterval(() => this.#beat(), PING_MS);
    this.#open();
  }

  #open(): void {
    clearTimeout(this.#retry);
    this.state.set({ state: "connecting", tries: this.#tries });
    const socket = new WebSocket(this.#url);
    this.#socket = socket;
    socket.onopen = () => {
      this.#heardAt = performance.now();
      this.#replica.connected((frame) => {
        if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(frame));
      });
    };
    socket.onmessage = (message) => this.#receive(socket, message.data);
    socket.onclose = () => this.#closed(socket);
  }

  #receive(socket: WebSocket, data: unknown): void {
    if (socket !== this.#socket || typeof data !== "string") return;
    this.#heardAt = performance.now();
    const frame = JSON.parse(data) as ServerFrame;
    this.#replica.receive(frame);
    if (frame.type !== "hello") return;
    this.#tries = 0;
    this.state.set({ state: "open" });
  }

  #closed(socket: WebSocket): void {
    if (socket !== this.#socket) return;
    this.#socket = undefined;
    this.#replica.disconnected();
    const bye = this.#replica.bye;
    if (bye && !bye.resumable) return this.state.set({ state: "refused", message: bye.message });
    this.#tries++;
    if (this.#tries === 2) void this.#askWhy();
    const longest = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** this.#tries);
    const waitMs = longest * (0.5 + Math.random() / 2);
    this.state.set({ state: "waiting", tries: this.#tries, until: performance.now() + waitMs });
    this.#retry = setTimeout(() => this.#open(), waitMs);
  }

  /** A refused WebSocket does not say why; a plain request does. */
  async #askWhy(): Promise<void> {
    const answer = await fetch("/v1/conversations", { credentials: "same-origin" }).catch(() => undefined);
    if (answer?.status !== 401 && answer?.status !== 403) return;
    clearTimeout(this.#retry);
    this.state.set({
      state: "refused",
      message:
        "This browser is not signed in. Open the private link that the server printed when it started.",
    });
  }

  /** Tries at once instead of waiting; asks at once whether an open connection still lives. */
  #now(): void {
    if (this.state.get().state === "waiting") this.#open();
    else this.#beat();
  }

  #beat(): void {
    const socket = this.#socket;
    if (socket?.readyState !== WebSocket.OPEN) return;
    if (performance.now() - this.#heardAt > SILENCE_MS) {
      socket.close();
      this.#closed(socket);
      return;
    }
    socket.send(JSON.stringify({ type: "ping", n: ++this.#pings }));
  }
}
