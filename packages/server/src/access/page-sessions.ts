/**
 * How people's browsers get in: a link that works once is traded for a session, which is a cookie of its own. Sessions are
 * named, listed, end by themselves, and are taken back one by one. The permanent token is in no link, so that no browser's
 * history and no other server on this host ever sees it.
 *
 * A link and a session are a small file each, in folders that only the owner reads, with hashes of what opens them: another
 * process (the `link` and `session` commands) makes and removes them while the server runs. Removing a file is what ends
 * it, and of two that remove the same link one succeeds: that is why a link works once.
 *
 * A cookie says itself whose session it is, signed with the owner's token. Nodes behind one address that share the token so
 * take each other's sessions.
 *
 * Browsers send a cookie to every port of a host name, so it opens nothing but the page's own files. The page makes a key
 * pair that never leaves its origin, binds the session to it once, with a secret that only the page has got, and proves
 * with it where its calls come from (page-proof.ts).
 */

import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { makeFolder } from "../system/folder.ts";
import { removePrivate, writePrivate } from "../system/private-file.ts";
import { BIND_MS, LINK_MS, SESSION_MS, SESSION_NAME_CHARS } from "./limits.ts";
import { isKey } from "./page-proof.ts";

/** For whom a link or a session is. */
interface Guest {
  readonly role: "owner" | "viewer";
  readonly agent: string;
  /** The hash of a viewer's token: with it everything ends that it has opened. */
  readonly hash?: string;
  readonly name: string;
}

export interface PageSession extends Guest {
  readonly id: string;
  /** The hash of the secret with which the page binds the session to its key. */
  readonly bindHash: string;
  /** The page's public key, as SPKI in base64url; absent until the session is bound. */
  readonly key?: string;
  readonly createdAt: number;
  readonly expiresAt: number;
}

/** A session with what its cookie holds. */
export interface Opened {
  readonly session: PageSession;
  readonly cookie: string;
}

/** The file of a link. */
const linkSchema = z.object({
  role: z.enum(["owner", "viewer"]),
  agent: z.string(),
  hash: z.string().exactOptional(),
  name: z.string(),
  expiresAt: z.number(),
}) satisfies z.ZodType<Guest & { readonly expiresAt: number }>;

const TAG_CHARS = 4;

export class PageSessions {
  readonly #links: string;
  readonly #sessions: string;
  readonly #now: () => number;
  readonly #key: string;
  /** What the ids of this node's sessions begin with. */
  readonly #tag: string;

  constructor(home: string, now: () => number, key: string) {
    this.#key = key;
    this.#tag = sha256(`${key} ${home}`).toString("hex").slice(0, TAG_CHARS);
    this.#links = join(home, "links");
    this.#sessions = join(home, "sessions");
    this.#now = now;
  }

  /** A code that is traded for a session once. */
  makeLink(guest: Guest): string {
    const code = randomBytes(32).toString("base64url");
    write(this.#links, sha256(code).toString("hex"), { ...guest, expiresAt: this.#now() + LINK_MS });
    return code;
  }

  /** The session that a code opens, and the secret that binds it; undefined for a code that was used or has ended. */
  trade(code: string, name: string): (Opened & { readonly bind: string }) | undefined {
    if (!/^[\w-]{43}$/.test(code)) return undefined;
    const file = sha256(code).toString("hex");
    const link = linkSchema.safeParse(read(this.#links, file)).data;
    if (!link || !remove(this.#links, file) || !(link.expiresAt > this.#now())) return undefined;
    const { expiresAt: _, ...guest } = link;
    const bind = randomBytes(32).toString("base64url");
    const session: PageSession = {
      ...guest,
      id: `${this.#tag}${randomBytes(6).toString("hex")}`,
      name: (guest.name || name).slice(0, SESSION_NAME_CHARS),
      bindHash: sha256(bind).toString("hex"),
      createdAt: this.#now(),
      expiresAt: this.#now() + SESSION_MS,
    };
    write(this.#sessions, session.id, session);
    return { session, cookie: this.#cookieOf(session), bind };
  }

  /** Binds a session to the key of its page, once, with the secret that only the page has got. */
  bind(session: PageSession, secret: string, key: string): Opened | undefined {
    const isRight = timingSafeEqual(sha256(secret), Buffer.from(session.bindHash, "hex"));
    const isLate = this.#now() > session.createdAt + BIND_MS;
    if (!isRight || isLate || session.key !== undefined || !isKey(key)) return undefined;
    const bound = { ...session, key };
    if (this.isOwn(session.id)) write(this.#sessions, session.id, bound);
    return { session: bound, cookie: this.#cookieOf(bound) };
  }

  /** The session of a cookie. */
  open(id: string, cookie: string): PageSession | undefined {
    const [said = "", signature = ""] = cookie.split(".", 2);
    if (!timingSafeEqual(sha256(signature), sha256(this.#sign(said)))) return undefined;
    const session = JSON.parse(Buffer.from(said, "base64url").toString("utf8")) as PageSession;
    if (session.id !== id || !(session.expiresAt > this.#now())) return undefined;
    if (!this.isOwn(id)) return session;
    // What the file says is newer: a cookie of before the binding binds nothing a second time.
    const kept = this.get(id);
    return kept && { ...session, ...kept };
  }

  /** Whether a session goes on that was opened before. */
  isLive(id: string): boolean {
    return !this.isOwn(id) || this.get(id) !== undefined;
  }

  /** Whether this node has opened it. */
  isOwn(id: string): boolean {
    return id.startsWith(this.#tag);
  }

  #cookieOf(session: PageSession): string {
    const said = Buffer.from(JSON.stringify(session)).toString("base64url");
    return `${said}.${this.#sign(said)}`;
  }

  #sign(said: string): string {
    return createHmac("sha256", this.#key).update(`blockyard session ${said}`).digest("base64url");
  }

  get(id: string): PageSession | undefined {
    if (!/^[0-9a-f]{16}$/.test(id)) return undefined;
    const session = read(this.#sessions, id) as PageSession | undefined;
    const isWhole =
      /^[0-9a-f]{64}$/.test(session?.bindHash ?? "") && Number(session?.expiresAt) > this.#now();
    return isWhole ? session : undefined;
  }

  /** Those that have not ended, newest first; the files of those that have are removed. */
  list(): readonly PageSession[] {
    const found: PageSession[] = [];
    for (const id of names(this.#sessions)) {
      const session = this.get(id);
      if (session) found.push(session);
      else remove(this.#sessions, id);
    }
    return found.sort((a, b) => b.createdAt - a.createdAt);
  }

  revoke(id: string): boolean {
    return this.get(id) !== undefined && remove(this.#sessions, id);
  }
}

function write(folder: string, name: string, value: object): void {
  makeFolder(folder);
  writePrivate(join(folder, name), JSON.stringify(value));
}

function read(folder: string, name: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, name), "utf8")) as Readonly<Record<string, unknown>>;
  } catch {
    return undefined;
  }
}

/** Whether it was there, and this call has removed it, for good. */
function remove(folder: string, name: string): boolean {
  return removePrivate(join(folder, name));
}

function names(folder: string): readonly string[] {
  try {
    // What is being written has another name until it is whole.
    return readdirSync(folder).filter((name) => /^[0-9a-f]+$/.test(name));
  } catch {
    return [];
  }
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
