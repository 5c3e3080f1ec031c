/**
 * The HTTP gateway: every request and every upgrade passes the guard here before a router, a body or a socket is
 * touched. It also watches open connections: a caller whose token has been revoked is disconnected.
 *
 * Nothing that an unauthenticated client sends may throw here: an exception in this file would end the process.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { isProblem, limits, may, type Problem, problem } from "@blockyard/kernel";
import type { Log } from "../system/log.ts";
import type { OwnerFirst } from "../system/owner-first.ts";
import type { Rounds } from "../system/rounds.ts";
import type { Audit } from "./audit.ts";
import { type Auth, type Caller, setCookie } from "./auth.ts";
import { PAGE_POLICY } from "./content-policy.ts";
import {
  type Addresses,
  addressesOf,
  browserOf,
  checkAddress,
  guard,
  isPagePath,
  isRefusal,
  isSecure,
  type Place,
  PROOF_HEADER,
  type Refusal,
} from "./guard.ts";
import {
  BODY_MS,
  MAX_CONNECTIONS_EACH,
  MAX_GUEST_CONNECTIONS,
  MAX_UNAUTHENTICATED_CONNECTIONS,
  REVOKED_MS,
  TOO_OFTEN_MS,
} from "./limits.ts";
import type { Opened, PageSession } from "./page-sessions.ts";
import type { Quotas } from "./quotas.ts";
import { endSocket, endWith } from "./refused-answer.ts";

interface HttpGatewayOptions {
  readonly place: Place;
  readonly auth: Auth;
  readonly log: Log;
  /** The log of sign-ins by link. */
  readonly audit: Audit;
  /** A caller's quota, and how long until it may send more. */
  readonly quotas: Pick<Quotas, "take" | "waits">;
  /** Where requests of others than the owner wait for processing. */
  readonly rounds: Rounds;
  /** Called while the owner waits for an answer. */
  readonly ownerFirst: OwnerFirst;
  /** Called on every refusal. */
  readonly onRefused?: () => void;
}

interface Inside {
  readonly caller: Caller;
  cut(): void;
}

const STREAMED = new Set(["/v1/ingest", "/v1/import"]);

const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy": PAGE_POLICY,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
};

export class HttpGateway {
  readonly #options: HttpGatewayOptions;
  readonly #callers = new WeakMap<IncomingMessage, Caller>();
  readonly #inside = new Set<Inside>();
  /** Unauthenticated connections, oldest first. */
  readonly #unauthenticated = new Map<string, Socket>();
  /** Where each agent and viewer is connected from, by the hash of its token. */
  readonly #places = new Map<string, Set<string>>();
  /** Connections of all agents and viewers. */
  #guests = 0;
  readonly #watch: NodeJS.Timeout;
  #addresses: Addresses = { port: 0, hosts: new Set(), origins: new Set() };

  constructor(options: HttpGatewayOptions) {
    this.#options = options;
    this.#watch = setInterval(() => this.#putOut(), REVOKED_MS);
    this.#watch.unref();
  }

  /** Nobody is admitted before the port is known. */
  open(port: number, localPort?: number): void {
    this.#addresses = addressesOf(this.#options.place, port, localPort);
  }

