/**
 * The broadcast over NATS: one subject per store, core messages only, nothing stored by the broker.
 *
 * A broker that is missing, disconnects or hangs costs nothing but the wait until nodes poll: what cannot be sent at
 * once is dropped, and the connection is retried for ever. Nothing waits for it, not even the start.
 */

import type { Broadcast, BroadcastMessage } from "@blockyard/kernel";
import { connect, type NatsConnection, type NodeConnectionOptions } from "@nats-io/transport-node";
import type { Log } from "../../system/log.ts";
import { BROKER_PING_MS, BROKER_RETRY_MS, WAITING_BYTES } from "./limits.ts";
import { decodeMessage, encodeMessage } from "./message.ts";

/** `store`: the epoch of the store that the nodes share; brokers may serve several. */
export function natsBroadcast(url: string, store: string, log: Log, secret?: string): Broadcast {
  return new NatsBroadcast(url, `blockyard.${store.replace(/[^A-Za-z0-9_-]/g, "_")}`, log, secret);
}

class NatsBroadcast implements Broadcast {
  readonly #url: string;
  readonly #subject: string;
  readonly #log: Log;
  readonly #secret: string | undefined;
  readonly #listeners = new Set<(message: BroadcastMessage) => void>();
  #nats: NatsConnection | undefined;
  #isUp = false;
  #isClosed = false;
  #waitingBytes = 0;

  constructor(url: string, subject: string, log: Log, secret: string | undefined) {
    this.#secret = secret;
    this.#url = url;
    this.#subject = subject;
    this.#log = log;
    void this.#connect();
  }

  send(message: BroadcastMessage): void {
    const nats = this.#nats;
    if (!nats || !this.#isUp || this.#waitingBytes > WAITING_BYTES) return;
    for (const bytes of encodeMessage(message, this.#secret)) {
      nats.publish(this.#subject, bytes);
      this.#count(nats, bytes.byteLength);
    }
  }

  listen(listener: (message: BroadcastMessage) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#listeners.clear();
    // One that is still looking for its broker is not waited for: it closes itself when it finds it.
    await this.#nats?.close();
  }

  /** An answer to a flush says that everything before it has arrived. */
  #count(nats: NatsConnection, bytes: number): void {
    const isFirst = this.#waitingBytes === 0;
    this.#waitingBytes += bytes;
    if (!isFirst) return;
    const arrived = () => {
      this.#waitingBytes = 0;
    };
    nats.flush().then(arrived, arrived);
  }

  /** One connection after the other: the library comes back by itself, except where the broker has turned it away. */
  async #connect(): Promise<void> {
    let isTold = false;
    while (!this.#isClosed) {
      try {
        const nats = await connect(optionsOf(this.#url));
        if (this.#isClosed) return void (await nats.close());
        this.#use(nats);
        isTold = false;
        await this.#watch(nats);
        this.#isUp = false;
      } catch (error) {
        if (!isTold) this.#log("warn", "NATS cannot be reached; nodes poll the database", why(error));
        isTold = true;
      }
      if (!this.#isClosed) await new Promise<void>((again) => setTimeout(again, BROKER_RETRY_MS).unref());
    }
  }

  #use(nats: NatsConnection): void {
    this.#nats = nats;
    this.#isUp = true;
    this.#log("info", "connected to NATS", {});
    nats.subscribe(this.#subject, {
      callback: (error, message) => {
        const known = error ? undefined : decodeMessage(message.data, this.#secret);
        if (known) for (const listener of this.#listeners) listener(known);
      },
    });
  }

  /** Until it is closed. */
  async #watch(nats: NatsConnection): Promise<void> {
    for await (const { type } of nats.status()) {
      if (type !== "disconnect" && type !== "reconnect") continue;
      this.#isUp = type === "reconnect";
      this.#waitingBytes = 0;
      this.#log(this.#isUp ? "info" : "warn", `the broker: ${type}`, {});
    }
  }
}

/** Name and password may stand in the address, as in other addresses; a name alone is a token. */
function optionsOf(url: string): NodeConnectionOptions {
  const { protocol, host, username, password } = new URL(url);
  const user = decodeURIComponent(username);
  const pass = decodeURIComponent(password);
  return {
    servers: host,
    name: "blockyard",
    noEcho: true,
    maxReconnectAttempts: -1,
    reconnectTimeWait: BROKER_RETRY_MS,
    pingInterval: BROKER_PING_MS,
    maxPingOut: 2,
    ...(protocol === "tls:" ? { tls: {} } : {}),
    ...(user === "" ? {} : pass === "" ? { token: user } : { user, pass }),
  };
}

function why(error: unknown): { readonly message: string } {
  return { message: error instanceof Error ? error.message : String(error) };
}
