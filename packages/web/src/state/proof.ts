/**
 * How the page shows the server that it is the server's own page. Browsers send cookies to every port of a host name; a key
 * that the browser keeps for this origin, and that no script can read out, is ours alone. The page binds its session to it
 * once, signs challenges with it, and gets tickets, which its requests carry.
 *
 * Keys are kept by session: a viewer's session stands beside the owner's.
 */
import { MARGIN_MS } from "./limits.ts";

const DATABASE = "blockyard";
const KEYS = "keys";
const TICKET_HEADER = "x-blockyard-ticket";

interface Ticket {
  readonly text: string;
  readonly until: number;
  readonly session: string;
  readonly key: CryptoKey;
}

/** Keys of sessions for as long as this tab lives, where the browser keeps nothing (some private windows). */
const held = new Map<string, CryptoKey>();
let bound: Promise<void> | undefined;
let asking: Promise<Ticket | undefined> | undefined;

/** What lets a request in; undefined while there is no session, or the server does not answer. */
export async function ticket(): Promise<string | undefined> {
  bound ??= bindSession();
  await bound;
  const last = await asking?.catch(() => undefined);
  if (last && last.until - MARGIN_MS > performance.now()) return last.text;
  const mine = newTicket().catch(() => undefined);
  asking = mine;
  return (await mine)?.text;
}

/** The next request asks for another ticket: the server has not taken the last one. */
function dropTicket(): void {
  asking = undefined;
}

/** A request of this page's own. A server that has a new token takes no ticket of before: it is asked once more. */
export async function request(path: string, init: RequestInit = {}): Promise<Response> {
  const send = async () =>
    fetch(path, {
      ...init,
      credentials: "same-origin",
      headers: { ...(init.headers as Record<string, string>), ...(await ticketHeader()) },
    });
  const answer = await send();
  if (answer.status !== 401) return answer;
  dropTicket();
  return send();
}

export async function ticketHeader(): Promise<Record<string, string>> {
  const text = await ticket();
  return text === undefined ? {} : { [TICKET_HEADER]: text };
}

/** The signature under one call, for what runs code or gives rights: it holds for this tool and this body, once. */
export async function proofHeader(tool: string, body: string): Promise<Record<string, string>> {
  const shown = await ticket().then(() => asking);
  const greeting = shown && (await greet().catch(() => undefined));
  if (!greeting) return {};
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(body));
  const hash = [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const words = ["call", location.origin, shown.session, greeting.challenge, tool, hash];
  return { "x-blockyard-proof": `${greeting.challenge}.${await sign(shown.key, words)}` };
}

/** With the secret that a link has brought, which then leaves the address. A page that could not bind tries again when it is loaded again. */
async function bindSession(): Promise<void> {
  const place = new URL(location.href);
  const secret = place.searchParams.get("bind");
  if (secret === null) return;
  const pair = await crypto.subtle.generateKey(ALGORITHM, false, ["sign", "verify"]);
  const key = base64url(await crypto.subtle.exportKey("spki", pair.publicKey));
  const answer = await post("/v1/session/bind", { secret, key }).catch(() => undefined);
  if (answer === undefined) return;
  if (answer.ok) {
    const { session } = (await answer.json()) as { session: string };
    held.set(session, pair.privateKey);
    await keep(session, pair.privateKey).catch(() => undefined);
  }
  place.searchParams.delete("bind");
  history.replaceState(history.state, "", place);
}

async function newTicket(): Promise<Ticket | undefined> {
  const greeting = await greet();
  if (!greeting) return undefined;
  const { sessions, challenge } = greeting;
  for (const { id } of sessions) {
    const key = await keyOf(id);
    if (!key) continue;
    const signature = await sign(key, ["ticket", location.origin, id, challenge]);
    const given = await post("/v1/session/ticket", { session: id, challenge, signature });
    if (!given.ok) continue;
    const { ticket: text, valid_ms } = (await given.json()) as { ticket: string; valid_ms: number };
    return { text, until: performance.now() + valid_ms, session: id, key };
  }
  return undefined;
}

async function greet(): Promise<Greeting | undefined> {
  const answer = await fetch("/v1/session", { credentials: "same-origin" });
  return answer.ok ? ((await answer.json()) as Greeting) : undefined;
}

interface Greeting {
  readonly sessions: readonly { readonly id: string }[];
  readonly challenge: string;
}

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256" } as const;

async function sign(key: CryptoKey, words: readonly string[]): Promise<string> {
  const said = new TextEncoder().encode(`blockyard\n${words.join("\n")}`);
  return base64url(await crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, key, said));
}

function post(path: string, body: object): Promise<Response> {
  return fetch(path, {
    method: "POST",
    credentials: "same-origin",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

function base64url(bytes: ArrayBuffer): string {
  const text = btoa(String.fromCharCode(...new Uint8Array(bytes)));
  return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

async function keyOf(session: string): Promise<CryptoKey | undefined> {
  return (
    held.get(session) ??
    (await inKeys<CryptoKey | undefined>("readonly", (keys) => keys.get(session)).catch(() => undefined))
  );
}

async function keep(session: string, key: CryptoKey): Promise<void> {
  await inKeys("readwrite", (keys) => keys.put(key, session));
}

/** One look at the browser's database, or one change of it. */
function inKeys<T>(mode: IDBTransactionMode, ask: (keys: IDBObjectStore) => IDBRequest): Promise<T> {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open(DATABASE, 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore(KEYS);
    opening.onerror = () => reject(opening.error);
    opening.onsuccess = () => {
      const database = opening.result;
      const transaction = database.transaction(KEYS, mode);
      const asked = ask(transaction.objectStore(KEYS));
      transaction.oncomplete = () => {
        database.close();
        resolve(asked.result as T);
      };
      transaction.onabort = () => {
        database.close();
        reject(transaction.error);
      };
    };
  });
}
