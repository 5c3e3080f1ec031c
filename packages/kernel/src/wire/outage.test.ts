// Every kind of outage of the store, in every state of a viewer: it recovers without help.

import { describe, expect, it } from "vitest";
import type { Block } from "../model/block.ts";
import { isProblem } from "../model/problem.ts";
import { Nodes } from "../nodes/nodes.ts";
import type { Store } from "../ports/store.ts";
import { StoreError } from "../ports/store-rules.ts";
import { MemoryNodes } from "../testing/memory-nodes.ts";
import { MemoryStore } from "../testing/memory-store.ts";
import { VirtualEnv } from "../testing/virtual-env.ts";
import { Kernel } from "../write/kernel.ts";
import { Replica } from "./client/replica.ts";
import type { View } from "./client/view.ts";
import type { ServerFrame } from "./frame.ts";
import { Connection } from "./server/connection.ts";

const OUTAGE_MS = 30_000;
/** The longest delay plus the next poll, with a margin. */
const BACK_MS = 15_000;
const ANSWER_MS = 6_000;

type Call = () => Promise<unknown>;

/** The outcome of a store call during the outage. */
type Outage = (env: VirtualEnv, name: string, call: Call) => Promise<unknown>;
const OUTAGES: Readonly<Record<string, () => Outage>> = {
  "refuses everything": () => refuse,
  "is silent until the driver gives up": () => async (env) => {
    await new Promise<void>((done) => env.after(ANSWER_MS, done));
    throw new StoreError("io", "query read timeout");
  },
  "commits, and is gone before it answers": () => {
    let isGone = false;
    return async (env, name, call) => {
      if (isGone) return refuse(env, name, call);
      const answer = await call();
      isGone = name === "commit";
      return isGone ? refuse(env, name, call) : answer;
    };
  },
  "is gone before it commits": () => {
    let isGone = false;
    return async (env, name, call) => {
      isGone ||= name === "commit";
      return isGone ? refuse(env, name, call) : call();
    };
  },
  "can be read and not written": () => async (_env, name, call) => {
    if (name === "commit") throw new StoreError("full", "no space left on device");
    return call();
  },
  "has a bug on every way": () => async () => {
    throw new TypeError("rows[0] is undefined");
  },
};

async function refuse(..._call: Parameters<Outage>): Promise<never> {
  throw new StoreError("io", "connection refused");
}

const NEVER_READ = ["refuses", "silent", "bug"];

class World {
  readonly env = new VirtualEnv(11);
  readonly inner = new MemoryStore("epoch-1");
  outage: Outage | undefined;
  /** The kernel that viewers are connected to loses the store; the other one never does, and writes. */
  readonly kernel: Kernel;
  readonly other: Kernel;
  conversation = "";
  readonly faults: unknown[] = [];

  constructor() {
    this.inner.nodes = new MemoryNodes(() => this.env.monotonic());
    this.kernel = new Kernel(this.env, this.#away());
    this.other = new Kernel(this.env, this.inner);
  }

  #away(): Store {
    return new Proxy(this.inner, {
      get: (inner, name: keyof MemoryStore) => {
        const value: unknown = inner[name];
        if (typeof value !== "function") return value;
        return (...given: unknown[]) => {
          const call = async () => (value as (...all: unknown[]) => unknown).apply(inner, given);
          return this.outage ? this.outage(this.env, name, call) : call();
        };
      },
    }) as Store;
  }

  static async open(blocks: number): Promise<World> {
    const world = new World();
    for (const kernel of [world.other, world.kernel]) {
      const broadcast = {
        send: () => undefined,
        listen: () => () => undefined,
        close: async () => undefined,
      };
      await new Nodes({ kernel, broadcast, agent: "kernel" }).start();
    }
    world.conversation = (await world.other.createConversation("claude", "outage")) as string;
    for (let i = 0; i < blocks; i++) await world.write(`block ${i}\n`);
    return world;
  }

  async write(text: string): Promise<Block> {
    const block = await this.other.write(this.conversation, {
      agent: "claude",
      plan: (draft) => draft.create({ kind: "text", role: "model", text, status: "done" }),
    });
    if (isProblem(block)) throw new Error(block.message);
    return block;
  }
}

