/**
 * Authentication. It cannot be switched off. Three credentials identify a caller: the owner's token, tokens made for agents and
 * viewers, and browser sessions, each with a cookie from a link that works once (page-sessions.ts) and a ticket that only
 * the page can get (page-proof.ts). Role and agent come only from the credential.
 *
 * The owner's token is a file that only its owner can read. Other tokens are stored as hashes. Comparisons take constant time; a
 * peer that guesses is slowed down, without affecting others.
 */

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { readFileSync, type Stats, statSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import type { CallerRole } from "@blockyard/kernel";
import { isAgentId } from "@blockyard/kernel/plain";
import { createPrivate, writePrivate } from "../system/private-file.ts";
import { MISLEADING, PROVIDER_NAMES, RESERVED } from "./agent-names.ts";
import { AuthError } from "./auth-error.ts";
import { BAD_TOKENS_PER_MINUTE, GUESS_DELAY_MS, MAX_PEERS, SESSION_MS } from "./limits.ts";
import { PageProof } from "./page-proof.ts";
import { type Opened, type PageSession, PageSessions } from "./page-sessions.ts";

export type { CallerRole };

export interface Caller {
  readonly agent: string;
  readonly role: CallerRole;
  /**
   * How it came in. A page has shown a session's cookie and a ticket that only our page can get. A cookie alone could come
   * from any server on this host: it opens the page's own files and nothing else.
   */
  readonly by: "token" | "page" | "cookie";
  /** Which token it was, where it is one that can be taken back. */
  readonly hash?: string;
  /** Which session of a browser it is. */
  readonly session?: string;
  /** What its page has signed for this call alone; it is used up with it. */
  readonly proof?: string;
}

export interface TokenRecord {
  readonly hash: string;
  readonly agent: string;
  readonly role: CallerRole;
  readonly createdAt: number;
}

export { RESERVED };

export class Auth {
  readonly #home: string;
  readonly #ownerHash: Buffer;
  readonly ownerToken: string;
  readonly ownerAgent: string;
  readonly sessions: PageSessions;
  readonly proof: PageProof;
  /** Whether another node has revoked a session. */
  isRevoked: (session: string) => boolean = () => false;
  readonly #now: () => number;
  readonly #bad = new Map<string, number[]>();
  #tokens: readonly TokenRecord[];
  /** Their hashes, to compare. */
  #hashes: readonly Buffer[] = [];
  #tokensSeen = "";
  /** Told when the file of tokens cannot be used; until it can, none of them opens anything. */
  onFault: ((message: string) => void) | undefined;

  constructor(home: string, ownerAgent: string, now: () => number) {
    this.#home = home;
    this.#now = now;
    this.ownerAgent = ownerAgent;
    this.ownerToken = readOrMakeToken(join(home, "token"));
    this.#ownerHash = sha256(this.ownerToken);
    this.#tokens = [];
    this.sessions = new PageSessions(home, Date.now, this.ownerToken);
    this.proof = new PageProof(this.ownerToken, Date.now);
    this.#readTokens();
  }

  /** The caller that a request's headers name; undefined if they name none. `ticket`: what shows that our page has asked. */
  caller(headers: Credentials, port: number, ticket?: string): Caller | undefined {
    const bearer = /^Bearer ([A-Za-z0-9_-]{1,200})$/.exec(headers.authorization ?? "")?.[1];
    if (headers.authorization !== undefined) return bearer === undefined ? undefined : this.byToken(bearer);
    const sessions = this.sessionsOf(headers, port);
    const proven = ticket === undefined ? undefined : this.proof.sessionOf(ticket);
    const session = sessions.find(({ id }) => id === proven) ?? sessions[0];
    return session && this.callerOf(session, session.id === proven ? "page" : "cookie");
  }

  /** The agent or viewer whose token this had at the last look. No leave: only whose turn it is, and whether that has come. */
  guest({ authorization = "" }: Credentials): TokenRecord | undefined {
    if (!authorization.startsWith("Bearer ")) return undefined;
    const hash = sha256(authorization.slice("Bearer ".length)).toString("hex");
    return this.#tokens.find((record) => record.hash === hash);
  }

  byToken(token: string): Caller | undefined {
    const hash = sha256(token);
    let found: Caller | undefined;
    if (timingSafeEqual(hash, this.#ownerHash))
      found = { agent: this.ownerAgent, role: "owner", by: "token" };
    this.#refresh();
    for (const [i, record] of this.#tokens.entries()) {
      const same = timingSafeEqual(hash, this.#hashes[i] as Buffer);
      if (same) found ??= { agent: record.agent, role: record.role, by: "token", hash: record.hash };
    }
    return found;
  }

  /**
   * The sessions of a browser, the owner's first: a viewer's is beside it. Whoever else serves pages on this host name can
   * set cookies of any name here, so each that could be ours is tried, also several of one name.
   */
  sessionsOf({ cookie }: Credentials, port: number): readonly PageSession[] {
    const found = new Map<string, PageSession>();
    for (const { id, secret } of cookiesOf(cookie, port)) {
      const session = this.sessions.open(id, secret);
      // Of two that are genuine the one counts that is bound.
      if (session && !this.isRevoked(id) && this.#isKnown(session) && found.get(id)?.key === undefined)
        found.set(id, session);
    }
    return [...found.values()].sort((a, b) => Number(b.role === "owner") - Number(a.role === "owner"));
  }

  callerOf({ id, role, agent, hash }: PageSession, by: "page" | "cookie"): Caller {
    if (role === "owner") return { agent: this.ownerAgent, role, by, session: id };
    return { agent, role, by, session: id, ...(hash === undefined ? {} : { hash }) };
  }

  /** A viewer's session ends with its token. */
  #isKnown({ role, hash }: PageSession): boolean {
    if (role === "owner") return true;
    this.#refresh();
    return this.#tokens.some((record) => record.hash === hash && record.role === "viewer");
  }

  /** A link's code, for the owner's browser, or for that of a viewer whose token is given. It works once. */
  makeLink(token = this.ownerToken, name = ""): string {
    const caller = this.byToken(token);
    if (!caller || caller.role === "agent")
      throw new AuthError("links are for people: send an agent's token in the Authorization header");
    const { role, agent, hash } = caller;
    return this.sessions.makeLink({ role, agent, name, ...(hash === undefined ? {} : { hash }) });
  }

  /** Whether what let a caller in would still do so. */
  isCurrent({ hash, session }: Caller): boolean {
    if (session !== undefined && (!this.sessions.isLive(session) || this.isRevoked(session))) return false;
    if (hash === undefined) return true;
    this.#refresh();
    return this.#tokens.some((record) => record.hash === hash);
  }

  /** Trades a link's code; undefined for one that was used, has ended, or never was. */
  trade(code: string, name: string): ReturnType<PageSessions["trade"]> {
    const traded = this.sessions.trade(code, name);
    return traded && this.#isKnown(traded.session) ? traded : undefined;
  }

  /** Notes a wrong credential; how long to wait before answering. */
  penalty(peer: string): number {
    const now = this.#now();
    const recent = (this.#bad.get(peer) ?? []).filter((at) => now - at < 60_000);
    recent.push(now);
    if (this.#bad.size > MAX_PEERS) this.#bad.clear();
    this.#bad.set(peer, recent.slice(-BAD_TOKENS_PER_MINUTE - 1));
    return recent.length > BAD_TOKENS_PER_MINUTE ? GUESS_DELAY_MS : 0;
  }

  /** Makes a token for an agent or a viewer. It is shown once; only its hash is kept. */
  create(agent: string, role: "agent" | "viewer"): string {
    if (!isAgentId(agent)) {
      throw new AuthError(
        `"${agent}" is not a valid agent name: use lower-case letters, digits, dots and dashes, at most 64`,
      );
    }
    if (agent === this.ownerAgent || agent === ownerName())
      throw new AuthError(`"${agent}" is the owner's name; choose another`);
    if (RESERVED.includes(agent))
      throw new AuthError(`"${agent}" is reserved for the server; choose another`);
    if (MISLEADING.has(agent))
      throw new AuthError(
        `"${agent}" could be mistaken for someone else; choose a name such as ${agent}-mcp`,
      );
    if (PROVIDER_NAMES.has(agent))
      throw new AuthError(
        `"${agent}" is reserved for that provider's agents; choose another, such as ${agent}-mcp`,
      );
    const token = randomBytes(32).toString("base64url");
    const record = { hash: sha256(token).toString("hex"), agent, role, createdAt: Date.now() };
    this.#readTokens();
    this.#writeTokens([...this.#tokens, record]);
    return token;
  }

  revoke(agent: string): number {
    this.#readTokens();
    const kept = this.#tokens.filter((record) => record.agent !== agent);
    const revoked = this.#tokens.length - kept.length;
    if (revoked > 0) this.#writeTokens(kept);
    return revoked;
  }

  list(): readonly TokenRecord[] {
    this.#readTokens();
    return this.#tokens;
  }

  /** As #readTokens, for a running server: a file that cannot be used opens nothing and stops nothing. */
  #refresh(): void {
    try {
      this.#readTokens();
    } catch (error) {
      this.#tokens = [];
      this.#tokensSeen = "";
      this.onFault?.((error as Error).message);
    }
  }

  /** Another process (the `token` command) may have changed them: a revoked token ends at once. */
  #readTokens(): void {
    const path = join(this.#home, "tokens.json");
    const stat = statSync(path, { throwIfNoEntry: false });
    const seen = stat ? fingerprint(stat) : "none";
    if (seen === this.#tokensSeen) return;
    if (stat) refuseIfReadable(path, stat.mode);
    const kept = stat ? parseTokens(path, readFileSync(path, "utf8")) : [];
    // Versions before let a token have the name of a provider, under which it could end that agent's calls.
    this.#tokens = kept.filter(({ agent }) => !PROVIDER_NAMES.has(agent));
    this.#hashes = this.#tokens.map(({ hash }) => Buffer.from(hash, "hex"));
    for (const { agent } of kept.filter((record) => PROVIDER_NAMES.has(record.agent)))
      this.onFault?.(
        `the token of ${agent} has a provider's name and is not valid: create one with another name`,
      );
    this.#tokensSeen = seen;
  }

  #writeTokens(tokens: readonly TokenRecord[]): void {
    const path = join(this.#home, "tokens.json");
    writePrivate(path, JSON.stringify(tokens, null, 2));
    this.#tokensSeen = "";
    this.#readTokens();
  }
}

/** The owner writes under the name of the account, as far as that can be an agent's name. */
export function ownerName(): string {
  const name = userInfo().username.toLowerCase();
  return isAgentId(name) && !RESERVED.includes(name) ? name : "owner";
}

/** A file's time is coarse: the inode tells two writes of one moment apart. */
function fingerprint({ ino, mtimeMs, size, mode }: Stats): string {
  return `${ino} ${mtimeMs} ${size} ${mode}`;
}

function parseTokens(path: string, text: string): readonly TokenRecord[] {
  const broken = new AuthError(`${path} is damaged: delete it, then create your agents' tokens again`);
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch {
    throw broken;
  }
  if (!Array.isArray(list) || !list.every(isRecord)) throw broken;
  return list;
}

function isRecord(value: unknown): value is TokenRecord {
  const { hash, agent, role } = (value ?? {}) as Partial<Record<keyof TokenRecord, unknown>>;
  const isHash = typeof hash === "string" && /^[0-9a-f]{64}$/.test(hash);
  return isHash && typeof agent === "string" && isAgentId(agent) && (role === "agent" || role === "viewer");
}

function readOrMakeToken(path: string): string {
  const made = () => `${randomBytes(32).toString("base64url")}\n`;
  const size = statSync(path, { throwIfNoEntry: false })?.size;
  if (size === undefined) createPrivate(path, made());
  else if (size === 0) writePrivate(path, made()); // what a failed write has left: there is no token to lose
  refuseIfReadable(path, statSync(path).mode);
  const token = readFileSync(path, "utf8").trim();
  if (!/^[A-Za-z0-9_-]{43}$/.test(token)) {
    throw new AuthError(`${path} does not contain a token; delete it and restart to get a new one`);
  }
  return token;
}

function refuseIfReadable(path: string, mode: number): void {
  if (process.platform === "win32" || (mode & 0o077) === 0) return;
  throw new AuthError(
    `${path} is readable by others (mode ${(mode & 0o777).toString(8)}): run chmod 600 on it`,
  );
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** What a request shows of who has sent it. */
export interface Credentials {
  readonly authorization?: string | undefined;
  readonly cookie?: string | undefined;
}

/** A session's cookie. Its name holds the port and the session: browsers share cookies between ports. */
export function setCookie({ session, cookie }: Opened, port: number, secure: boolean): string {
  const rest = `Path=/; HttpOnly; SameSite=Strict; Max-Age=${SESSION_MS / 1000}${secure ? "; Secure" : ""}`;
  return `${cookiePrefix(port)}${session.id}=${cookie}; ${rest}`;
}

function cookiePrefix(port: number): string {
  return `blockyard-${port}-`;
}

/** What a session's cookie looks like: an id, what it says, and a signature. */
const COOKIE = /^([0-9a-f]{16})=([\w-]{100,}\.[\w-]{43})$/;

/**
 * Those that could be a session's, each once, however many others there are: of this length, few fit into a request. Only what was
 * signed here costs a look at the disk.
 */
function cookiesOf(header: string | undefined, port: number): readonly { id: string; secret: string }[] {
  const prefix = cookiePrefix(port);
  const parts = new Set((header ?? "").split(";").map((part) => part.trim()));
  return [...parts].flatMap((part) => {
    const [, id, secret] = (part.startsWith(prefix) && COOKIE.exec(part.slice(prefix.length))) || [];
    return id === undefined || secret === undefined ? [] : [{ id, secret }];
  });
}
