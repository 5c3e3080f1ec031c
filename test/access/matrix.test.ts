/**
 * Every tool, for every caller, over every transport. The rights are written down here a second time: a tool that is
 * not in the table, or that another role may call than it says, fails. Nothing is done: an input that no tool accepts
 * is `invalid` for callers with access, and is not examined for others.
 */
import { type Access, isProblem, may } from "@blockyard/kernel";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { Browser } from "./browser.ts";
import { freshPeer, TestHarness } from "./harness.ts";
import { overHttp, overMcp, overSocket, overStdio, type Transport } from "./transports.ts";

const TABLE: Readonly<Record<Access, readonly string[]>> = {
  read: [
    ...["block.history", "block.list", "block.read", "block.search", "block.subscribe", "block.sync"],
    ...[
      "conversation.changes",
      "conversation.context",
      "conversation.export",
      "conversation.list",
      "conversation.read",
      "cost.report",
    ],
    ...["agent.list", "cursor.set", "file.grants", "file.list", "file.status", "kernel.search", "turn.list"],
  ],
  write: [
    ...["block.append", "block.apply_patch", "block.create", "block.edit", "block.redo", "block.splice"],
    ...["block.status", "block.undo", "conversation.create", "conversation.fork", "conversation.include"],
    ...[
      "conversation.prune",
      "conversation.update",
      "file.flush",
      "file.open",
      "file.resolve",
      "turn.begin",
      "turn.end",
    ],
  ],
  owner: [
    ...["audit.list", "command.confirm", "command.run", "command.stop", "file.grant", "file.revoke"],
    ...["session.list", "session.revoke", "token.create", "token.revoke"],
    ...["trust.allow", "trust.revoke", "trust.show"],
    ...["rule.list", "rule.remove", "rule.set"],
    ...["agent.change", "agent.offers", "conversation.delete", "conversation.restore"],
    ...["turn.answer", "turn.later", "turn.move", "turn.release", "turn.start", "turn.stop"],
  ],
};

/** Processes take their time to start on a busy machine. */
const SLOW_MS = 90_000;

let harness: TestHarness;
/** Sessions and tickets end by the clock. */
const clock = { offsetMs: 0 };
beforeAll(async () => {
  const now = Date.now;
  vi.spyOn(Date, "now").mockImplementation(() => now() + clock.offsetMs);
  harness = await TestHarness.start();
});
afterAll(async () => {
  vi.restoreAllMocks();
  await harness.stop();
});

type Role = "viewer" | "agent" | "owner";
const TRANSPORTS = {
  http: async (token: string) => overHttp(harness, token),
  ws: (token: string) => overSocket(harness, token),
  mcp: (token: string) => overMcp(harness, token),
  stdio: (token: string) => overStdio(harness, token),
} as const;

const tokenOf = (role: Role, name: string) =>
  role === "owner" ? harness.owner : role === "agent" ? harness.agent(name) : harness.viewer(name);

async function said(transport: Transport, tool: string): Promise<string> {
  const answer = await transport.call(tool, { no_such_field: 1 });
  return isProblem(answer) ? answer.problem : "answered";
}

describe("the matrix of tools, callers and transports", () => {
  it("[AC231] has an entry for every tool", () => {
    const entries = Object.entries(TABLE).flatMap(([access, names]) =>
      names.map((name) => `${access} ${name}`),
    );
    const tools = harness.running.tools.schemas().map(({ access, name }) => `${access} ${name}`);
    expect(tools.toSorted()).toEqual(entries.toSorted());
  });

  const rows = (["viewer", "agent", "owner"] as const).flatMap((role) =>
    (["http", "ws", "mcp", "stdio"] as const)
      .filter((transport) => role !== "owner" || transport === "http" || transport === "ws")
      .map((transport) => [role, transport] as const),
  );
  it.each(rows)(
    "[AC231] a %s over %s may call what the table says, and nothing else",
    async (role, name) => {
      const transport = await TRANSPORTS[name](tokenOf(role, `${role}-${name}`));
      const got: string[] = [];
      const expected: string[] = [];
      for (const [access, tools] of Object.entries(TABLE) as [Access, readonly string[]][])
        for (const tool of tools) {
          got.push(`${tool} ${await said(transport, tool)}`);
          expected.push(`${tool} ${may(role, access) ? "invalid" : "forbidden"}`);
        }
      await transport.close();
      expect(got).toEqual(expected);
    },
    SLOW_MS,
  );

  it("[AC231] MCP is not for the owner", async () => {
    const { status } = await harness.ask("/mcp", { method: "POST", body: "{}", token: harness.owner });
    expect(status).toBe(403);
  });
});

/** Credentials that open nothing: those that never did, and those that did once. */
interface Dead {
  readonly headers: Readonly<Record<string, string>>;
  /** For sockets, which have no headers of their own in a browser. */
  readonly ticket?: string;
}
const DAY_MS = 24 * 3600 * 1000;
const bearer = (token: string): Dead => ({ headers: { authorization: `Bearer ${token}` } });
const page = ({ headers, ticket, origin }: Browser): Dead => ({ headers: { ...headers, origin }, ticket });

