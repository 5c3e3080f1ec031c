/** Who is not let in: every route and method of the router, the upgrades, and the addresses that are not ours. */
import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { PageProof } from "../../packages/server/src/access/page-proof.ts";
import { PageSessions } from "../../packages/server/src/access/page-sessions.ts";
import { Browser } from "./browser.ts";
import { freshPeer, statusOf, TestHarness, UPGRADE } from "./harness.ts";

let harness: TestHarness;
let browser: Browser;
let cookie: string;
let agent: string;
let revoked: string;

beforeAll(async () => {
  harness = await TestHarness.start();
  browser = await harness.browser();
  cookie = browser.cookie;
  agent = harness.agent("guest");
  revoked = harness.agent("former");
  harness.running.auth.revoke("former");
  await harness.call("conversation.create", { title: "here" });
});

afterAll(() => harness.stop());

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
const PARAMS: Readonly<Record<string, string>> = {
  ":name": "conversation.create",
  ":id": "abc",
  ":conversation": "abc",
  ":agent": "bob",
  ":seq": "1",
  ":hash": "0".repeat(64),
  "*": "some-page",
};

/** Every method and path that the router knows; a route for all methods counts once for each. */
function routes(): { readonly method: string; readonly path: string }[] {
  return harness.running.app.routes.flatMap(({ method, path }) => {
    const filled = path.replaceAll(/:\w+|\*/g, (name) => PARAMS[name] ?? "x");
    return (method === "ALL" ? METHODS : [method]).map((each) => ({ method: each, path: filled }));
  });
}

function credentials(): Record<string, Record<string, string>> {
  const wrong = randomBytes(32).toString("base64url");
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  return {
    none: {},
    wrong: bearer(wrong),
    "one character short": bearer(harness.owner.slice(0, -1)),
    "one character more": bearer(`${harness.owner}A`),
    revoked: bearer(revoked),
    empty: { authorization: "Bearer " },
    basic: { authorization: `Basic ${Buffer.from(`owner:${harness.owner}`).toString("base64")}` },
    lower: { authorization: `bearer ${harness.owner}` },
    "cookie that is the token": { cookie: `blockyard-${harness.port}=${harness.owner}` },
    "cookie of another port": { cookie: cookie.replace(`-${harness.port}-`, `-${harness.port + 1}-`) },
    "wrong token beside a good cookie": { ...bearer(wrong), cookie },
  };
}

const BODY = JSON.stringify({ title: "made by nobody" });

function hasSecret(line: string): boolean {
  return [harness.owner, revoked, agent, cookie.split("=")[1] ?? ""].some((secret) => line.includes(secret));
}

