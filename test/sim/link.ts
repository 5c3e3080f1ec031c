/**
 * A connection between a client's replica and a kernel: in order, with delay, as JSON. It can be cut at any frame, go
 * silent without anybody noticing (half-open), or let the client read slowly. What was under way at a cut is lost.
 */
import {
  type AgentId,
  type ClientFrame,
  Connection,
  Cursors,
  callTool,
  inlineMatcher,
  type Json,
  type Problem,
  type Replica,
  type ServerFrame,
  type VirtualEnv,
} from "@blockyard/kernel";
import type { Random } from "./random.ts";
import type { Node } from "./world.ts";

export interface LinkOptions {
  readonly env: VirtualEnv;
  readonly random: Random;
  readonly delayMs: number;
}

export class Link {
  readonly #options: LinkOptions;
  readonly #node: Pick<Node, "kernel" | "isAlive">;
  readonly #replica: Replica;
  readonly #connection: Connection;
  readonly #cursors: Cursors;
  #isOpen = true;
  #isSilent = false;
  #waiting = 0;
  /** When the last frame of each direction arrives: nothing overtakes it. */
  readonly #last = { up: 0, down: 0 };

  constructor(
    node: Pick<Node, "kernel" | "isAlive">,
    replica: Replica,
    agent: AgentId,
    options: LinkOptions,
  ) {
    this.#node = node;
    this.#replica = replica;
    this.#options = options;
    const { kernel } = node;
    this.#cursors = new Cursors(kernel);
    const caller = { agent, role: "owner" } as const;
    this.#connection = new Connection({
      kernel,
      agent,
      role: "owner",
      pipe: {
        send: (frame) => this.#down(frame),
        buffered: () => this.#waiting,
        close: () => this.#after("down", () => this.cut()),
      },
      call: (tool, input, key) =>
        callTool(
          {
            kernel,
            caller,
            ...(key === undefined ? {} : { key }),
            matcher: inlineMatcher(() => 0),
            cursors: this.#cursors,
          },
          tool,
          input,
        ) as Promise<Json | Problem>,
    });
    replica.connected((frame) => this.#up(frame));
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Both ends learn that it is over; what is under way is lost. */
  cut(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#cursors.close();
    this.#connection.close();
    this.#replica.disconnected();
  }

  /** From now on nothing arrives, and nobody knows. */
  goSilent(): void {
    this.#isSilent = true;
  }

  #up(frame: ClientFrame): void {
    const bytes = JSON.stringify(frame);
    this.#after("up", () => this.#connection.receive(JSON.parse(bytes)));
  }

  #down(frame: ServerFrame): void {
    const bytes = JSON.stringify(frame);
    this.#waiting += bytes.length;
    this.#after("down", () => {
      this.#waiting -= bytes.length;
      this.#replica.receive(JSON.parse(bytes));
    });
  }

  #after(way: "up" | "down", run: () => void): void {
    const { env, random, delayMs } = this.#options;
    const now = env.monotonic();
    const at = Math.max(this.#last[way], now + random.below(delayMs * 4) / 4);
    this.#last[way] = at;
    env.after(at - now, () => {
      if (this.#isOpen && !this.#isSilent && this.#node.isAlive) run();
    });
  }
}