  close(): void {
    clearInterval(this.#watch);
  }

  /** Callers with write access that have a request or a socket open here now. */
  agents(): ReadonlySet<string> {
    const present = new Set<string>();
    for (const { caller } of this.#inside) if (may(caller.role, "present")) present.add(caller.agent);
    return present;
  }

  callerOf(request: IncomingMessage): Caller {
    const caller = this.#callers.get(request);
    if (!caller) throw new Error("a request got past the guard");
    return caller;
  }

  /** Every connection, before a byte of it has come. Unauthenticated ones push out each other, never callers. */
  arrive(socket: Socket): void {
    const place = placeOf(socket);
    this.#unauthenticated.set(place, socket);
    socket.once("close", () => {
      if (this.#unauthenticated.get(place) === socket) this.#unauthenticated.delete(place);
    });
    for (const [oldest, unauthenticated] of this.#unauthenticated) {
      if (this.#unauthenticated.size <= MAX_UNAUTHENTICATED_CONNECTIONS) break;
      this.#unauthenticated.delete(oldest);
      unauthenticated.destroy();
    }
  }

  http(
    request: IncomingMessage,
    response: ServerResponse,
    next: (request: IncomingMessage, response: ServerResponse) => void,
  ): void {
    const { auth, quotas, rounds } = this.#options;
    const guest = auth.guest(request.headers);
    if (guest === undefined) return this.#admit(request, response, next);
    const waitMs = quotas.waits(guest.agent);
    if (waitMs > 0) return this.#turnAway(request, response, guest.hash, waitMs);
    // The access check also waits its turn: many requests may arrive at the same moment.
    rounds.enter(() => this.#admit(request, response, next));
  }

  /** A caller over its limit is refused by token and address alone: nothing else that it sends costs anything. */
  #turnAway(request: IncomingMessage, response: ServerResponse, hash: string, waitMs: number): void {
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value);
    const isSeated = this.#seat({ hash }, request.socket);
    if (isSeated) this.#unauthenticated.delete(placeOf(request.socket));
    const refusal = checkAddress(request, this.#addresses) ?? (isSeated ? TOO_OFTEN : TOO_MANY);
    if (refusal === TOO_OFTEN) response.setHeader("retry-after", Math.ceil(waitMs / 1_000));
    this.#refuse(request, refusal, (body) => endWith(request, response, refusal, body));
  }

  #admit(
    request: IncomingMessage,
    response: ServerResponse,
    next: (request: IncomingMessage, response: ServerResponse) => void,
  ): void {
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value);
    const url = targetOf(request);
    if (url && this.#trade(request, response, url)) return;
    const caller = guard(request, this.#options.auth, this.#addresses);
    if (isRefusal(caller))
      return this.#refuse(request, caller, (body) => endWith(request, response, caller, body));
    if (!url)
      return this.#refuse(request, BAD_TARGET, (body) => endWith(request, response, BAD_TARGET, body));
    if (!this.#seat(caller, request.socket))
      return this.#refuse(request, TOO_MANY, (body) => endWith(request, response, TOO_MANY, body));
    this.#unauthenticated.delete(placeOf(request.socket));
    // A used link still opens the page in a browser that already has a session.
    if (linkCode(request, url) !== undefined) return redirect(response, url);
    const waitMs = this.#options.quotas.take(caller);
    if (waitMs > 0) {
      response.setHeader("retry-after", Math.ceil(waitMs / 1_000));
      return this.#refuse(request, TOO_OFTEN, (body) => endWith(request, response, TOO_OFTEN, body));
    }
    this.#callers.set(request, caller);
    this.#remember(caller, response, () => request.socket.destroy());
    if (request.headers.expect !== undefined) response.writeContinue();
    if (!STREAMED.has(url.pathname) && hasBody(request)) boundBody(request);
    if (caller.role !== "owner") return this.#options.rounds.enter(() => next(request, response));
    response.once("close", this.#options.ownerFirst.begin());
    next(request, response);
  }

  /** `next` answers whether the path can be upgraded. */
  upgrade(request: IncomingMessage, socket: Duplex, next: (caller: Caller, url: URL) => boolean): void {
    // From here on nobody else handles this socket's errors, and an unhandled one ends the process.
    socket.on("error", () => socket.destroy());
    const url = targetOf(request);
    const caller = guard(request, this.#options.auth, this.#addresses, url ?? new URL("http://localhost"));
    if (isRefusal(caller)) return this.#refuse(request, caller, () => endSocket(socket, caller.status));
    if (!url) return this.#refuse(request, BAD_TARGET, () => endSocket(socket, BAD_TARGET.status));
    if (!this.#seat(caller, request.socket))
      return this.#refuse(request, TOO_MANY, () => endSocket(socket, TOO_MANY.status));
    this.#unauthenticated.delete(placeOf(request.socket));
    if (this.#options.quotas.take(caller) > 0)
      return this.#refuse(request, TOO_OFTEN, () => endSocket(socket, TOO_OFTEN.status));
    if (!next(caller, url)) return endSocket(socket, 404);
    this.#remember(caller, socket, () => socket.destroy());
  }

  /**
   * Exchanges a link's code for a session: its cookie, and the secret with which the page binds it, which the page
   * removes from the address at once. False without a valid code.
   */
  #trade(request: IncomingMessage, response: ServerResponse, url: URL): boolean {
    const { auth, place, log, audit } = this.#options;
    const code = linkCode(request, url);
    if (code === undefined || checkAddress(request, this.#addresses)) return false;
    const traded = auth.trade(code, browserOf(request));
    if (!traded) return false;
    this.#unauthenticated.delete(placeOf(request.socket));
    const { id, role, agent, name } = traded.session;
    const doer = { agent, role, by: "link", session: id };
    void audit.record(doer, "session.open", { name }).then((entry) => {
      if (isProblem(entry)) {
        auth.sessions.revoke(id);
        return endWith(request, response, NOT_WRITTEN, entry);
      }
      response.setHeader("set-cookie", setCookie(traded, this.#addresses.port, isSecure(request, place)));
      log("info", "browser signed in", { agent, role, session: id });
      url.searchParams.set("bind", traded.bind);
      redirect(response, url);
    });
    return true;
  }

  /** The caller of a tool; with the proof of its page, if it has signed this call. */
  callerWith(request: IncomingMessage, tool: string, body: Uint8Array): Caller {
    const caller = this.callerOf(request);
    const signed = request.headers[PROOF_HEADER];
    const { sessions, origin } = this.session(request);
    const session = sessions.find(({ id }) => id === caller.session);
    if (caller.by !== "page" || typeof signed !== "string" || !session) return caller;
    const proof = this.#options.auth.proof.call(session, origin, signed, tool, body);
    return proof === undefined ? caller : { ...caller, proof };
  }

  /** The page's way to show that it is ours (transports/page-session.ts). */
  session(request: IncomingMessage): SessionAsked {
    const { auth, place } = this.#options;
    const { port } = this.#addresses;
    return {
      sessions: auth.sessionsOf(request.headers, port),
      origin: request.headers.origin ?? "",
      cookie: (opened) => setCookie(opened, port, isSecure(request, place)),
    };
  }

  #refuse(request: IncomingMessage, refusal: Refusal, end: (body: Problem) => void): void {
    this.#options.onRefused?.();
    this.#options.log("warn", "refused", {
      status: refusal.status,
      why: refusal.message,
      method: request.method,
      path: (request.url ?? "").split(/[?#]/, 1)[0]?.slice(0, 200),
      peer: request.socket.remoteAddress,
    });
    const body = problem(refusal.status === 429 ? "busy" : "forbidden", refusal.message);
    if (refusal.delayMs === 0) end(body);
    else setTimeout(() => end(body), refusal.delayMs * (1 + Math.random())).unref();
  }

  /** Counts a connection for its caller; false if that has too many. The owner may use all there are. */
  #seat({ hash }: Pick<Caller, "hash">, socket: Socket): boolean {
    if (hash === undefined) return true;
    const places = this.#places.get(hash) ?? new Set();
    const place = placeOf(socket);
    if (places.has(place)) return true;
    if (places.size >= MAX_CONNECTIONS_EACH || this.#guests >= MAX_GUEST_CONNECTIONS) return false;
    this.#guests++;
    this.#places.set(hash, places.add(place));
    socket.once("close", () => {
      this.#guests--;
      places.delete(place);
      if (places.size === 0) this.#places.delete(hash);
    });
    return true;
  }

  #remember(caller: Caller, until: ServerResponse | Duplex, cut: () => void): void {
    const inside = { caller, cut };
    this.#inside.add(inside);
    until.once("close", () => this.#inside.delete(inside));
  }

  #putOut(): void {
    for (const { caller, cut } of this.#inside) {
      if (this.#options.auth.isCurrent(caller)) continue;
      this.#options.log("warn", "disconnected: its token or session was revoked", {
        agent: caller.agent,
        role: caller.role,
      });
      cut();
    }
  }
}

/** The body of a request to the session's addresses. */
export interface SessionAsked {
  readonly sessions: readonly PageSession[];
  readonly origin: string;
  cookie(opened: Opened): string;
}

/** To the same address without the link's code. One slash: two would name another host. */
function redirect(response: ServerResponse, url: URL): void {
  url.searchParams.delete("link");
  response.writeHead(303, { location: `/${url.pathname.replace(/^[/\\]+/, "")}${url.search}` });
  response.end();
}

const BAD_TARGET: Refusal = { status: 400, message: "the request target must be a path", delayMs: 0 };

const NOT_WRITTEN: Refusal = { status: 503, message: "the audit log cannot be written", delayMs: 0 };
const TOO_OFTEN: Refusal = {
  status: 429,
  message: `rate limit: ${limits.requestsPerMinute} requests per minute for an agent or viewer; wait`,
  delayMs: TOO_OFTEN_MS,
};

const TOO_MANY: Refusal = {
  status: 429,
  message: `a token may have ${MAX_CONNECTIONS_EACH} connections at once: close or reuse some`,
  delayMs: 0,
};

/** The requested path; undefined if it is not one. */
function targetOf({ url }: IncomingMessage): URL | undefined {
  if (!url?.startsWith("/") || url.startsWith("//")) return undefined;
  return URL.canParse(url, "http://localhost") ? new URL(url, "http://localhost") : undefined;
}

/** Only the page's own address takes a link's code from the query, and only to trade it. */
function linkCode({ method }: IncomingMessage, { pathname, searchParams }: URL): string | undefined {
  if (method !== "GET" || !isPagePath(pathname)) return undefined;
  return searchParams.get("link") ?? undefined;
}

/** Under TLS a request's socket is another object than its connection's, with the same addresses. */
function placeOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

/** A request without a body never ends if nobody reads it: its time to answer is not a body's. */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

function boundBody(request: IncomingMessage): void {
  const timer = setTimeout(() => request.destroy(), BODY_MS);
  timer.unref();
  const clear = () => clearTimeout(timer);
  request.once("end", clear);
  request.once("close", clear);
}
