/**
 * A viewer of one conversation that goes to the other node whenever its own is gone. Its frames are checked one by one
 * (no gap, no duplicate), and their delay is measured.
 */
import { Replica, type ServerFrame, type View } from "@blockyard/kernel";
import { nodeEnv } from "@blockyard/server";
import { WebSocket } from "ws";
import { Ledger } from "../access/resume.ts";
import type { Node, TestHarness } from "./harness.ts";

const AGAIN_MS = 100;

export class Viewer {
  readonly ledger = new Ledger();
  readonly replica = new Replica({ env: nodeEnv });
  readonly view: View;
  /** When each op was told, and how long after it was made; only of what was made while it was connected. */
  readonly lags: { readonly at: number; readonly ms: number }[] = [];
  readonly #harness: TestHarness;
  #node: number;
  #socket: WebSocket | undefined;
  #isOver = false;
  #openedAt = 0;
  connections = 0;

  constructor(harness: TestHarness, node: number, conversation: string) {
    this.#harness = harness;
    this.#node = node;
    this.view = this.replica.subscribe(conversation);
    this.#connect();
  }

  get seq(): number {
    return this.view.since?.seq ?? 0;
  }

  /** How late it was between two moments: this share of what it was told was not later. */
  late(from: number, to: number, share: number): number {
    const some = this.lags.filter(({ at }) => at >= from && at < to).map(({ ms }) => ms);
    some.sort((a, b) => a - b);
    return some[Math.ceil(share * some.length) - 1] ?? Number.POSITIVE_INFINITY;
  }

  close(): void {
    this.#isOver = true;
    this.#socket?.terminate();
  }

  #connect(): void {
    if (this.#isOver) return;
    const { url } = this.#harness.nodes[this.#node % 2] as Node;
    const headers = { authorization: `Bearer ${this.#harness.token}` };
    const socket = new WebSocket(`${url.replace("http", "ws")}/v1/feed`, {
      headers,
      perMessageDeflate: false,
    });
    this.#socket = socket;
    socket.on("open", () => {
      this.connections++;
      this.#openedAt = Date.now();
      this.replica.connected((frame) => socket.send(JSON.stringify(frame)));
    });
    socket.on("message", (data: Buffer) => {
      const frame = JSON.parse(data.toString("utf8")) as ServerFrame;
      this.#measure(frame);
      this.ledger.take(frame);
      this.replica.receive(frame);
    });
    socket.on("error", () => undefined);
    socket.on("close", () => {
      this.replica.disconnected();
      this.#node++;
      setTimeout(() => this.#connect(), AGAIN_MS);
    });
  }

  #measure(frame: ServerFrame): void {
    if (frame.type !== "changes") return;
    const at = Date.now();
    for (const op of frame.ops) if (op.at >= this.#openedAt) this.lags.push({ at, ms: at - op.at });
  }
}