describe("[R42] without a valid credential", () => {
  it("[AC1] a person with a browser is told how to get in, a program what the problem is", async () => {
    const ask = (path: string, accept: string) =>
      fetch(new URL(path, harness.running.url), { headers: { accept } });
    const page = await ask("/", "text/html,application/xhtml+xml,*/*;q=0.8");
    expect([page.status, page.headers.get("content-type")]).toEqual([401, "text/html; charset=utf-8"]);
    const said = await page.text();
    expect(said).toContain("blockyard link");
    const style = /<style>(.*)<\/style>/s.exec(said)?.[1] ?? "";
    const hash = createHash("sha256").update(style).digest("base64");
    expect(page.headers.get("content-security-policy")).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    );
    for (const [path, accept] of [
      ["/", "*/*"],
      ["/v1/conversations", "text/html"],
    ] as const) {
      const answer = await ask(path, accept);
      expect(await answer.json()).toMatchObject({ problem: "forbidden" });
    }
  });

  it("[AC1] every route and method is refused, nothing is done, and one line is left without a secret", async () => {
    expect(routes().length).toBeGreaterThan(18);
    const before = await harness.state();
    const start = harness.lines.length;
    let asked = 0;
    for (const headers of Object.values(credentials())) {
      const from = freshPeer();
      let ofPeer = 0;
      for (const { method, path } of routes()) {
        const peer = ++ofPeer > 18 ? `127.9.${ofPeer >> 4}.${from.split(".").pop()}` : from;
        const body = method === "GET" || method === "HEAD" ? {} : { body: BODY };
        const answer = await harness.ask(path, { method, headers, from: peer, ...body });
        asked++;
        expect([method, path, answer.status]).toEqual([method, path, 401]);
        expect(answer.headers["access-control-allow-origin"]).toBeUndefined();
        if (method !== "HEAD") expect(JSON.parse(answer.body)).toMatchObject({ problem: "forbidden" });
      }
    }
    expect(harness.refusals(start)).toHaveLength(asked);
    expect(harness.lines.slice(start).filter(hasSecret)).toEqual([]);
    expect(await harness.state()).toBe(before);
  });

  it("[AC1] every upgrade is refused, also at addresses that do not exist", async () => {
    const before = await harness.state();
    const start = harness.lines.length;
    let asked = 0;
    for (const path of ["/v1/feed", "/v1/conversations/abc/events", "/mcp", "/", "/nowhere"]) {
      const from = freshPeer();
      for (const headers of Object.values(credentials())) {
        expect([path, await harness.upgrade(path, headers, from)]).toEqual([path, 401]);
        asked++;
      }
    }
    expect(harness.refusals(start)).toHaveLength(asked);
    expect(harness.lines.slice(start).filter(hasSecret)).toEqual([]);
    expect(await harness.state()).toBe(before);
  });

  it("[AC5] a link's code opens the page's address alone, once, and a token in the query opens nothing", async () => {
    for (const path of ["/v1/tools", "/v1/conversations", "/mcp", "/health", "/metrics"]) {
      const code = harness.running.auth.makeLink();
      expect((await harness.ask(`${path}?link=${code}`, { from: freshPeer() })).status).toBe(401);
    }
    for (const method of ["POST", "HEAD", "DELETE"]) {
      const code = harness.running.auth.makeLink();
      expect((await harness.ask(`/?link=${code}`, { method, from: freshPeer() })).status).toBe(401);
    }
    for (const token of [harness.owner, agent, harness.viewer("by-query"), ""])
      for (const name of ["token", "link"])
        expect((await harness.ask(`/?${name}=${token}`, { from: freshPeer() })).status).toBe(401);
    expect(await harness.upgrade(`/v1/feed?link=${harness.running.auth.makeLink()}`, {}, freshPeer())).toBe(
      401,
    );
    expect(() => harness.running.auth.makeLink(agent)).toThrow("links are for people");
    const code = harness.running.auth.makeLink();
    const first = await harness.ask(`/d?x=1&link=${code}`);
    expect([first.status, first.headers.location]).toEqual([
      303,
      expect.stringMatching(/^\/d\?x=1&bind=[\w-]{43}$/),
    ]);
    expect((await harness.ask(`/?link=${code}`, { from: freshPeer() })).status).toBe(401);
    const many = harness.running.auth.makeLink();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => harness.ask(`/?link=${many}`, { from: freshPeer() })),
    );
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
    // Whoever has a session and opens an old link again is led to the page.
    const again = await harness.ask(`/c/x?link=${code}`, { headers: { cookie } });
    expect([again.status, again.headers.location, again.headers["set-cookie"]]).toEqual([
      303,
      "/c/x",
      undefined,
    ]);
  });

  it("[AC5] a viewer's link is traded for a session that reads, until the token is taken back", async () => {
    const screen = await harness.browser(harness.viewer("screen"));
    const seen = screen.headers;
    const reads = () => harness.ask("/v1/conversations", { headers: seen, from: freshPeer() });
    expect((await reads()).status).toBe(200);
    const json = { origin: harness.origin, "content-type": "application/json" };
    const writes = (own: Record<string, string>) =>
      harness.ask("/v1/tools/conversation.list", {
        method: "POST",
        headers: { ...json, ...own },
        body: "{}",
      });
    const creates = (own: Record<string, string>) =>
      harness.ask("/v1/tools/conversation.create", {
        method: "POST",
        headers: { ...json, ...own },
        body: BODY,
      });
    expect((await writes(seen)).status).toBe(200);
    expect((await creates(seen)).status).toBe(403);
    // Beside the owner's, in either order, it takes nothing away: the ticket says which of them asks.
    for (const both of [`${cookie}; ${screen.cookie}`, `${screen.cookie}; ${cookie}`]) {
      expect((await creates({ ...browser.headers, cookie: both })).status).toBe(200);
      expect((await creates({ ...seen, cookie: both })).status).toBe(403);
      expect((await writes({ ...seen, cookie: both })).status).toBe(200);
    }
    harness.running.auth.revoke("screen");
    expect((await reads()).status).toBe(401);
  });

  it("[AC129] cookies that another server on this host has set lock nobody out", async () => {
    const [name = "", value = ""] = cookie.split("=");
    const tossed = [
      `${name}=wrong; ${cookie}`,
      `${cookie}; ${name}=wrong`,
      `${name}=; ${name}=${"x".repeat(2_000)}; ${cookie}`,
      `blockyard-${harness.port}-0000000000000000=${value}; ${cookie}`,
      `blockyard-${harness.port}-../../token=${value}; ${cookie}`,
      `blockyard-${harness.port}=${value}; ${cookie}`,
      // As many as a browser keeps, in front of ours: those of a longer path are sent first.
      `${`${name}=wrong; `.repeat(170)}${cookie}`,
      `${Array.from({ length: 170 }, (_, i) => `blockyard-${harness.port}-${String(i).padStart(16, "0")}=x; `).join("")}${cookie}`,
      `${Array.from({ length: 25 }, (_, i) => `${name}=${value.slice(0, -3)}${100 + i}; `).join("")}${cookie}`,
    ];
    for (const header of tossed)
      expect([
        header,
        (await harness.ask("/v1/conversations", { headers: { ...browser.headers, cookie: header } })).status,
      ]).toEqual([header, 200]);
    for (const header of [
      `${name}=wrong`,
      `blockyard-${harness.port}-0000000000000000=${value}`,
      `${name}x=${value}`,
    ])
      expect(
        (
          await harness.ask("/v1/conversations", {
            headers: { ...browser.headers, cookie: header },
            from: freshPeer(),
          })
        ).status,
      ).toBe(401);
  });

  it("[AC130] sessions are listed with names and ends, and are revoked one by one, streams and all", async () => {
    const { sessions } = harness.running.auth;
    const [one, other] = [
      await harness.browser(undefined, "laptop"),
      await harness.browser(undefined, "desk"),
    ];
    const named = sessions.list().find((each) => each.name === "laptop");
    expect(named).toMatchObject({ role: "owner", expiresAt: expect.any(Number) });
    expect(JSON.stringify(sessions.list())).not.toContain(one.cookie.split("=")[1]);
    const status = async ({ headers }: Browser) =>
      (await harness.ask("/health", { headers, from: freshPeer() })).status;
    expect([await status(one), await status(other)]).toEqual([200, 200]);
    const socket = new WebSocket(`ws://${harness.host}/v1/feed`, {
      headers: { ...one.headers, origin: harness.origin },
    });
    await new Promise((open) => socket.once("open", open));
    const closed = new Promise((gone) => socket.once("close", gone));
    expect(sessions.revoke(named?.id ?? "")).toBe(true);
    expect([await status(one), await status(other)]).toEqual([401, 200]);
    await closed;
    expect(sessions.revoke(named?.id ?? "")).toBe(false);
    expect(sessions.revoke("../token")).toBe(false);
  });

  it("[AC240] a cookie alone opens the page's files on every route, and nothing else", async () => {
    const routes = harness.running.app.routes.filter(({ method }) => method !== "ALL");
    const origin = { origin: harness.origin };
    for (const { method, path } of routes) {
      if (path === "/*" || path.startsWith("/v1/session")) continue;
      const asked = path.replaceAll(/:\w+/g, "x").replace("*", "x");
      const { status } = await harness.ask(asked, { method, headers: { cookie, ...origin } });
      expect([method, path, status]).toEqual([method, path, 401]);
    }
    for (const path of ["/mcp", "/health", "/metrics", "/v1", "/v1/", "/v1/x", "/%76%31/tools"])
      expect([path, (await harness.ask(path, { headers: { cookie } })).body]).toEqual([
        path,
        expect.not.stringContaining('"ok"'),
      ]);
    for (const path of ["/", "/c/x"])
      expect((await harness.ask(path, { headers: { cookie } })).status).toBe(200);
    for (const path of ["/v1/feed", "/v1/conversations/x/events"])
      expect(await harness.upgrade(path, { cookie, ...origin })).toBe(401);
    expect(await harness.upgrade(`/v1/feed?ticket=${browser.ticket}`, { cookie, ...origin })).toBe(101);
    // Nor does the ticket without the cookie, or with another session's.
    const other = await harness.browser();
    const ticket = { "x-blockyard-ticket": browser.ticket };
    expect((await harness.ask("/health", { headers: ticket, from: freshPeer() })).status).toBe(401);
    expect((await harness.ask("/health", { headers: { ...ticket, cookie: other.cookie } })).status).toBe(401);
    // What the addresses of the session tell a cookie alone is a challenge, which it cannot sign.
    const greeting = (await harness.ask("/v1/session", { headers: { cookie } })).body;
    expect(Object.keys(JSON.parse(greeting))).toEqual(["sessions", "challenge"]);
  });

  it("[AC241] a session is bound once, with the secret that the page has got, and proven by its key alone", async () => {
    const link = `${harness.origin}/?link=${harness.running.auth.makeLink()}`;
    const page = new Browser(harness.origin);
    await page.follow(link);
    const unbound = page.cookie;
    const thief = new Browser(harness.origin);
    thief.cookie = unbound;
    // Another server on this host has the cookie, and not the secret.
    expect((await thief.bind("x".repeat(43))).status).toBe(403);
    expect((await page.bind()).status).toBe(200);
    expect(await page.prove()).toBe(200);
    // The secret is worth nothing any more, nor is the cookie of before.
    for (const stolen of [unbound, page.cookie]) {
      thief.cookie = stolen;
      expect((await thief.bind(page.bindSecret)).status).toBe(403);
      thief.session = page.session;
      expect(await thief.prove()).toBe(403);
      expect(thief.ticket).toBe("");
    }
    // A signature for another origin, another session or an old challenge is none.
    expect(await page.prove(`http://127.0.0.1:${harness.port + 1}`)).toBe(403);
    const challenge = await page.challenge();
    for (const words of [
      ["ticket", page.origin, "0".repeat(16), challenge],
      ["call", page.origin, page.session, challenge],
      ["ticket", page.origin, page.session, `${challenge.slice(0, -1)}x`],
    ]) {
      const signature = await page.sign(words);
      const asked = await page.post("/v1/session/ticket", {
        ...{ session: page.session, challenge: words[3] as string, signature },
      });
      expect(asked.status).toBe(403);
    }
  });

  it("[AC241] challenges and tickets end by themselves, and are taken from nobody else", async () => {
    let nowMs = 0;
    const [proof, other] = [new PageProof("key", () => nowMs), new PageProof("another", () => nowMs)];
    const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const key = pair.publicKey.export({ type: "spki", format: "der" }).toString("base64url");
    const signed = (challenge: string) =>
      sign("sha256", Buffer.from(`blockyard\nticket\nhttp://here\ns\n${challenge}`), {
        key: pair.privateKey,
        dsaEncoding: "ieee-p1363",
      }).toString("base64url");
    const ticketFor = (challenge: string) =>
      proof.ticket({ id: "s", key }, "http://here", challenge, signed(challenge));
    const challenge = proof.challenge();
    const ticket = ticketFor(challenge) ?? "";
    expect([proof.sessionOf(ticket), other.sessionOf(ticket)]).toEqual(["s", undefined]);
    expect(proof.sessionOf(challenge)).toBeUndefined();
    expect(ticketFor(other.challenge())).toBeUndefined();
    expect(proof.ticket({ id: "s" }, "http://here", challenge, signed(challenge))).toBeUndefined();
    nowMs += 60_000;
    expect(ticketFor(challenge)).toBeUndefined();
    expect(proof.sessionOf(ticket)).toBe("s");
    nowMs += 60_000;
    expect(proof.sessionOf(ticket)).toBeUndefined();
  });

  it("[AC130] links and sessions end by themselves", () => {
    const home = mkdtempSync(join(tmpdir(), "blockyard-sessions-"));
    let nowMs = 0;
    const sessions = new PageSessions(home, () => nowMs, "key");
    const guest = { role: "owner", agent: "ann", name: "" } as const;
    const late = sessions.makeLink(guest);
    const traded = sessions.trade(sessions.makeLink(guest), "Firefox on Linux");
    expect(traded?.session.name).toBe("Firefox on Linux");
    nowMs += 24 * 3600 * 1000;
    expect(sessions.trade(late, "")).toBeUndefined();
    expect(sessions.open(traded?.session.id ?? "", traded?.cookie ?? "")).toBeDefined();
    nowMs += 29 * 24 * 3600 * 1000;
    expect(sessions.open(traded?.session.id ?? "", traded?.cookie ?? "")).toBeUndefined();
    expect(sessions.list()).toEqual([]);
    rmSync(home, { recursive: true });
  });

  it("[AC5] the trade sets a cookie that no script and no other site can use, and leaves this host for none", async () => {
    const link = () => `link=${harness.running.auth.makeLink()}`;
    const { status, headers } = await harness.ask(`/c/x?${link()}&q=1`);
    expect([status, headers.location]).toEqual([303, expect.stringMatching(/^\/c\/x\?q=1&bind=[\w-]{43}$/)]);
    const set = headers["set-cookie"]?.[0] ?? "";
    for (const part of ["HttpOnly", "SameSite=Strict", "Path=/"]) expect(set).toContain(part);
    expect(set).not.toContain(harness.owner);
    for (const path of [
      "/.//evil.com",
      "/%2f/evil.com",
      "/\\evil.com",
      "/..//evil.com",
      "/a/..//evil.com/",
    ]) {
      const { headers: sent, status: code } = await harness.ask(`${path}?${link()}`);
      if (code !== 303) continue;
      expect(new URL(sent.location ?? "", harness.origin).origin).toBe(harness.origin);
    }
  });
});

