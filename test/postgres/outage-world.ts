/**
 * A server on a PostgreSQL database that can be taken away, and whoever looks at it: viewers in every state over the client
 * library, the page in Chromium, server-sent events, MCP; and writers whose answers are compared with the store afterwards.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Client, connect } from "@blockyard/client";
import { isProblem, type Problem, type View } from "@blockyard/kernel";
import type { Browser, Page } from "playwright-core";
import { type Running, serve } from "../../packages/server/src/app/serve.ts";
import { makeConfig } from "../../packages/server/src/config/config.ts";
import { openPostgresStore } from "../../packages/server/src/stores/postgres/postgres.ts";
import { buildPage } from "../../scripts/build-page.mjs";
import { require } from "../checks.ts";
import { known } from "./check.ts";
import { type Relay, startRelay } from "./relay.ts";
import type { TestServer } from "./server.ts";

const BLOCKS = 150;
const LAST = "after the outage";
const WRITE_EVERY_MS = 150;

interface Written {
  readonly text: string;
  readonly answer: "written" | Problem;
}

/** Somebody who looks; `sees` says whether what came last is there. */
interface Looker {
  readonly name: string;
  sees(): Promise<boolean> | boolean;
}

export class OutageWorld {
  readonly url: string;
  readonly database: Relay;
  readonly faults: string[] = [];
  readonly #running: Running;
  /** The sockets of whoever is cut while the database is away. */
  readonly #sockets: WebSocket[] = [];
  readonly #folder: string;
  readonly #browser: Browser;
  readonly #clients: Client[] = [];
  readonly #lookers: Looker[] = [];
  readonly #written: Written[] = [];
  readonly #pages: Page[] = [];
  readonly #over = new AbortController();
  #conversation = "";
  #writing: Promise<void>[] = [];
  #isQuiet = false;

  private constructor(url: string, database: Relay, running: Running, folder: string, browser: Browser) {
    this.url = url;
    this.database = database;
    this.#running = running;
    this.#folder = folder;
    this.#browser = browser;
  }

  static async start(server: TestServer, browser: Browser): Promise<OutageWorld> {
    await buildPage();
    const url = await server.newDatabase();
    const database = await startRelay(Number(new URL(url).port));
    const through = new URL(url);
    through.port = String(database.port);
    const folder = mkdtempSync(join(tmpdir(), "blockyard-outage-"));
    const faults: string[] = [];
    const config = makeConfig({
      env: {},
      home: join(folder, "home"),
      root: folder,
      port: 0,
      database: through.href,
    });
    const running = await serve(config, (level, event, more) => {
      if (level === "error") faults.push(`${event} ${JSON.stringify(more)}`);
    });
    const world = new OutageWorld(url, database, running, folder, browser);
    const onLost = (error: unknown) => faults.push(`uncaught: ${String((error as Error)?.stack ?? error)}`);
    process.on("unhandledRejection", onLost);
    world.#over.signal.addEventListener("abort", () => process.off("unhandledRejection", onLost));
    Object.assign(world, { faults });
    return world;
  }

