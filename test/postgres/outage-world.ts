/**
 * Servers on a PostgreSQL database that can be taken away, with the broker between them, and whoever looks at them: viewers in
 * every state over the client library, the page in Chromium, server-sent events, MCP; and writers whose answers are compared
 * with the store afterwards. Each server is a process of its own, as in production.
 */
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type Client, connect } from "@blockyard/client";
import type { Problem, View } from "@blockyard/kernel";
import type { Browser, Page } from "playwright-core";
import { Auth } from "../../packages/server/src/access/auth.ts";
import { openPostgresStore } from "../../packages/server/src/stores/postgres/postgres.ts";
import { buildPage } from "../../scripts/build-page.mjs";
import { require } from "../checks.ts";
import { Broker, freePort } from "../nodes/broker.ts";
import { fill, Node } from "../nodes/harness.ts";
import { type Relay, startRelay } from "./relay.ts";
import type { TestServer } from "./server.ts";

const BLOCKS = 150;
const LAST = "after the outage";
const WRITE_EVERY_MS = 150;
/** A write that waited so long has met the outage, also where it was written in the end. */
const NOTICED_MS = 3_000;

interface Written {
  readonly text: string;
  readonly answer: Answer;
  /** How long the writer waited for it. */
  readonly ms: number;
}

type Answer = "written" | Pick<Problem, "problem" | "message">;

/** Somebody who looks; `sees` says whether what came last is there. */
interface Looker {
  readonly name: string;
  sees(): Promise<boolean> | boolean;
  /** What has gone wrong for good, where that is known. */
  why?(): string;
}

/** Somebody who asks for something while the database is away. */
type Disturbance = () => Promise<void> | void;

export class OutageWorld {
  readonly url: string;
  readonly database: Relay;
  readonly nodes: readonly Node[];
  /** Between the nodes, where there are several. */
  readonly broker: Broker | undefined;
  readonly hints: Relay | undefined;
  readonly #token: string;
  readonly #browser: Browser;
  /** The sockets of whoever is cut while the database is away. */
  readonly #sockets: WebSocket[] = [];
  readonly #clients: Client[] = [];
  readonly #lookers: Looker[] = [];
  readonly #disturbances: Disturbance[] = [];
  readonly #written: Written[] = [];
  readonly #pages: Page[] = [];
  readonly #over = new AbortController();
  #conversation = "";
  #writing: Promise<void>[] = [];
  #isQuiet = false;

  private constructor(
    url: string,
    database: Relay,
    nodes: readonly Node[],
    between: { readonly broker: Broker; readonly hints: Relay } | undefined,
    token: string,
    browser: Browser,
  ) {
    this.url = url;
    this.database = database;
    this.nodes = nodes;
    this.broker = between?.broker;
    this.hints = between?.hints;
    this.#token = token;
    this.#browser = browser;
  }

  static async start(server: TestServer, browser: Browser, count: number): Promise<OutageWorld> {
    await buildPage();
    const url = await server.newDatabase();
    await fill(url);
    const database = await startRelay(Number(new URL(url).port));
    const through = new URL(url);
    through.port = String(database.port);
    const broker = count === 1 ? undefined : await Broker.start();
    const hints = broker && (await startRelay(broker.port));
    const nats = hints && `nats://127.0.0.1:${hints.port}`;
    const token = randomBytes(32).toString("base64url");
    const nodes: Node[] = [];
    for (let n = 0; n < count; n++) {
      const node = new Node(through.href, nats, await freePort(), token);
      await node.run();
      nodes.push(node);
    }
    return new OutageWorld(url, database, nodes, broker && hints && { broker, hints }, token, browser);
  }