const BAD_ORIGINS = (port: number) => [
  "http://evil.com",
  "null",
  "",
  "http://localhost.evil.com",
  `http://localhost.evil.com:${port}`,
  `http://127.0.0.1:${port + 1}`,
  `https://127.0.0.1:${port}`,
  `http://127.0.0.1.:${port}`,
  `HTTP://LOCALHOST:${port}`,
  `http://localhost.:${port}`,
  `http://127.0.0.1:${port}/`,
  `http://user@127.0.0.1:${port}`,
  `http://127.0.0.1:${port}, http://evil.com`,
  "file://",
  // It does not listen there: another program of this machine may.
  `http://[::1]:${port}`,
  `http://0.0.0.0:${port}`,
  `http://127.1:${port}`,
];

const BAD_HOSTS = (port: number) => [
  "evil.com",
  `evil.com:${port}`,
  `127.0.0.1.nip.io:${port}`,
  "127.0.0.1",
  `127.0.0.1:${port + 1}`,
  `localhost.:${port}`,
  `127.1:${port}`,
  `LOCALHOST:${port}`,
  `127.0.0.1:${port}.evil.com`,
  `0.0.0.0:${port}`,
  `[::1]:${port}`,
  `0x7f000001:${port}`,
  `2130706433:${port}`,
];

