/**
 * The sockets that the server listens on: one for everybody and, where that one speaks TLS, a plain one on loopback for
 * the commands of this machine. Those cannot check a certificate that was made for another name than the machine's own, or
 * by nobody; and between them and the server nothing leaves the machine.
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { endUnread } from "../access/refused-answer.ts";
import type { Certificate } from "../config/certificate.ts";
import { type Config, ConfigError } from "../config/config.ts";
import { MAX_CONNECTIONS } from "./limits.ts";

interface Arrivals {
  connection(socket: Socket): void;
  request(request: IncomingMessage, response: ServerResponse): void;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
}

interface Listening {
  readonly port: number;
  /** Of the plain socket for commands, where there is one. */
  readonly localPort?: number;
  /** What a person should know about it, in sentences. */
  readonly notes: readonly string[];
}

const LOCAL = "127.0.0.1";

const BOUNDS = {
  requestTimeout: 0, // an ingest may take hours; other bodies are bounded by the gateway
  headersTimeout: 10_000,
  connectionsCheckingInterval: 2_000,
  keepAliveTimeout: 30_000,
  maxHeaderSize: 16 * 1024,
  requireHostHeader: false, // the guard asks for it, and leaves a line
};

export class Listeners {
  readonly #main: Server;
  readonly #local: Server | undefined;

  constructor(certificate: Certificate | undefined, arrivals: Arrivals) {
    const { request } = arrivals;
    this.#main = certificate
      ? createTlsServer({ ...BOUNDS, cert: certificate.cert, key: certificate.key }, request)
      : createServer(BOUNDS, request);
    this.#local = certificate && createServer(BOUNDS, request);
    for (const server of this.#all()) {
      server.maxConnections = MAX_CONNECTIONS;
      server.on("connection", arrivals.connection);
      // Whoever asks first whether to send a body is told when it is known who it is.
      server.on("checkContinue", request);
      server.on("upgrade", arrivals.upgrade);
      server.on("clientError", endUnread);
    }
  }

  async open(config: Config, onError: (error: Error) => void): Promise<Listening> {
    // The port that people know comes last: by the time of the first request the caller has both.
    const localPort = this.#local && (await listen(this.#local, LOCAL, 0));
    const { port, notes } = await listenSomewhere(this.#main, config);
    for (const server of this.#all()) server.on("error", onError);
    return { port, notes, ...(localPort === undefined ? {} : { localPort }) };
  }

  /** Takes in nobody more. */
  close(): void {
    for (const server of this.#all()) server.close();
  }

  closeAllConnections(): void {
    for (const server of this.#all()) server.closeAllConnections();
  }

  #all(): readonly Server[] {
    return this.#local ? [this.#main, this.#local] : [this.#main];
  }
}

/** On the port of the configuration; where nobody asked for that one and it is taken, on a free one. */
async function listenSomewhere(server: Server, { host, port, anyPort }: Config): Promise<Listening> {
  try {
    return { port: await listen(server, host, port), notes: [] };
  } catch (error) {
    if (!anyPort || (error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw refusal(error, host, port);
    const free = await listen(server, host, 0);
    return { port: free, notes: [`port ${port} is in use by another program; using port ${free} instead`] };
  }
}

function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.removeListener("error", reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

/** What the person who chose host and port can do about it. A port that is taken is told by whoever knows the command. */
function refusal(error: unknown, host: string, port: number): unknown {
  switch ((error as NodeJS.ErrnoException).code) {
    case "EADDRNOTAVAIL":
      return new ConfigError(
        `${host} is not an address of this machine. Pass one of its addresses with --host`,
      );
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return new ConfigError(
        `the name ${host} does not resolve. Pass an address of this machine with --host`,
      );
    case "EACCES":
      return new ConfigError(`this account may not listen on port ${port}. Use --port with 1024 or higher`);
    default:
      return error;
  }
}
