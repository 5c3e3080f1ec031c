/**
 * The address of a PostgreSQL database, with its password. Only the driver gets the secret part: printing, logging or
 * serializing an address gives the harmless part.
 */

import { inspect } from "node:util";

/** Not with the text that was given: it may be nearly an address, with a password in it. */
const WANTED = "not a PostgreSQL URL, such as postgres://user:password@host/name";

export class DatabaseAddress {
  readonly #url: string;
  /** Without password and options. */
  readonly shown: string;

  /** Throws a TypeError, which does not repeat it, where the text is no such address. */
  constructor(url: string) {
    const parts = URL.canParse(url) ? new URL(url) : undefined;
    const isOurs = parts?.protocol === "postgres:" || parts?.protocol === "postgresql:";
    // A name with a slash would be taken for another one by half of the tools.
    if (!parts || !isOurs || !/^\/[^/]+$/.test(parts.pathname)) throw new TypeError(WANTED);
    const user = parts.username === "" ? "" : `${parts.username}@`;
    this.#url = url;
    this.shown = `postgres://${user}${parts.host}${parts.pathname}`;
  }

  /** The whole address, for the driver. */
  reveal(): string {
    return this.#url;
  }

  toString(): string {
    return this.shown;
  }

  toJSON(): string {
    return this.shown;
  }

  [inspect.custom](): string {
    return this.shown;
  }
}
