/**
 * How a page shows that it is ours. Cookies do not know ports, so a cookie alone may come from any server on this host; the
 * page has a key besides, which its browser keeps for its origin and never hands out. With it the page signs a challenge and
 * gets a ticket, which its calls then carry for two minutes. What runs code or gives rights it signs itself, call by call.
 *
 * Challenges and tickets are signed with the owner's token and kept nowhere: nodes that share the token take each other's.
 */

import { createHash, createHmac, createPublicKey, randomBytes, timingSafeEqual, verify } from "node:crypto";
import { CHALLENGE_MS, TICKET_MS } from "./limits.ts";

export class PageProof {
  readonly #key: string;
  readonly #now: () => number;

  constructor(key: string, now: () => number) {
    this.#key = key;
    this.#now = now;
  }

  /** What a page signs next. */
  challenge(): string {
    return this.#sealed("challenge", `${this.#now() + CHALLENGE_MS}.${randomBytes(16).toString("hex")}`);
  }

  /** The ticket for a signed challenge; undefined if the signature is not that of the session's page at this origin. */
  ticket(session: Keyed, origin: string, challenge: string, signature: string): string | undefined {
    if (!this.#isSigned(session, ["ticket", origin, session.id, challenge], signature)) return undefined;
    if (this.#opened("challenge", challenge) === undefined) return undefined;
    return this.#sealed("ticket", `${this.#now() + TICKET_MS}.${session.id}`);
  }

  /** The nonce that a signed call uses up; undefined if the session's page has not signed this call. */
  call(session: Keyed, origin: string, signed: string, tool: string, body: Uint8Array): string | undefined {
    const at = signed.lastIndexOf(".");
    const [challenge, signature] = [signed.slice(0, Math.max(0, at)), signed.slice(at + 1)];
    const hash = createHash("sha256").update(body).digest("hex");
    if (!this.#isSigned(session, ["call", origin, session.id, challenge, tool, hash], signature))
      return undefined;
    return this.#opened("challenge", challenge);
  }

  /** The session that a ticket is for. */
  sessionOf(ticket: string): string | undefined {
    return this.#opened("ticket", ticket);
  }

  #isSigned({ key }: Keyed, words: readonly string[], signature: string): boolean {
    if (key === undefined) return false;
    const said = Buffer.from(`blockyard\n${words.join("\n")}`);
    const signed = Buffer.from(signature, "base64url");
    return verify("sha256", said, { key: publicKey(key), dsaEncoding: "ieee-p1363" }, signed);
  }

  #sealed(what: string, said: string): string {
    return `${said}.${this.#seal(what, said)}`;
  }

  /** The sealed content, if we sealed it and it has not expired. */
  #opened(what: string, sealed: string): string | undefined {
    const [until = "", said = "", seal = ""] = sealed.split(".", 3);
    const expected = Buffer.from(this.#seal(what, `${until}.${said}`));
    const given = Buffer.from(seal);
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
    return Number(until) > this.#now() ? said : undefined;
  }

  #seal(what: string, said: string): string {
    return createHmac("sha256", this.#key).update(`blockyard ${what} ${said}`).digest("base64url");
  }
}

interface Keyed {
  readonly id: string;
  readonly key?: string;
}

/** Whether a text is a public key that a page of ours makes: of the curve P-256. */
export function isKey(text: string): boolean {
  try {
    const { asymmetricKeyType, asymmetricKeyDetails } = publicKey(text);
    return asymmetricKeyType === "ec" && asymmetricKeyDetails?.namedCurve === "prime256v1";
  } catch {
    return false;
  }
}

function publicKey(text: string) {
  return createPublicKey({ key: Buffer.from(text, "base64url"), format: "der", type: "spki" });
}