describe("[R43] from elsewhere", () => {
  it("[AC3] bad Origins are refused on every transport, with a good cookie and with a good token", async () => {
    const before = await harness.state();
    const start = harness.lines.length;
    let asked = 0;
    for (const origin of BAD_ORIGINS(harness.port)) {
      for (const credential of [browser.headers, { authorization: `Bearer ${harness.owner}` }]) {
        const headers = { ...credential, origin };
        const post = { method: "POST", headers, body: BODY };
        const statuses = [
          (await harness.ask("/v1/conversations", { headers })).status,
          (await harness.ask("/v1/tools/conversation.create", post)).status,
          (await harness.ask("/mcp", post)).status,
          await harness.upgrade("/v1/feed", headers),
        ];
        asked += statuses.length;
        expect([origin, statuses]).toEqual([origin, [403, 403, 403, 403]]);
      }
    }
    expect(harness.refusals(start)).toHaveLength(asked);
    expect(await harness.state()).toBe(before);
  });

  it("[AC2] bad Hosts are refused on every transport, with a good cookie and with a good token", async () => {
    const before = await harness.state();
    const start = harness.lines.length;
    let asked = 0;
    for (const host of BAD_HOSTS(harness.port)) {
      for (const credential of [
        { ...browser.headers, origin: harness.origin },
        { authorization: `Bearer ${harness.owner}` },
      ]) {
        const headers = { ...credential, host } as Record<string, string>;
        const post = { method: "POST", headers, body: BODY };
        const statuses = [
          (await harness.ask("/", { headers })).status,
          (await harness.ask("/v1/tools/conversation.create", post)).status,
          (await harness.ask("/mcp", post)).status,
          await harness.upgrade("/v1/feed", headers),
        ];
        asked += statuses.length;
        expect([host, statuses]).toEqual([host, [421, 421, 421, 421]]);
      }
    }
    expect(harness.refusals(start)).toHaveLength(asked);
    expect(await harness.state()).toBe(before);
  });

  it("[AC2] two Hosts, none, an empty one and a target that is no path are refused", async () => {
    const authorization = `authorization: Bearer ${harness.owner}\r\n`;
    const good = `host: ${harness.host}\r\n`;
    const upgrade = Object.entries(UPGRADE)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join("");
    const rows: [string, number][] = [
      [`GET /v1/conversations HTTP/1.1\r\n${good}host: evil.com\r\n${authorization}\r\n`, 400],
      [`GET /v1/conversations HTTP/1.1\r\nhost: evil.com\r\n${good}${authorization}\r\n`, 400],
      [`GET /v1/conversations HTTP/1.1\r\n${good}${good}${authorization}\r\n`, 400],
      [`GET /v1/conversations HTTP/1.1\r\n${authorization}\r\n`, 400],
      [`GET /v1/conversations HTTP/1.0\r\n${authorization}\r\n`, 400],
      [`GET /v1/conversations HTTP/1.1\r\nhost:\r\n${authorization}\r\n`, 421],
      [`GET http://${harness.host}/v1/conversations HTTP/1.1\r\n${good}${authorization}\r\n`, 400],
      [`GET http://evil.com/ HTTP/1.1\r\n${good}${authorization}\r\n`, 400],
      [`GET //evil.com/ HTTP/1.1\r\n${good}${authorization}\r\n`, 400],
      [`GET //?token=x HTTP/1.1\r\n${good}${authorization}\r\n`, 400],
      [`OPTIONS * HTTP/1.1\r\n${good}${authorization}\r\n`, 400],
      [`GET /v1/feed HTTP/1.1\r\n${good}host: evil.com\r\n${upgrade}${authorization}\r\n`, 400],
      [`GET // HTTP/1.1\r\n${good}${upgrade}${authorization}\r\n`, 400],
    ];
    for (const [bytes, status] of rows)
      expect([bytes, statusOf(await harness.raw(bytes))]).toEqual([bytes, status]);
  });

  it("[AC4] a cookie writes and upgrades only with our Origin, and brings no other site's pictures in", async () => {
    const post = (headers: Record<string, string>) =>
      harness.ask("/v1/tools/conversation.list", { method: "POST", headers, body: "{}" });
    const own = browser.headers;
    expect((await post(own)).status).toBe(403);
    expect((await post({ ...own, origin: harness.origin })).status).toBe(200);
    expect(await harness.upgrade("/v1/feed", own)).toBe(403);
    expect(await harness.upgrade("/v1/feed", { ...own, origin: harness.origin })).toBe(101);
    const get = async (more: Record<string, string>) =>
      (await harness.ask("/v1/conversations", { headers: { ...own, ...more } })).status;
    expect(await get({})).toBe(200);
    expect(await get({ "sec-fetch-site": "same-origin", "sec-fetch-mode": "cors" })).toBe(200);
    expect(await get({ "sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors" })).toBe(403);
    expect(await get({ "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" })).toBe(403);
    const framed = {
      "sec-fetch-site": "same-site",
      "sec-fetch-mode": "navigate",
      "sec-fetch-dest": "iframe",
    };
    expect(await get(framed)).toBe(403);
    expect(await get({ ...framed, "sec-fetch-dest": "document" })).toBe(200);
  });

  it("[AC7] a compressed request is refused, and no answer allows another site", async () => {
    const headers = { "content-encoding": "gzip" };
    const { status } = await harness.ask("/v1/ingest", {
      method: "POST",
      headers,
      body: "x",
      token: harness.owner,
    });
    expect(status).toBe(415);
    const [how, body] = ["transfer-encoding: gzip, chunked", "2\r\n{}\r\n0\r\n\r\n"];
    const line = `POST /v1/tools/conversation.list HTTP/1.1\r\nhost: ${harness.host}\r\nauthorization: Bearer ${harness.owner}`;
    expect(await harness.raw(`${line}\r\n${how}\r\n\r\n${body}`)).toMatch(/^HTTP\/1.1 415 /);
    const { headers: sent } = await harness.ask("/", { token: harness.owner });
    expect(Object.keys(sent).filter((name) => name.startsWith("access-control"))).toEqual([]);
    expect(sent["content-security-policy"]).toContain("script-src 'self';");
    expect(sent["referrer-policy"]).toBe("no-referrer");
    expect(sent["cross-origin-resource-policy"]).toBe("same-origin");
  });
});

