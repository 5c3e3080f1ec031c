/**
 * The same address in other spellings. The guard decides by the path who may come in, the router decides by the path what is done:
 * where the two read it differently, a cookie alone, which every server on this host gets, would open what it must not.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CallGateway } from "../../packages/server/src/app/call-gateway.ts";
import { CallScheduler } from "../../packages/server/src/app/call-scheduler.ts";
import { Metrics } from "../../packages/server/src/system/metrics.ts";
import type { Browser } from "./browser.ts";
import { statusOf, TestHarness } from "./harness.ts";

let harness: TestHarness;
let browser: Browser;
beforeAll(async () => {
  harness = await TestHarness.start();
  browser = await harness.browser();
});
afterAll(() => harness.stop());

const hex = (letter: string) => `%${letter.charCodeAt(0).toString(16)}`;

/** Ways to write a path so that some parser reads it as another one. */
const SPELLINGS: readonly (readonly [string, (path: string) => string])[] = [
  ["as it is", (path) => path],
  ["up from an address for cookies", (path) => `/v1/session/..${path.replace(/^\/v1/, "")}`],
  ["further up from an address for cookies", (path) => `/v1/session/bind/../..${path.replace(/^\/v1/, "")}`],
  ["up, with escaped dots", (path) => `/v1/session/%2e%2e${path.replace(/^\/v1/, "")}`],
  ["up, with one escaped dot", (path) => `/v1/session/.%2E${path.replace(/^\/v1/, "")}`],
  ["up from a page", (path) => `/c/..${path}`],
  ["a dot in front", (path) => `/.${path}`],
  ["an escaped dot in front", (path) => `/%2e${path}`],
  ["a dot inside", (path) => path.replace(/^\/(\w+)/, "/$1/.")],
  ["its first letter escaped", (path) => path.replace(/^\/(\w)/, (_, letter: string) => `/${hex(letter)}`)],
  [
    "its second letter escaped",
    (path) => path.replace(/^\/(\w)(\w)/, (_, a: string, b: string) => `/${a}${hex(b)}`),
  ],
  ["all letters escaped", (path) => path.replaceAll(/\w/g, hex)],
  ["escaped twice", (path) => path.replace(/^\/(\w)/, (_, letter: string) => `/%25${hex(letter).slice(1)}`)],
  ["an escaped slash", (path) => path.replace(/^\/v1\//, "/v1%2f")],
  ["two slashes in front", (path) => `/${path}`],
  ["two slashes inside", (path) => path.replace(/^\/(\w+)/, "/$1/")],
  ["a backslash", (path) => path.replace(/^\/v1\//, "/v1\\")],
  ["upper case", (path) => path.toUpperCase()],
  ["a parameter", (path) => path.replace(/^\/(\w+)/, "/$1;x")],
  ["a hash in front", (path) => `/#${path}`],
  ["a question in front", (path) => `/?${path}`],
];

/** What the router has, and tools that do something. */
const targets = () => [
  ...harness.running.app.routes
    .filter(({ method, path }) => method !== "ALL" && path !== "/*" && !path.startsWith("/v1/session"))
    .map(({ method, path }) => [method, path.replaceAll(/:\w+/g, "x").replace("*", "x")] as const),
  ["POST", "/v1/tools/token.create"] as const,
  ["POST", "/v1/tools/conversation.create"] as const,
];

describe("an address in another spelling", () => {
  it.each(SPELLINGS)("[AC267] %s: a cookie alone opens nothing but the page", async (_, spelt) => {
    const before = [await harness.state(), harness.running.auth.list().length];
    const opened: string[] = [];
    for (const [method, path] of targets()) {
      const body = method === "POST" ? '{"agent":"thief"}' : "";
      const head = `host: ${harness.host}\r\norigin: ${harness.origin}\r\ncookie: ${browser.cookie}\r\ncontent-length: ${body.length}`;
      const said = await harness.raw(
        `${method} ${spelt(path)} HTTP/1.1\r\n${head}\r\nconnection: close\r\n\r\n${body}`,
        undefined,
        "never",
      );
      const isPage = statusOf(said) === 200 && /^content-type: text\/html/im.test(said);
      if (![400, 401, 403, 404, 405].includes(statusOf(said)) && !isPage)
        opened.push(`${method} ${spelt(path)} ${statusOf(said)}`);
    }
    expect(opened).toEqual([]);
    expect([await harness.state(), harness.running.auth.list().length]).toEqual(before);
  });

  it("[AC267] ids are escaped as one part of an address, as before", async () => {
    const { conversation } = await harness.call("conversation.create", { title: "t" });
    const made = await harness.call("block.create", {
      conversation,
      kind: "text",
      role: "user",
      content: "x",
    });
    const path = `/v1/blocks/${encodeURIComponent(made["block_id"] ?? "")}`;
    expect((await harness.ask(path, { token: harness.owner })).status).toBe(200);
    expect((await harness.ask("/c/a%20b?x=..%2f%41", { headers: { cookie: browser.cookie } })).status).toBe(
      200,
    );
  });

  it("[AC267] a cookie alone cannot call tools, should it ever come so far, and proves nothing", async () => {
    const caller = { agent: "root", role: "owner", by: "cookie", session: browser.session } as const;
    for (const { name } of harness.running.tools
      .schemas()
      .filter(({ name }) => harness.running.tools.sensitive().includes(name)))
      expect(
        await harness.running.tools.call(caller, name, { agent: "thief", allow: ["bash"], permission: "x" }),
      ).toMatchObject({ problem: name === "turn.start" ? expect.any(String) : "forbidden" });
    const { auth, tools } = harness.running;
    const parts = { auth, tools, scheduler: new CallScheduler(), metrics: new Metrics() };
    const gateway = new CallGateway(parts as unknown as ConstructorParameters<typeof CallGateway>[0]);
    expect(await gateway.call(caller, "conversation.list", {})).toMatchObject({ problem: "forbidden" });
  });
});
