/**
 * The guard in front of every route and upgrade: Host, Origin, token. It looks at the request before any router does, so
 * no route can forget it, and it reads no body.
 *
 * Host and Origin must be exactly one of our own addresses: that stops other sites and DNS rebinding. A request without
 * an Origin is let in only with a bearer token, or if it only reads and no other site had the browser send it. A cookie
 * counts together with the ticket of our page; alone it opens the page's files.
 */

import type { IncomingMessage } from "node:http";
import { hostname, networkInterfaces } from "node:os";
import type { Auth, Caller } from "./auth.ts";

export interface Refusal {
  readonly status: number;
  readonly message: string;
  /** Wait this long before answering. */
  readonly delayMs: number;
}

export interface Addresses {
  /** As browsers see it: cookies are named after it. Behind a proxy it is the proxy's, the same for every node there. */
  readonly port: number;
  /** Exact values of the Host header. */
  readonly hosts: ReadonlySet<string>;
  /** Exact values of the Origin header. */
  readonly origins: ReadonlySet<string>;
}

/** Where the server listens, and what it is called. */
export interface Place {
  readonly host: string;
  readonly secure: boolean;
  /** Those in its certificate. */
  readonly names: readonly string[];
  /** Where people reach it through a program that stands in front of it. */
  readonly origin?: string;
}

const EVERYWHERE = ["0.0.0.0", "::"];
/** Not `[::1]`, where it does not listen there: another program may, and its pages would be taken for ours. */
const LOCAL = ["127.0.0.1", "localhost"];
const LOOPBACK = [...LOCAL, "[::1]"];

/** Where people reach the server: where it listens everywhere, under the name in its certificate, if there is one. */
export function urlOf({ host, secure, names, origin }: Place, port: number): string {
  if (origin !== undefined) return origin;
  const called = names.find((name) => !LOOPBACK.includes(name)) ?? "127.0.0.1";
  const name = EVERYWHERE.includes(host) ? called : bracketed(host);
  return `${secure ? "https" : "http"}://${name}:${port}`;
}

/** Where commands of this machine reach a server that shows a certificate to everybody else. */
export function localUrl(port: number): string {
  return `http://127.0.0.1:${port}`;
}

/** `localPort`: of the plain socket for commands. No browser has business there, so no Origin is. */
export function addressesOf(
  { host, secure, names, origin }: Place,
  port: number,
  localPort?: number,
): Addresses {
  const all = new Set([...LOCAL, ...(EVERYWHERE.includes(host) ? ownNames() : [bracketed(host)]), ...names]);
  const hosts = new Set([...all].map((name) => `${name}:${port}`));
  // Browsers leave the scheme's own port away.
  if (port === (secure ? 443 : 80)) for (const name of all) hosts.add(name);
  const origins = new Set([...hosts].map((value) => `${secure ? "https" : "http"}://${value}`));
  if (localPort !== undefined) hosts.add(`127.0.0.1:${localPort}`);
  if (origin !== undefined) {
    hosts.add(new URL(origin).host);
    origins.add(origin);
  }
  return { port: origin === undefined ? port : portOf(origin), hosts, origins };
}

function portOf(origin: string): number {
  const { port, protocol } = new URL(origin);
  return port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);
}

/** Whether the browser speaks TLS, with the server or with the program in front of it; that may put its own Host in place. */
export function isSecure({ headers }: IncomingMessage, { secure, origin }: Place): boolean {
  if (secure || !origin?.startsWith("https:")) return secure;
  return headers.host === new URL(origin).host || headers["x-forwarded-proto"] === "https";
}

/** The names of a machine that listens on all its addresses: those, and what it calls itself. */
function ownNames(): readonly string[] {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return [hostname().toLowerCase(), ...addresses.map(({ address }) => bracketed(address))];
}