describe("[R48] guessing", () => {
  it("[AC8] is slowed down after twenty wrong tokens a minute, and nobody else with it", async () => {
    const from = freshPeer();
    const guess = (path: string, peer: string) =>
      harness.ask(path, { from: peer, token: randomBytes(32).toString("base64url") });
    const quick = performance.now();
    for (let i = 0; i < 20; i++) expect((await guess("/", from)).status).toBe(401);
    expect(performance.now() - quick).toBeLessThan(10_000); // a second for each would be twenty
    const slow = performance.now();
    const [late, upgraded] = await Promise.all([guess("/", from), harness.upgrade("/v1/feed", {}, from)]);
    expect([late.status, upgraded]).toEqual([401, 401]);
    expect(performance.now() - slow).toBeGreaterThan(950);
    expect((await guess("/", freshPeer())).status).toBe(401);
    // The owner on the same machine as the one who guesses is let in at once: the best of a few tells.
    const times: number[] = [];
    for (let i = 0; i < 5; i++) {
      const startMs = performance.now();
      expect((await harness.ask("/health", { from, token: harness.owner })).status).toBe(200);
      times.push(performance.now() - startMs);
    }
    expect(Math.min(...times)).toBeLessThan(500);
  });
});

describe("strange requests", () => {
  it("[AC6] end no process: targets that are no address, sockets that vanish while they are refused", async () => {
    const host = `host: ${harness.host}\r\n`;
    const upgrade = Object.entries(UPGRADE)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join("");
    for (const target of [
      "//?token=1",
      "//",
      "/\\",
      "///?token=",
      "/%",
      "/%ff?token=%ff",
      "/?token=%00",
      "*",
    ]) {
      await harness.raw(`GET ${target} HTTP/1.1\r\n${host}\r\n`, freshPeer());
      await harness.raw(`GET ${target} HTTP/1.1\r\n${host}${upgrade}\r\n`, freshPeer());
      await harness.raw(`GET ${target} HTTP/1.1\r\n${host}authorization: Bearer ${harness.owner}\r\n\r\n`);
      await harness.raw(
        `GET ${target} HTTP/1.1\r\n${host}${upgrade}authorization: Bearer ${harness.owner}\r\n\r\n`,
      );
    }
    const from = freshPeer();
    const start = harness.lines.length;
    const sockets = Array.from({ length: 40 }, () =>
      harness.socket(`GET /v1/feed HTTP/1.1\r\n${host}${upgrade}\r\n`, from),
    );
    // Reset when the server has seen them all, and waits before it answers the second half.
    while (harness.refusals(start).length < sockets.length) await new Promise((next) => setImmediate(next));
    const gone = sockets.map((socket) => new Promise((closed) => socket.on("close", closed)));
    for (const socket of sockets) socket.resetAndDestroy();
    await Promise.all(gone);
    expect(await harness.upgrade("/v1/feed", {}, from)).toBe(401); // it waits as long as the others did
    expect((await harness.ask("/health", { token: harness.owner })).status).toBe(200);
  });

  it("[AC6] a refused upgrade is closed, also for a peer that never hangs up", async () => {
    const headers = Object.entries({ host: harness.host, ...UPGRADE }).map(
      ([name, value]) => `${name}: ${value}`,
    );
    const socket = connect({
      host: "127.0.0.1",
      port: harness.port,
      localAddress: freshPeer(),
      allowHalfOpen: true,
    });
    socket.on("error", () => undefined).resume();
    const closed = new Promise((done) => socket.on("close", done));
    socket.write(`GET /v1/feed HTTP/1.1\r\n${headers.join("\r\n")}\r\n\r\n`);
    await new Promise((end) => socket.on("end", end));
    const timer = setInterval(() => socket.write("still here"), 50); // it learns of the end by being cut
    await closed;
    clearInterval(timer);
  });

  it("[AC6] a refused sender is cut, however much it still wants to send", async () => {
    const head = `POST /v1/ingest HTTP/1.1\r\nhost: ${harness.host}\r\ntransfer-encoding: chunked\r\n\r\n`;
    const socket = harness.socket(head, freshPeer());
    const chunk = `10000\r\n${"x".repeat(0x10000)}\r\n`;
    let sent = 0;
    const closed = new Promise<void>((done) => socket.on("close", () => done()));
    const timer = setInterval(() => {
      sent += chunk.length;
      socket.write(chunk);
    }, 1);
    await closed;
    clearInterval(timer);
    expect(sent).toBeLessThan(64 * 1024 * 1024);
  });
});
