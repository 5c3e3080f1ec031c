/**
 * How a browser with our page signs in, step by step: it follows a link, binds its session to a key of its own, signs a
 * challenge, and gets a ticket. `cookie` is what every other server on the host would get of it.
 */
import { webcrypto } from "node:crypto";

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256" } as const;

export class Browser {
  readonly origin: string;
  cookie = "";
  ticket = "";
  session = "";
  /** The secret that the link has brought for the page. */
  bindSecret = "";
  #key: webcrypto.CryptoKey | undefined;

  constructor(origin: string) {
    this.origin = origin;
  }

  /** A browser that has come by a link, with a ticket. */
  static async enter(link: string): Promise<Browser> {
    const browser = new Browser(new URL(link).origin);
    await browser.follow(link);
    await browser.bind();
    await browser.prove();
    return browser;
  }

  /** What a call of the page carries. */
  get headers(): Record<string, string> {
    return { cookie: this.cookie, "x-blockyard-ticket": this.ticket };
  }

  async follow(link: string): Promise<Response> {
    const answer = await fetch(link, { redirect: "manual" });
    this.#take(answer);
    const target = new URL(answer.headers.get("location") ?? "", this.origin);
    this.bindSecret = target.searchParams.get("bind") ?? "";
    return answer;
  }

  async bind(secret = this.bindSecret): Promise<Response> {
    const pair = await webcrypto.subtle.generateKey(ALGORITHM, false, ["sign", "verify"]);
    const key = Buffer.from(await webcrypto.subtle.exportKey("spki", pair.publicKey)).toString("base64url");
    const answer = await this.post("/v1/session/bind", { secret, key });
    this.#take(answer);
    this.#key = pair.privateKey;
    if (answer.ok) this.session = ((await answer.json()) as { session: string }).session;
    return answer;
  }

  /** Gets a ticket; the status of the answer. */
  async prove(origin = this.origin): Promise<number> {
    const challenge = await this.challenge();
    const signature = await this.sign(["ticket", origin, this.session, challenge]);
    const answer = await this.post("/v1/session/ticket", { session: this.session, challenge, signature });
    if (answer.ok) this.ticket = ((await answer.json()) as { ticket: string }).ticket;
    return answer.status;
  }

  async challenge(): Promise<string> {
    const answer = await fetch(`${this.origin}/v1/session`, { headers: { cookie: this.cookie } });
    return ((await answer.json()) as { challenge: string }).challenge;
  }

  async sign(words: readonly string[]): Promise<string> {
    if (!this.#key) throw new Error("there is no key yet");
    const said = new TextEncoder().encode(`blockyard\n${words.join("\n")}`);
    const signed = await webcrypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, this.#key, said);
    return Buffer.from(signed).toString("base64url");
  }

  post(path: string, body: object, more: Record<string, string> = {}): Promise<Response> {
    const headers = { ...this.headers, origin: this.origin, "content-type": "application/json", ...more };
    return fetch(`${this.origin}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  }

  #take(answer: Response): void {
    const set = answer.headers.get("set-cookie");
    if (set !== null) this.cookie = set.split(";", 1)[0] ?? "";
  }
}
