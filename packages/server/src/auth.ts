/**
 * Who may come in. A random token always; there is no way to switch it off. Three credentials name a caller: the owner's
 * token, the owner's cookie (traded from the link), and tokens made for agents and viewers. Role and agent come from the
 * credential and from nothing else.
 *
 * The owner's token is a file that only its owner can read. Other tokens are kept as hashes. Comparison takes the same
 * time whatever is compared; a peer that guesses is slowed down, and nobody else with it.
 */

import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isAgentId } from "@blockyard/kernel";

export type CallerRole = "owner" | "agent" | "viewer";

export interface Caller {
  readonly agent: string;
  readonly role: CallerRole;
  /** How it came in: what a cookie opens, another site could try to use. */
  readonly by: "token" | "cookie";
}

export interface TokenRecord {
  readonly hash: string;
  readonly agent: string;
  readonly role: CallerRole;
  readonly createdAt: number;
}

export const COOKIE = "blockyard";
const BAD_PER_MINUTE = 20;
const GUESS_DELAY_MS = 1_000;
const MAX_PEERS = 10_000;

export class AuthError extends Error {
  override name = "AuthError";
}

export class Auth {
  readonly #home: string;
  readonly #ownerHash: Buffer;
  readonly #cookieHash: Buffer;
  readonly #cookie: string;
  readonly ownerToken: string;
  readonly ownerAgent: string;
  readonly #now: () => number;
  readonly #bad = new Map<string, number[]>();
  #tokens: readonly TokenRecord[];
  #tokensMtime = -1;

  constructor(home: string, ownerAgent: string, now: () => number) {
    this.#home = home;
    this.#now = now;
    this.ownerAgent = ownerAgent;
    this.ownerToken = readOrMakeToken(join(home, "token"));
    this.#ownerHash = sha256(this.ownerToken);
    this.#cookie = createHmac("sha256", this.ownerToken).update("blockyard cookie").digest("base64url");
    this.#cookieHash = sha256(this.#cookie);
    this.#tokens = [];
    this.#readTokens();
  }

  /** The caller that a request's headers name; undefined if they name none. */
  caller(headers: { authorization?: string | undefined; cookie?: string | undefined }): Caller | undefined {
    const bearer = /^Bearer ([A-Za-z0-9_-]{1,200})$/.exec(headers.authorization ?? "")?.[1];
    if (headers.authorization !== undefined) return bearer === undefined ? undefined : this.byToken(bearer);
    const cookie = cookieOf(headers.cookie);
    if (cookie !== undefined && timingSafeEqual(sha256(cookie), this.#cookieHash)) {
      return { agent: this.ownerAgent, role: "owner", by: "cookie" };
    }
    return undefined;
  }

  byToken(token: string): Caller | undefined {
    const hash = sha256(token);
    let found: Caller | undefined;
    if (timingSafeEqual(hash, this.#ownerHash))
      found = { agent: this.ownerAgent, role: "owner", by: "token" };
    this.#readTokens();
    for (const record of this.#tokens) {
      const same = timingSafeEqual(hash, Buffer.from(record.hash, "hex"));
      if (same) found ??= { agent: record.agent, role: record.role, by: "token" };
    }
    return found;
  }

  /** The cookie that the link is traded for. */
  setCookie(secure: boolean): string {
    return `${COOKIE}=${this.#cookie}; Path=/; HttpOnly; SameSite=Strict; Max-Age=31536000${secure ? "; Secure" : ""}`;
  }

  /** Notes a wrong credential; how long to wait before answering. */
  penalty(peer: string): number {
    const now = this.#now();
    const recent = (this.#bad.get(peer) ?? []).filter((at) => now - at < 60_000);
    recent.push(now);
    if (this.#bad.size > MAX_PEERS) this.#bad.clear();
    this.#bad.set(peer, recent.slice(-BAD_PER_MINUTE - 1));
    return recent.length > BAD_PER_MINUTE ? GUESS_DELAY_MS : 0;
  }

  /** Makes a token for an agent or a viewer. It is shown once; only its hash is kept. */
  create(agent: string, role: "agent" | "viewer"): string {
    if (!isAgentId(agent)) {
      throw new AuthError(
        `"${agent}" is not an agent name: lower-case letters, digits, dots and dashes, at most 64`,
      );
    }
    if (agent === this.ownerAgent) throw new AuthError(`"${agent}" is the owner's own name; choose another`);
    const token = randomBytes(32).toString("base64url");
    const record = { hash: sha256(token).toString("hex"), agent, role, createdAt: this.#now() };
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

  /** Another process (the `token` command) may have changed them: a revoked token ends at once. */
  #readTokens(): void {
    const path = join(this.#home, "tokens.json");
    const stat = statSync(path, { throwIfNoEntry: false });
    if (!stat) {
      this.#tokens = [];
      return;
    }
    if (stat.mtimeMs === this.#tokensMtime) return;
    refuseIfReadable(path, stat.mode);
    this.#tokens = JSON.parse(readFileSync(path, "utf8")) as TokenRecord[];
    this.#tokensMtime = stat.mtimeMs;
  }

  #writeTokens(tokens: readonly TokenRecord[]): void {
    const path = join(this.#home, "tokens.json");
    writeFileSync(`${path}.new`, JSON.stringify(tokens, null, 2), { mode: 0o600 });
    renameSync(`${path}.new`, path);
    this.#tokensMtime = -1;
    this.#readTokens();
  }
}

function readOrMakeToken(path: string): string {
  if (!existsSync(path)) {
    writeFileSync(path, `${randomBytes(32).toString("base64url")}\n`, { mode: 0o600, flag: "wx" });
  }
  refuseIfReadable(path, statSync(path).mode);
  const token = readFileSync(path, "utf8").trim();
  if (!/^[A-Za-z0-9_-]{43}$/.test(token)) {
    throw new AuthError(`${path} does not hold a token; delete it and start again to get a new one`);
  }
  return token;
}

function refuseIfReadable(path: string, mode: number): void {
  if (process.platform === "win32" || (mode & 0o077) === 0) return;
  throw new AuthError(
    `${path} can be read by others (mode ${(mode & 0o777).toString(8)}): run chmod 600 on it`,
  );
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

function cookieOf(header: string | undefined): string | undefined {
  for (const part of (header ?? "").split(";")) {
    const [name, value] = part.trim().split("=", 2);
    if (name === COOKIE && value !== undefined) return value;
  }
  return undefined;
}