function bracketed(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

/** What carries the ticket of our page. A browser's socket has no headers of its own. */
const TICKET_HEADER = "x-blockyard-ticket";
/** What carries the signature of our page under one call. */
export const PROOF_HEADER = "x-blockyard-proof";

/** The caller, or why it is refused: the one place that decides who a request is. */
export function guard(
  request: IncomingMessage,
  auth: Auth,
  addresses: Addresses,
  upgraded?: URL,
): Caller | Refusal {
  const wrongPlace = checkAddress(request, addresses);
  if (wrongPlace) return wrongPlace;
  const ticket = upgraded?.searchParams.get("ticket") ?? request.headers[TICKET_HEADER];
  const caller = auth.caller(request.headers, addresses.port, ticket === undefined ? ticket : String(ticket));
  if (!caller) return unauthorized(request, auth);
  if (caller.by === "token") return caller;
  const onlyReads = request.method === "GET" || request.method === "HEAD";
  if (request.headers.origin === undefined) {
    if (upgraded || !onlyReads) return refusal(403, "a request with a cookie needs an Origin header");
    if (isFromElsewhere(request))
      return refusal(403, "cross-site requests with this browser's cookie are refused");
  }
  if (caller.by === "page" || isForCookies(request)) return caller;
  return refusal(
    401,
    "a cookie alone only loads the page, because other servers on this host receive it too",
  );
}

/** The addresses at which a page shows that it is ours. */
const PROVING: readonly string[] = ["/v1/session", "/v1/session/bind", "/v1/session/ticket"];

/** What a browser asks for before our page can show that it is ours: the page's files, and the way to show it. */
function isForCookies({ method, url = "" }: IncomingMessage): boolean {
  const path = pathOf(url);
  return PROVING.includes(path) || (method === "GET" && isPagePath(path));
}

function pathOf(url: string): string {
  return url.split(/[?#]/, 1)[0] ?? "";
}

const PLAIN_CHARACTER = /^[\w.~-]$/;

/**
 * Whether a path is written in the one way that needs no reading: no dots to be resolved, no letter that is escaped without need. In
 * any other the guard and the router could see different addresses.
 */
function isPlain(url: string): boolean {
  const path = pathOf(url);
  if (!URL.canParse(path, "http://localhost") || new URL(path, "http://localhost").pathname !== path)
    return false;
  return [...path.matchAll(/%(..)/g)].every(
    ([, hex]) => !PLAIN_CHARACTER.test(String.fromCharCode(Number.parseInt(hex ?? "", 16))),
  );
}

/** Whether a path is one of the page's own. */
export function isPagePath(path: string): boolean {
  return !/^\/(v1|mcp|health|metrics)(\/|$)/.test(path);
}

/** What a person calls the browser that has come. */
export function browserOf({ headers }: IncomingMessage): string {
  const agent = headers["user-agent"] ?? "";
  const named = (table: typeof BROWSERS) => table.find(([, mark]) => mark.test(agent))?.[0];
  const browser = named(BROWSERS) ?? "a browser";
  const system = named(SYSTEMS);
  return system === undefined ? browser : `${browser} on ${system}`;
}

/** Each also says the names of those below it, to be taken for them. */
const BROWSERS: readonly (readonly [string, RegExp])[] = [
  ["Edge", /\bEdg(A|iOS)?\//],
  ["Opera", /\bOPR\//],
  ["Firefox", /\b(Firefox|FxiOS)\//],
  ["Chrome", /(\b|Headless)Chrome\/|\bCriOS\//],
  ["Safari", /\bSafari\//],
];

const SYSTEMS: typeof BROWSERS = [
  ["Android", /\bAndroid\b/],
  ["iPhone", /\biPhone\b/],
  ["iPad", /\biPad\b/],
  ["Windows", /\bWindows\b/],
  ["macOS", /\bMac OS X\b/],
  ["ChromeOS", /\bCrOS\b/],
  ["Linux", /\bLinux\b/],
];

export function isRefusal(value: Caller | Refusal): value is Refusal {
  return "status" in value;
}

/** Why a request has come to the wrong place. */
export function checkAddress(request: IncomingMessage, addresses: Addresses): Refusal | undefined {
  const hosts = request.rawHeaders.filter((name, i) => i % 2 === 0 && name.toLowerCase() === "host");
  if (hosts.length !== 1) return refusal(400, "exactly one Host header is required");
  if (!addresses.hosts.has(request.headers.host ?? ""))
    return refusal(
      421,
      "this server does not answer to that Host; behind a proxy, start it with --origin and the address that browsers use",
    );
  if (!request.url?.startsWith("/")) return refusal(400, "the request target must be a path");
  if (!isPlain(request.url))
    return refusal(400, "send a normalized path: without dot segments and without escaped letters or digits");
  const { origin } = request.headers;
  if (origin !== undefined && !addresses.origins.has(origin))
    return refusal(403, "this Origin is not allowed");
  const { "content-encoding": encoding = "identity", "transfer-encoding": transfer = "chunked" } =
    request.headers;
  if (encoding !== "identity" || transfer.trim().toLowerCase() !== "chunked")
    return refusal(415, "compressed requests are not accepted");
  return undefined;
}

/**
 * Cookies do not know ports: a page of another server on this machine counts as the same site, and its pictures and
 * scripts would come with the cookie and without an Origin. The browser says where they are from. Following a link is
 * allowed, since its answer goes to the owner's eyes only.
 */
function isFromElsewhere({ headers }: IncomingMessage): boolean {
  const site = headers["sec-fetch-site"];
  if (site === undefined || site === "same-origin" || site === "none") return false;
  return headers["sec-fetch-mode"] !== "navigate" || headers["sec-fetch-dest"] !== "document";
}

function unauthorized(request: IncomingMessage, auth: Auth): Refusal {
  const delayMs = auth.penalty(request.socket.remoteAddress ?? "unknown");
  return {
    status: 401,
    message: "a valid token or session is required. A link works once; for another: blockyard link",
    delayMs,
  };
}

function refusal(status: number, message: string): Refusal {
  return { status, message, delayMs: 0 };
}
