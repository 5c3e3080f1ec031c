/**
 * Every way into the server that is no call of a tool × every kind of credential: those that hold, those that never did and those that
 * did once. Streams, uploads, exports, pages, sockets, MCP and `blockyard mcp`. And every tool × every role × how long its input is, on
 * the transports that are no plain HTTP. A route that has no row here fails.
 */
import { spawn } from "node:child_process";
import { type CallerRole, isProblem, limits, type Right, type ToolSchema } from "@blockyard/kernel";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { Browser } from "./browser.ts";
import { freshPeer, statusOf, TestHarness, UPGRADE } from "./harness.ts";
import { MAIN, overMcp, overSocket, overStdio, type Transport } from "./transports.ts";

const PNG = Buffer.from("89504e470d0a1a0a00", "hex").toString("latin1");
const HELLO = {
  ...{ jsonrpc: "2.0", id: 1, method: "initialize" },
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } },
};

let harness: TestHarness;
let conversation = "";
let block = "";
const clock = { offsetMs: 0 };

beforeAll(async () => {
  const now = Date.now;
  vi.spyOn(Date, "now").mockImplementation(() => now() + clock.offsetMs);
  harness = await TestHarness.start();
  conversation = (await harness.call("conversation.create", { title: "ways" }))["conversation"] ?? "";
  const text = { conversation, kind: "text", role: "user", content: "words" };
  block = (await harness.call("block.create", text))["block_id"] ?? "";
});
afterAll(async () => {
  vi.restoreAllMocks();
  await harness.stop();
});

/** A way in: what is asked there, and what is answered to whoever may. `who`: the right that it takes, or nobody's. */
interface Way {
  readonly route: string;
  readonly path: () => string;
  readonly body?: string;
  readonly isUpgrade?: true;
  readonly who: Right | "mcp" | "browser";
  readonly answer: number;
}

const at = (path: string) => () => path.replace("CONVERSATION", conversation).replace("BLOCK", block);
const WAYS: readonly Way[] = [
  { route: "GET /health", path: at("/health"), who: "read", answer: 200 },
  { route: "GET /metrics", path: at("/metrics"), who: "read", answer: 200 },
  { route: "GET /v1/tools", path: at("/v1/tools"), who: "read", answer: 200 },
  {
    route: "POST /v1/tools/:name",
    path: at("/v1/tools/conversation.list"),
    body: "{}",
    who: "read",
    answer: 200,
  },
  { route: "ALL /v1/tools/:name", path: at("/v1/tools/conversation.list"), who: "read", answer: 405 },
  { route: "GET /v1/conversations", path: at("/v1/conversations"), who: "read", answer: 200 },
  {
    route: "GET /v1/conversations/:id",
    path: at("/v1/conversations/CONVERSATION"),
    who: "read",
    answer: 200,
  },
  {
    route: "GET /v1/blocks/:conversation/:agent/:seq",
    path: at("/v1/blocks/BLOCK"),
    who: "read",
    answer: 200,
  },
  {
    route: "GET /v1/blocks/:id",
    path: () => `/v1/blocks/${encodeURIComponent(block)}`,
    ...{ who: "read", answer: 200 },
  },
  ...["jsonl", "html"].map(
    (format): Way => ({
      route: "GET /v1/conversations/:id/export",
      path: at(`/v1/conversations/CONVERSATION/export?format=${format}`),
      ...{ who: "read", answer: 200 },
    }),
  ),
  {
    route: "GET /v1/conversations/:id/events",
    path: at("/v1/conversations/CONVERSATION/events"),
    who: "read",
    answer: 200,
  },
  { route: "GET /v1/changes", path: at("/v1/changes"), who: "read", answer: 200 },
  { route: "GET /v1/blobs/:hash", path: at(`/v1/blobs/${"0".repeat(64)}`), who: "read", answer: 404 },
  { route: "POST /v1/blobs", path: at("/v1/blobs"), body: PNG, who: "upload", answer: 200 },
  {
    route: "POST /v1/ingest",
    path: at("/v1/ingest?provider=claude"),
    body: '{"type":"x"}\n',
    who: "ingest",
    answer: 200,
  },
  { route: "POST /v1/import", path: at("/v1/import"), body: "{}\n", who: "import", answer: 400 },
  { route: "POST /mcp", path: at("/mcp"), body: JSON.stringify(HELLO), who: "mcp", answer: 200 },
  { route: "ALL /mcp", path: at("/mcp"), who: "mcp", answer: 405 },
  { route: "GET /v1/session", path: at("/v1/session"), who: "read", answer: 200 },
  { route: "POST /v1/session/bind", path: at("/v1/session/bind"), body: "{}", who: "browser", answer: 400 },
  {
    route: "POST /v1/session/ticket",
    path: at("/v1/session/ticket"),
    body: "{}",
    who: "browser",
    answer: 400,
  },
  { route: "GET /v1/*", path: at("/v1/nothing"), who: "read", answer: 404 },
  { route: "GET /*", path: at("/nothing.txt"), who: "read", answer: 404 },
  { route: "upgrade", path: at("/v1/feed"), isUpgrade: true, who: "read", answer: 101 },
  {
    route: "upgrade",
    path: at("/v1/conversations/CONVERSATION/events"),
    isUpgrade: true,
    who: "read",
    answer: 101,
  },
];