/** A program's client: its pipe reconnects by itself. */
class Client {
  readonly replica: Replica;
  readonly #world: World;
  #connection: Connection | undefined;
  byes: string[] = [];
  isBroken = false;

  constructor(world: World, windowBlocks?: number) {
    this.#world = world;
    this.replica = new Replica({ env: world.env, ...(windowBlocks === undefined ? {} : { windowBlocks }) });
    this.#connect();
  }

  #connect(): void {
    const { kernel } = this.#world;
    const connection: Connection = new Connection({
      kernel,
      agent: "amy",
      role: "owner",
      call: async (_tool, input, key) =>
        kernel.write(this.#world.conversation, {
          agent: "amy",
          ...(key === undefined ? {} : { key }),
          plan: (draft) => {
            const made = draft.create({ kind: "text", role: "user", text: String(input), status: "done" });
            return isProblem(made) ? made : made.id;
          },
        }),
      onFault: (error) => this.#world.faults.push(error),
      pipe: {
        send: (frame) => {
          if (frame.type === "bye") this.byes.push(frame.message);
          if (frame.type === "changes" && this.isBroken) {
            this.isBroken = false;
            throw new Error("a bug in sending");
          }
          if (this.#connection === connection)
            this.replica.receive(JSON.parse(JSON.stringify(frame)) as ServerFrame);
        },
        buffered: () => 0,
        close: () => this.cut(),
      },
    });
    this.#connection = connection;
    this.replica.connected((frame) => connection.receive(JSON.parse(JSON.stringify(frame))));
  }

  cut(): void {
    this.#connection?.close();
    this.#connection = undefined;
    this.replica.disconnected();
    this.#world.env.after(300, () => this.#connect());
  }
}

/** Begins in a state before the outage or inside it; returns what must be true at the end. */
interface State {
  readonly windowBlocks?: number;
  before?(client: Client, view: View, world: World): Promise<void>;
  during?(client: Client, view: View, world: World): void;
  after?(client: Client, view: View, world: World): Promise<void>;
}

function states(): Readonly<Record<string, State>> {
  let paged = false;
  let state: number | undefined;
  let refused: string | undefined;
  let answers: unknown[] = [];
  return {
    idle: {},
    reconnecting: { during: (client) => client.cut() },
    "cut twice": {
      during: (client, _view, world) => {
        client.cut();
        world.env.after(5_000, () => client.cut());
      },
    },
    paging: {
      windowBlocks: 2,
      during: (client, view) => {
        void client.replica.page(view, 5).then(() => {
          paged = true;
        });
      },
      after: async (_client, view) => {
        expect(paged, "the page came").toBe(true);
        expect(view.order.length).toBeGreaterThan(6);
      },
    },
    "paging, and cut": {
      windowBlocks: 2,
      during: (client, view) => {
        paged = false;
        void client.replica.page(view, 5).then(() => {
          paged = true;
        });
        client.cut();
      },
      after: async () => expect(paged, "the page came, or was said not to").toBe(true),
    },
    "waiting for a block": {
      during: (client, view) => {
        const [id] = view.order;
        if (id !== undefined) {
          view.texts.delete(id);
          client.replica.want(view, [id]);
        }
      },
      after: async (_client, view) =>
        expect(view.texts.get(view.order[0] ?? "")?.toString()).toBe("block 0\n"),
    },
    "waiting for a block, and cut": {
      during: (client, view) => {
        const [id] = view.order;
        if (id !== undefined) {
          view.texts.delete(id);
          client.replica.want(view, [id]);
        }
        client.cut();
      },
      after: async (_client, view) =>
        expect(view.texts.get(view.order[0] ?? "")?.toString()).toBe("block 0\n"),
    },
    "opening an editor": {
      during: (client, view) => {
        state = undefined;
        refused = undefined;
        client.replica.sync(view.order[0] ?? "", {
          update: (_update, version) => {
            state = version;
          },
          refused: ({ message }) => {
            refused = message;
          },
        });
      },
      after: async () => {
        expect(refused).toBeUndefined();
        expect(state).toBeGreaterThan(0);
      },
    },
    writing: {
      during: (client) => {
        answers = [];
        void client.replica.call("say", "hello", { write: true }).then((answer) => answers.push(answer));
      },
      after: async (_client, view, world) => {
        expect(answers).toHaveLength(1);
        const [answer] = answers;
        const there = [...view.texts.values()].filter((text) => text.toString() === "hello").length;
        // Written and reported so, or not written and reported so: never a mix.
        expect(isProblem(answer) ? answer.problem : "written").toBe(there === 1 ? "written" : "storage");
        expect(
          await world.inner.blocks({ conversation: world.conversation, order: "first", limit: 99 }),
        ).toHaveLength(view.order.length);
      },
    },
  };
}