const DEAD: readonly (readonly [string, () => Promise<Dead> | Dead])[] = [
  ["nothing", () => ({ headers: {} })],
  ["a token that never was", () => bearer("x".repeat(43))],
  ["an agent's token, revoked", () => revoked(harness.agent("gone-agent"), "gone-agent")],
  ["a viewer's token, revoked", () => revoked(harness.viewer("gone-viewer"), "gone-viewer")],
  ["the owner's token with a blank behind it", () => bearer(`${harness.owner} x`)],
  ["the owner's token by another scheme", () => ({ headers: { authorization: `Basic ${harness.owner}` } })],
  [
    "the owner's cookie alone",
    async () => {
      const { cookie, origin } = await harness.browser();
      return { headers: { cookie, origin } };
    },
  ],
  [
    "the ticket of the owner's page alone",
    async () => {
      const { ticket, origin } = await harness.browser();
      return { headers: { "x-blockyard-ticket": ticket, origin }, ticket };
    },
  ],
  [
    "the owner's cookie with a viewer's ticket",
    async () => {
      const { ticket } = await harness.browser(harness.viewer("beside"));
      const { cookie, origin } = await harness.browser();
      return { headers: { cookie, "x-blockyard-ticket": ticket, origin }, ticket };
    },
  ],
  [
    "the owner's page, its session revoked",
    async () => {
      const browser = await harness.browser();
      harness.running.auth.sessions.revoke(browser.session);
      return page(browser);
    },
  ],
  [
    "a viewer's page, its token revoked",
    async () => {
      const browser = await harness.browser(harness.viewer("gone-wall"));
      harness.running.auth.revoke("gone-wall");
      return page(browser);
    },
  ],
  ["the owner's page, its ticket of three minutes ago", async () => later(3 * 60_000)],
  ["the owner's page, its session of thirty-one days ago", async () => later(31 * DAY_MS)],
];

function revoked(token: string, name: string): Dead {
  harness.running.auth.revoke(name);
  return bearer(token);
}

/** The owner's page as it was before so much time has passed. */
async function later(ms: number): Promise<Dead> {
  const browser = await harness.browser();
  clock.offsetMs += ms;
  return page(browser);
}

describe("credentials that open nothing", () => {
  it.each(DEAD)("[AC262] %s reaches no tool, on no transport", async (_, make) => {
    const { headers, ticket } = await make();
    const before = await harness.state();
    const got: string[] = [];
    const names = harness.running.tools.schemas().map(({ name }) => name);
    for (const name of names) {
      const asked = { method: "POST", body: "{}", headers, from: freshPeer() };
      got.push(`${name} ${(await harness.ask(`/v1/tools/${name}`, asked)).status}`);
    }
    expect(got).toEqual(names.map((name) => `${name} 401`));
    const query = ticket === undefined ? "" : `?ticket=${ticket}`;
    const mcp = await harness.ask("/mcp", { method: "POST", body: "{}", headers, from: freshPeer() });
    const feed = await harness.upgrade(`/v1/feed${query}`, headers, freshPeer());
    const events = await harness.upgrade(`/v1/conversations/x/events${query}`, headers, freshPeer());
    expect({ mcp: mcp.status, feed, events }).toEqual({ mcp: 401, feed: 401, events: 401 });
    expect(await harness.state()).toBe(before);
  });

  it(
    "[AC262] a token is revoked under an open socket, an MCP client and a blockyard mcp: no tool of theirs does anything more",
    async () => {
      const token = harness.agent("leaving");
      const { conversation } = await harness.call("conversation.create", { title: "left" }, token);
      const opened = [
        await overSocket(harness, token),
        await overMcp(harness, token),
        await overStdio(harness, token),
      ];
      const line = { conversation, kind: "text", role: "model", content: "x" };
      for (const transport of opened)
        expect(await transport.call("block.create", line)).toMatchObject({ version: 1 });
      harness.running.auth.revoke("leaving");
      const before = await harness.state();
      const got: string[] = [];
      for (const transport of opened)
        for (const tool of ["block.create", "conversation.read", "turn.start"]) {
          const answer = await transport.call(tool, line).catch(() => "cut");
          got.push(isProblem(answer) ? answer.problem : String(answer));
        }
      // A socket may be cut while it is answered; a client of MCP is told by its library.
      expect(got.filter((each) => !["forbidden", "unavailable", "cut"].includes(each))).toEqual([]);
      expect(await harness.state()).toBe(before);
      await Promise.all(opened.map((transport) => transport.close().catch(() => undefined)));
    },
    SLOW_MS,
  );

  it("[AC262] sessions are bound and proven by browsers alone: tokens are refused, whatever they send", async () => {
    const owner = harness.owner;
    const browser = await harness.browser(harness.viewer("screen"));
    for (const path of ["/v1/session/bind", "/v1/session/ticket"]) {
      for (const token of [owner, harness.agent("binder"), harness.viewer("watcher")]) {
        const { status } = await harness.ask(path, { method: "POST", body: "{}", token });
        expect([path, status]).toEqual([path, 403]);
      }
      // A viewer's browser has a session of its own to bind: what it sends is looked at.
      expect((await browser.post(path, {})).status).toBe(400);
    }
    expect((await browser.bind("x".repeat(43))).status).toBe(403);
  });
});