interface Credential {
  readonly headers: Readonly<Record<string, string>>;
  readonly ticket?: string;
  /** Undefined: it opens nothing. */
  readonly role?: CallerRole;
  readonly isPage?: boolean;
}

const bearer = (token: string, role?: CallerRole): Credential => ({
  headers: { authorization: `Bearer ${token}` },
  ...(role ? { role } : {}),
});
const page = ({ headers, ticket, origin }: Browser, role?: CallerRole): Credential => ({
  ...{ headers: { ...headers, origin }, ticket, isPage: true },
  ...(role ? { role } : {}),
});

const DAY_MS = 24 * 3_600_000;

async function aged(ms: number): Promise<Credential> {
  const browser = await harness.browser();
  clock.offsetMs += ms;
  return page(browser);
}

function revoked(name: string, role: "agent" | "viewer"): Credential {
  const token = harness[role](name);
  harness.running.auth.revoke(name);
  return bearer(token);
}

const CREDENTIALS: Readonly<Record<string, () => Promise<Credential> | Credential>> = {
  "the owner's token": () => bearer(harness.owner, "owner"),
  "an agent's token": () => bearer(harness.agent("ways-agent"), "agent"),
  "a viewer's token": () => bearer(harness.viewer("ways-viewer"), "viewer"),
  "the owner's page": async () => page(await harness.browser(), "owner"),
  "a viewer's page": async () => page(await harness.browser(harness.viewer("ways-wall")), "viewer"),
  nothing: () => ({ headers: {} }),
  "an empty token": () => bearer(""),
  "a token that never was": () => bearer("x".repeat(43)),
  "an agent's token, revoked": () => revoked("ways-gone", "agent"),
  "a viewer's token, revoked": () => revoked("ways-gone-wall", "viewer"),
  "the owner's page, its session revoked": async () => {
    const browser = await harness.browser();
    harness.running.auth.sessions.revoke(browser.session);
    return page(browser);
  },
  "a viewer's page, its token revoked": async () => {
    const browser = await harness.browser(harness.viewer("ways-left"));
    harness.running.auth.revoke("ways-left");
    return page(browser);
  },
  "the owner's page, thirty-one days later": () => aged(31 * DAY_MS),
};

/** What a credential is answered there. */
function expected({ who, answer }: Way, { role, isPage }: Credential): number {
  if (role === undefined) return 401;
  if (who === "browser") return isPage ? answer : 403;
  if (who === "mcp") return role === "owner" ? 403 : answer;
  const rights: Readonly<Record<CallerRole, readonly string[]>> = {
    owner: ["read", "upload", "ingest", "import"],
    agent: ["read", "upload", "ingest"],
    viewer: ["read"],
  };
  return rights[role].includes(who) ? answer : 403;
}