async function isLive(world: World, client: Client, view: View): Promise<void> {
  const block = await world.write("after it all\n");
  await world.env.advance(BACK_MS);
  expect(client.byes).toEqual([]);
  expect(view.problem).toBeUndefined();
  expect(view.waitsFor).toBeUndefined();
  expect(view.isOpen).toBe(true);
  expect(view.texts.get(block.id)?.toString()).toBe("after it all\n");
  expect(view.record).toEqual(await world.inner.conversation(world.conversation));
  for (const id of view.order) expect(view.blocks.get(id)).toEqual(await world.inner.block(id));
}

describe.each(Object.entries(OUTAGES))("a store that %s", (kind, outage) => {
  it.each(Object.entries(states()))("[W22] [W23] a viewer that is %s ends live", async (_title, state) => {
    const world = await World.open(9);
    const client = new Client(world, state.windowBlocks);
    const view = client.replica.subscribe(world.conversation);
    await world.env.advance(2_000);
    expect(view.isOpen).toBe(true);
    world.outage = outage();
    state.during?.(client, view, world);
    await world.env.advance(1);
    await world.write("meanwhile\n");
    await world.env.advance(OUTAGE_MS);
    world.outage = undefined;
    await world.env.advance(BACK_MS);
    await isLive(world, client, view);
    await state.after?.(client, view, world);
    if (!kind.includes("bug")) expect(world.faults).toEqual([]);
  });

  it("[W22] a page that is loaded during the outage says what it waits for, and recovers", async () => {
    const world = await World.open(9);
    world.outage = outage();
    const client = new Client(world);
    const view = client.replica.subscribe(world.conversation);
    await world.env.advance(OUTAGE_MS);
    if (NEVER_READ.some((words) => kind.includes(words))) {
      expect(view.isOpen).toBe(false);
      expect(view.problem).toBeUndefined();
      expect(view.waitsFor?.message).toBeTruthy();
    }
    world.outage = undefined;
    await world.env.advance(BACK_MS);
    await isLive(world, client, view);
  });
});

it("[W23] a bug in delivering ends that connection, which reconnects, and no other", async () => {
  const world = await World.open(1);
  const clients = [new Client(world), new Client(world)];
  const views = clients.map(({ replica }) => replica.subscribe(world.conversation));
  await world.env.advance(2_000);
  const told: unknown[] = [];
  world.kernel.onFault = (error) => told.push(error);
  const stop = world.kernel.listen(() => {
    throw new Error("a bug of somebody else who listens");
  });
  world.kernel.listen(() => stop());
  (clients[0] as Client).isBroken = true;
  const block = await world.write("seen\n");
  await world.env.advance(BACK_MS);
  expect(clients.map(({ byes }) => byes.length)).toEqual([1, 0]);
  expect([world.faults.length, told.length]).toEqual([1, 1]);
  for (const view of views) expect(view.texts.get(block.id)?.toString()).toBe("seen\n");
});

it("[W22] a permanent failure is reported, and not retried", async () => {
  const world = await World.open(1);
  const client = new Client(world);
  const view = client.replica.subscribe("nowhere");
  await world.env.advance(BACK_MS);
  expect(view.problem).toMatchObject({ problem: "not_found" });
  expect(world.env.untilNext).toBeLessThanOrEqual(5_000); // the nodes' own
  expect(view.waitsFor).toBeUndefined();
});