  async ready(): Promise<void> {
    const { kernel } = this.#running;
    this.#conversation = known(await kernel.createConversation("ann", "outage"));
    for (let i = 0; i < BLOCKS; i++) known(await this.#say(`block ${i}`));
    for (const name of ["idle", "reconnecting", "paging", "waiting for a block"]) {
      const client = await this.#connect(name === "reconnecting");
      this.#watch(`client ${name}`, await client.follow(this.#conversation, () => undefined));
    }
    this.#lookEvents("events idle");
    const token = this.#running.auth.create("looker", "agent");
    this.#lookers.push({ name: "mcp", sees: () => this.#mcpSees(token) });
    for (const name of ["page idle", "page reloaded"]) await this.#openPage(name);
    this.#writing = [0, 1].map((writer) => this.#write(writer));
  }

  /** Everybody gets into their state while the database is away. */
  async disturb(): Promise<void> {
    for (const socket of this.#sockets) socket.close();
    const [, , paging, waiting] = this.#clients as [Client, Client, Client, Client];
    const of = ({ replica }: Client) => [...replica.views.values()][0] as View;
    void paging.replica.page(of(paging), 40);
    const [first = ""] = of(waiting).order;
    of(waiting).texts.delete(first);
    waiting.replica.want(of(waiting), [first]);
    this.#lookers.push({ name: "client text", sees: () => of(waiting).texts.has(first) });
    this.#lookers.push({ name: "client page", sees: () => of(paging).order.length > 100 });
    const reloading = await this.#connect(false);
    this.#watch("client reloading", reloading.replica.subscribe(this.#conversation));
    this.#lookEvents("events opened meanwhile");
    await this.#pages[1]?.reload({ waitUntil: "commit" });
  }

  async health(): Promise<{ readonly status: number; readonly body: string }> {
    const headers = { authorization: `Bearer ${this.#running.auth.ownerToken}` };
    const answer = await fetch(`${this.#running.url}/health`, { headers });
    return { status: answer.status, body: await answer.text() };
  }

  /** When everybody sees what is written after the outage; how long that took each. */
  async live(withinMs: number): Promise<string> {
    const began = performance.now();
    this.#isQuiet = true; // what comes last must stay on the screens
    while (isProblem(await this.#say(LAST, "last"))) await sleep(100);
    const wrote = performance.now() - began;
    const took: string[] = [`write ${seconds(wrote)}`];
    const left = new Set(this.#lookers.map(({ name }) => name));
    const look = async ({ name, sees }: Looker): Promise<void> => {
      while (performance.now() - began < withinMs) {
        if (await sees()) {
          left.delete(name);
          took.push(`${name} ${seconds(performance.now() - began)}`);
          return;
        }
        await sleep(50);
      }
    };
    await Promise.all(this.#lookers.map(look));
    require(left.size === 0, `not live after ${withinMs} ms: ${[...left].join(", ")}; ${took.join(", ")}`);
    return took.join(", ");
  }

  /** What was said to be written is there once, what was said not to be is not. */
  async requireTrueAnswers(): Promise<void> {
    this.#isQuiet = true;
    await Promise.all(this.#writing);
    const store = await openPostgresStore(this.url);
    const blocks = await store.blocks({ conversation: this.#conversation, order: "first", limit: 1e6 });
    const counts = new Map<string, number>();
    for (const { id } of blocks) {
      const text = await store.text(id);
      counts.set(text, (counts.get(text) ?? 0) + 1);
    }
    await store.close();
    for (const { text, answer } of this.#written) {
      const count = counts.get(text) ?? 0;
      if (answer === "written") require(count === 1, `${text} was answered and is there ${count} times`);
      else if (answer.problem === "storage") require(count === 0, `${text} is there: ${answer.message}`);
      else
        require(answer.problem === "uncertain" && count <= 1, `${text}: ${answer.problem} ${answer.message}`);
    }
    require(this.#written.some(({ answer }) => answer !== "written"), "no write met the outage");
  }

  async stop(): Promise<void> {
    this.#isQuiet = true;
    this.#over.abort();
    for (const page of this.#pages) await page.context().close();
    for (const client of this.#clients) client.close();
    await Promise.all(this.#writing);
    await this.#running.stop();
    await this.database.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #say(text: string, key?: string) {
    return this.#running.kernel.write(this.#conversation, {
      agent: "ann",
      ...(key === undefined ? {} : { key }),
      plan: (draft) => {
        const made = draft.create({ kind: "text", role: "user", text, status: "done" });
        return isProblem(made) ? made : made.id;
      },
    });
  }

  /** Writes with and without keys, each text once, and remembers what it was told. */
  async #write(writer: number): Promise<void> {
    for (let i = 0; !this.#isQuiet; i++, await sleep(WRITE_EVERY_MS)) {
      const text = `w${writer} ${i}`;
      const answer = await this.#say(text, writer === 0 ? undefined : text);
      this.#written.push({ text, answer: isProblem(answer) ? answer : "written" });
    }
  }

  async #connect(isCut: boolean): Promise<Client> {
    const { WebSocket } = globalThis;
    const sockets = this.#sockets;
    if (isCut)
      globalThis.WebSocket = class extends WebSocket {
        constructor(...given: ConstructorParameters<typeof WebSocket>) {
          super(...given);
          sockets.push(this);
        }
      };
    const client = await connect({ url: this.#running.url, token: this.#running.auth.ownerToken });
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
  #lookEvents(name: string): void {
    const headers = { authorization: `Bearer ${this.#running.auth.ownerToken}` };
    const { signal } = this.#over;
    const state = { isOpen: false, refused: 0 };
    const follow = async (): Promise<void> => {
      while (!signal.aborted && state.refused === 0) {
        const path = `/v1/conversations/${this.#conversation}/events`;
        const answer = await fetch(`${this.#running.url}${path}`, { headers, signal });
        if (!answer.ok) state.refused = answer.status;
        for await (const _ of answer.body ?? []) state.isOpen = answer.ok;
        state.isOpen = false;
        await sleep(200);
      }
    };
    follow().catch(() => undefined);
    this.#lookers.push({ name, sees: () => state.isOpen && state.refused === 0 });
  }

  async #mcpSees(token: string): Promise<boolean> {
    const answer = await fetch(`${this.#running.url}/mcp`, {
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
    });
    return (await answer.text()).includes("block_id");
  }

  async #openPage(name: string): Promise<void> {
    const context = await this.#browser.newContext();
    const page = await context.newPage();
    const link = this.#running.auth.makeLink(); // good once
    await page.goto(`${this.#running.url}/c/${this.#conversation}?link=${link}`);
    await page
      .getByText(`block ${BLOCKS - 1}`, { exact: true })
      .first()
      .waitFor();
    this.#pages.push(page);
    this.#lookers.push({
      name,
      sees: async () => (await page.getByText(LAST, { exact: true }).count()) > 0,
    });
  }
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