/** The status alone: a stream has no end. */
async function status(way: Way, { headers, ticket }: Credential): Promise<number> {
  const [method = "GET"] = way.route.split(" ");
  const query = way.isUpgrade && ticket !== undefined ? `?ticket=${ticket}` : "";
  const all = {
    ...{ host: harness.host, accept: "application/json, text/event-stream" },
    ...(way.isUpgrade ? UPGRADE : {}),
    ...(way.body === undefined
      ? {}
      : { "content-type": "application/json", "content-length": `${way.body.length}` }),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  const verb = way.isUpgrade || method === "ALL" ? (way.route === "ALL /mcp" ? "DELETE" : "GET") : method;
  const head = `${verb} ${way.path()}${query} HTTP/1.1\r\n${lines.join("")}\r\n`;
  return statusOf(await harness.raw(Buffer.from(`${head}${way.body ?? ""}`, "latin1"), freshPeer()));
}

describe("ways in", () => {
  it("[AC262] every route of the router has a row", () => {
    const routes = harness.running.app.routes.map(({ method, path }) => `${method} ${path}`);
    const known = new Set(WAYS.map(({ route }) => route));
    // What is asked of every way to MCP first is no way of its own.
    expect([...new Set(routes)].filter((route) => !known.has(route))).toEqual([]);
  });

  it.each(Object.keys(CREDENTIALS))("[AC262] %s opens what it may, and nothing else", async (name) => {
    const credential = await (CREDENTIALS[name] as () => Promise<Credential>)();
    const before = credential.role === undefined ? await harness.state() : "";
    const surprises: string[] = [];
    for (const way of WAYS) {
      const [got, wanted] = [await status(way, credential), expected(way, credential)];
      if (got !== wanted) surprises.push(`${way.route} ${way.path()}: ${got}, not ${wanted}`);
    }
    counts.ways += WAYS.length;
    expect(surprises).toEqual([]);
    if (credential.role === undefined) expect(await harness.state()).toBe(before);
  });

  it.each(["an agent's token, revoked", "an empty token"])(
    "[AC262] blockyard mcp with %s serves nothing",
    async (name) => {
      const { headers } = await (CREDENTIALS[name] as () => Promise<Credential>)();
      const token = headers["authorization"]?.slice("Bearer ".length) ?? "";
      const before = await harness.state();
      const answers = await stdio(token, [
        HELLO,
        { jsonrpc: "2.0", method: "notifications/initialized" },
        ...harness.running.tools.schemas().map(({ name: tool }, i) => ({
          ...{ jsonrpc: "2.0", id: i + 2, method: "tools/call" },
          params: { name: tool.replaceAll(".", "_"), arguments: {} },
        })),
      ]);
      const served = answers.filter(({ result }) => result?.content !== undefined && result.isError !== true);
      expect(served).toEqual([]);
      counts.ways += harness.running.tools.schemas().length;
      expect(await harness.state()).toBe(before);
    },
    60_000,
  );
});

interface Said {
  readonly id?: number;
  readonly result?: { readonly content?: unknown; readonly isError?: boolean };
}

/** What `blockyard mcp` answers to these lines, until it ends. */
async function stdio(token: string, lines: readonly object[]): Promise<readonly Said[]> {
  const env = { PATH: process.env["PATH"] ?? "", HOME: harness.root, BLOCKYARD_TOKEN: token };
  const args = ["--disable-warning=ExperimentalWarning", MAIN, "mcp", "--home", harness.home];
  const child = spawn(process.execPath, args, { env, stdio: ["pipe", "pipe", "ignore"] });
  child.stdin.on("error", () => undefined);
  child.stdin.end(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (piece: string) => {
    text += piece;
  });
  await new Promise((gone) => child.once("close", gone));
  return text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Said]));
}

const counts = { ways: 0, sizes: 0 };
afterAll(() => {
  process.stderr.write(
    `matrix: ${counts.ways} ways × credentials, ${counts.sizes} tools × roles × transports × sizes\n`,
  );
});

/** What a caller is answered to an input that is so much too long, or just not. */
const SIZES = [0, 40_000] as const;

function most({ carriesText }: ToolSchema, role: "agent" | "viewer"): number {
  return carriesText && role === "agent" ? limits.textCallBytes : limits.callBytes;
}

describe("how long an input is", () => {
  it.each([
    ["viewer", "ws"],
    ["agent", "ws"],
    ["viewer", "mcp"],
    ["agent", "mcp"],
    ["agent", "stdio"],
  ] as const)(
    "[AC221] [AC231] of a %s over %s, for every tool: refused before it is looked at, or as too long, or as wrong",
    async (role, name) => {
      const token = harness[role](`sizes-${role}-${name}`);
      const open = async (): Promise<Transport> => {
        if (name === "ws") return overSocket(harness, token);
        return name === "mcp" ? overMcp(harness, token) : overStdio(harness, token);
      };
      const transport = await open();
      const surprises: string[] = [];
      for (const schema of harness.running.tools.schemas())
        for (const more of SIZES) {
          const may = schema.access === "read" || (schema.access === "write" && role === "agent");
          // Texts of eight megabytes do not fit in a message of a socket, and are tried over HTTP.
          const bytes = Math.min(most(schema, role), 200_000) + more;
          if (role === "viewer" && bytes > limits.callBytes + 16_000) continue;
          const input = { x: "x".repeat(bytes - '{"x":""}'.length) };
          const answer = await transport.call(schema.name, input).catch((error: Error) => error.message);
          const got = isProblem(answer)
            ? answer.problem
            : /413|too_large/.test(String(answer))
              ? "too_large"
              : "answered";
          const isLong = bytes > limits.callBytes && !(schema.carriesText && role === "agent");
          // What is around a call counts with it, and has some room. What streams is never asked of the server by `blockyard mcp`.
          const isNear = more <= 1 || (name === "stdio" && schema.streams === true);
          const wanted = !may
            ? ["forbidden"]
            : isLong
              ? ["too_large", ...(isNear ? ["invalid"] : [])]
              : ["invalid"];
          if (!wanted.includes(got))
            surprises.push(`${schema.name} +${more}: ${got}, not ${wanted.join(" or ")}`);
          counts.sizes++;
        }
      await transport.close();
      expect(surprises).toEqual([]);
    },
    90_000,
  );
});