  async ready(): Promise<void> {
    const [first] = this.nodes as readonly [Node, ...Node[]];
    this.#conversation = (await first.do("conversation.create", { title: "outage" })).conversation;
    for (let i = 0; i < BLOCKS; i++)
      require((await this.#say(first, `block ${i}`)) === "written", `block ${i} was not written`);
    for (const [n, node] of this.nodes.entries()) await this.#lookAt(node, n);
    this.#writing = this.nodes.flatMap((node, n) =>
      [false, true].map((isKeyed) => this.#write(node, `${n}${isKeyed ? "k" : "n"}`, isKeyed)),
    );
    while (this.#written.length < this.#writing.length) await sleep(10);
  }

  /** Everybody gets into their state while the database is away. */
  async disturb(): Promise<void> {
    for (const socket of this.#sockets) socket.close();
    for (const disturbance of this.#disturbances) await disturbance();
  }

  async health(): Promise<readonly { readonly status: number; readonly body: string }[]> {
    const headers = { authorization: `Bearer ${this.#token}` };
    return Promise.all(
      this.nodes.map(async ({ url }) => {
        const answer = await fetch(`${url}/health`, { headers });
        return { status: answer.status, body: await answer.text() };
      }),
    );
  }

  /** What a node has said that it should never have to, and nodes that have ended by themselves. */
  get faults(): readonly string[] {
    return this.nodes.flatMap(({ log, isRunning }, n) => [
      ...log
        .split("\n")
        .filter((line) => line !== "" && (!line.startsWith("{") || line.includes('"level":"error"')))
        .map((line) => `node ${n}: ${line}`),
      ...(isRunning ? [] : [`node ${n} has ended`]),
    ]);
  }

  /** When everybody sees what is written after the outage; how long that took each. */
  async live(withinMs: number): Promise<string> {
    const began = performance.now();
    this.#isQuiet = true; // what comes last must stay on the screens
    await Promise.all(this.#writing);
    const [first] = this.nodes as readonly [Node, ...Node[]];
    while ((await this.#say(first, LAST, "last")) !== "written") await sleep(100);
    const took = new Map([["write", performance.now() - began]]);
    const left = new Set(this.#lookers);
    const look = async (looker: Looker): Promise<void> => {
      while (performance.now() - began < withinMs) {
        if (await looker.sees()) {
          left.delete(looker);
          took.set(looker.name, performance.now() - began);
          return;
        }
        await sleep(50);
      }
    };
    await Promise.all(this.#lookers.map(look));
    const told = [...took].map(([name, ms]) => `${name} ${seconds(ms)}`);
    const stuck = [...left].map(({ name, why }) => `${name}${why ? ` (${why()})` : ""}`);
    require(left.size === 0, `not live after ${withinMs} ms: ${stuck.join(", ")}; ${told.join(", ")}`);
    return this.nodes.length === 1
      ? told.join(", ")
      : `${this.#lookers.length} viewers after ${seconds(Math.max(...took.values()))} at most`;
  }

  /** What was said to be written is there once, what was said not to be is not. How many of each. */
  async requireTrueAnswers(isMet: boolean): Promise<string> {
    const store = await openPostgresStore(this.url);
    const blocks = await store.blocks({ conversation: this.#conversation, order: "first", limit: 1e6 });
    const counts = new Map<string, number>();
    for (const { id } of blocks) {
      const text = await store.text(id);
      counts.set(text, (counts.get(text) ?? 0) + 1);
    }
    await store.close();
    const tally = { written: 0, refused: 0, uncertain: 0 };
    for (const { text, answer } of this.#written) {
      const count = counts.get(text) ?? 0;
      if (answer === "written") {
        tally.written++;
        require(count === 1, `${text} was answered and is there ${count} times`);
      } else if (answer.problem === "uncertain") {
        tally.uncertain++;
        require(count <= 1, `${text} is there ${count} times`);
      } else {
        tally.refused++;
        require(answer.problem === "storage", `${text}: ${answer.problem} ${answer.message}`);
        require(count === 0, `${text} is there: ${answer.message}`);
      }
    }
    require(tally.written > 0, "nothing was written");
    const slowest = Math.max(...this.#written.map(({ ms }) => ms));
    const isNoticed = tally.refused + tally.uncertain > 0 || slowest > NOTICED_MS;
    require(!isMet || isNoticed, "no write met the outage");
    return `${tally.written} written, ${tally.refused} refused, ${tally.uncertain} not known: all true`;
  }

  async stop(): Promise<void> {
    this.#isQuiet = true;
    this.#over.abort();
    for (const page of this.#pages) await page.context().close();
    for (const client of this.#clients) client.close();
    await Promise.all(this.#writing);
    for (const node of this.nodes) await node.end("SIGKILL");
    for (const node of this.nodes) node.clear();
    await this.broker?.signal("SIGCONT");
    await this.broker?.signal("SIGKILL");
    await this.hints?.stop();
    await this.database.stop();
  }

  /** Viewers in every state and over every transport, at one node. */
  async #lookAt(node: Node, n: number): Promise<void> {
    const at = this.nodes.length === 1 ? "" : ` at ${n}`;
    const follow = async (name: string, isCut = false) => {
      const client = await this.#connect(node, isCut);
      const view = await client.follow(this.#conversation, () => undefined);
      this.#watch(`client ${name}${at}`, view);
      return { client, view };
    };
    await follow("idle");
    await follow("reconnecting", true);
    this.#disturbPaging(await follow("paging"), at);
    this.#disturbWaiting(await follow("waiting for a block"), at);
    this.#disturbances.push(async () => {
      if (!node.isRunning) return; // there is nobody to ask
      const { replica } = await this.#connect(node, false);
      this.#watch(`client reloading${at}`, replica.subscribe(this.#conversation));
      this.#lookEvents(node, `events opened meanwhile${at}`);
    });
    this.#lookEvents(node, `events idle${at}`);
    const token = new Auth(node.config.home, "owner", Date.now).create("looker", "agent");
    this.#lookers.push({ name: `mcp${at}`, sees: () => this.#mcpSees(node, token) });
    await this.#openPage(node, `page idle${at}`);
    const page = await this.#openPage(node, `page reloaded${at}`);
    this.#disturbances.push(async () => {
      // A page cannot come from a node that is gone: whoever reloads then looks at the browser's own words.
      if (node.isRunning) await page.reload({ waitUntil: "commit" });
    });
  }

  #disturbPaging({ client, view }: { readonly client: Client; readonly view: View }, at: string): void {
    this.#disturbances.push(() => {
      void client.replica.page(view, 40);
      this.#lookers.push({ name: `client page${at}`, sees: () => view.order.length > 100 });
    });
  }

  #disturbWaiting({ client, view }: { readonly client: Client; readonly view: View }, at: string): void {
    this.#disturbances.push(() => {
      const [first = ""] = view.order;
      view.texts.delete(first);
      client.replica.want(view, [first]);
      this.#lookers.push({ name: `client text${at}`, sees: () => view.texts.has(first) });
    });
  }

  async #say(node: Node, content: string, key?: string): Promise<Answer> {
    const block = { kind: "text", role: "user", status: "done", content };
    const made = { conversation: this.#conversation, ...block };
    const answer = await node.call("block.create", made, key).catch((error: unknown) => {
      // The node is gone: nobody has answered.
      return { status: 0, body: { problem: "uncertain", message: String(error) } };
    });
    return answer.status === 200 ? "written" : (answer.body as Exclude<Answer, "written">);
  }

  /** Writes each text once, and remembers what it was told. */
  async #write(node: Node, name: string, isKeyed: boolean): Promise<void> {
    for (let i = 0; !this.#isQuiet; i++, await sleep(WRITE_EVERY_MS)) {
      const text = `w${name} ${i}`;
      const began = performance.now();
      const answer = await this.#say(node, text, isKeyed ? `w${name}-${i}` : undefined);
      this.#written.push({ text, answer, ms: performance.now() - began });
    }
  }

  async #connect({ url }: Node, isCut: boolean): Promise<Client> {
    const { WebSocket } = globalThis;
    const sockets = this.#sockets;
    if (isCut)
      globalThis.WebSocket = class extends WebSocket {
        constructor(...given: ConstructorParameters<typeof WebSocket>) {
          super(...given);
          sockets.push(this);
        }
      };
    const client = await connect({ url, token: this.#token });
    globalThis.WebSocket = WebSocket;
    this.#clients.push(client);
    return client;
  }

  #watch(name: string, view: View): void {
    this.#lookers.push({
      name,
      sees: () => view.isOpen && [...view.texts.values()].some((text) => text.toString() === LAST),
    });
  }

  /** As a browser reads server-sent events: after an end it comes back, after an error status it does not. */
  #lookEvents({ url }: Node, name: string): void {
    const headers = { authorization: `Bearer ${this.#token}` };
    const { signal } = this.#over;
    const state = { isOpen: false, refused: 0 };
    const follow = async (): Promise<void> => {
      const path = `/v1/conversations/${this.#conversation}/events`;
      while (!signal.aborted && state.refused === 0) {
        try {
          const answer = await fetch(`${url}${path}`, { headers, signal });
          if (!answer.ok) state.refused = answer.status;
          for await (const _ of answer.body ?? []) state.isOpen = answer.ok;
        } catch {
          // the node is gone, or this is over
        }
        state.isOpen = false;
        await sleep(200);
      }
    };
    void follow();
    const sees = () => state.isOpen && state.refused === 0;
    this.#lookers.push({ name, sees, why: () => `status ${state.refused}, open: ${state.isOpen}` });
  }

  async #mcpSees({ url }: Node, token: string): Promise<boolean> {
    const answer = await fetch(`${url}/mcp`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        accept: "application/json, text/event-stream",
        "content-type": "application/json",
      },
      body: JSON.stringify({
        ...{ jsonrpc: "2.0", id: 1, method: "tools/call" },
        params: { name: "kernel_search", arguments: { query: LAST, kinds: "all" } },
      }),
    }).catch(() => undefined);
    return (await answer?.text().catch(() => ""))?.includes("block_id") ?? false;
  }

  async #openPage(node: Node, name: string): Promise<Page> {
    const context = await this.#browser.newContext();
    const page = await context.newPage();
    const link = new Auth(node.config.home, "owner", Date.now).makeLink(this.#token); // good once
    await page.goto(`${node.url}/c/${this.#conversation}?link=${link}`);
    await page
      .getByText(`block ${BLOCKS - 1}`, { exact: true })
      .first()
      .waitFor();
    this.#pages.push(page);
    this.#lookers.push({
      name,
      sees: async () => (await page.getByText(LAST, { exact: true }).count()) > 0,
    });
    return page;
  }
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
