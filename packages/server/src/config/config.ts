/**
 * Where things are and what is allowed: fixed when the server starts, from the command line and the environment. Nothing
 * of it can be changed by a request.
 */

import { chmodSync, readdirSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { SANDBOX_MODES, type SandboxMode } from "../sandbox/mode.ts";
import { makeFolder } from "../system/folder.ts";
import { readCredentials } from "./credentials-file.ts";
import { DatabaseAddress } from "./database-address.ts";

export interface Config {
  /** Database, tokens and the server's address live here; only its owner can read it. */
  readonly home: string;
  /** The workspace: where agents work and files are read from. */
  readonly root: string;
  readonly host: string;
  readonly port: number;
  /** Nobody asked for that port: where it is taken, another one does. */
  readonly anyPort?: boolean;
  readonly tls?: { readonly cert: string; readonly key: string };
  /** Where people reach it through a program that stands in front of it. */
  readonly origin?: string;
  /** Secrets are taken out of what is ingested and imported, for good. */
  readonly redactIngest?: boolean;
  /** A PostgreSQL database instead of the file in the home. */
  readonly database?: DatabaseAddress;
  /** The broker by which nodes that share a database wake each other up. May hold a password. */
  readonly nats?: string;
  /** What nodes sign their words with, so that a broker that others reach cannot make any. */
  readonly natsSecret?: string;
  /** How commands are confined (BLOCKYARD_SANDBOX): `on` by default. */
  readonly sandbox?: SandboxMode;
  /** Agents are confined too (BLOCKYARD_SANDBOX_AGENTS). */
  readonly sandboxAgents?: boolean;
  /** Agents may be given full access: they do everything unasked. */
  readonly fullAccess?: boolean;
  /** Of the file in the home: what is not in the environment. */
  readonly credentials?: Readonly<Record<string, string>>;
}

export const DEFAULT_PORT = 4567;

export class ConfigError extends Error {
  override name = "ConfigError";
}

interface ConfigInput {
  readonly home?: string;
  readonly root?: string;
  readonly host?: string;
  readonly port?: number;
  readonly cert?: string;
  readonly key?: string;
  readonly origin?: string;
  readonly database?: string;
  readonly nats?: string;
  readonly fullAccess?: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export function makeConfig(input: ConfigInput): Config {
  // An empty variable is one that somebody meant to set; an empty path would be the folder that one is in.
  if (input.home === "") throw new ConfigError("--home is empty. Pass a directory or omit it");
  const home = resolve(input.home ?? (input.env["BLOCKYARD_HOME"] || join(homedir(), ".blockyard")));
  const root = resolve(input.root ?? ".");
  const host = input.host ?? "127.0.0.1";
  const asked = input.port ?? (input.env["BLOCKYARD_PORT"] || undefined);
  const port = Number(asked ?? DEFAULT_PORT);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new ConfigError(`invalid port: ${asked}`);
  const stat = statSync(root, { throwIfNoEntry: false });
  if (!stat) throw new ConfigError(`the workspace ${root} does not exist`);
  if (!stat.isDirectory()) throw new ConfigError(`the workspace ${root} is not a directory`);
  if ((input.cert === undefined) !== (input.key === undefined))
    throw new ConfigError("--cert and --key go together: pass both or neither");
  const tls = input.cert && input.key ? { cert: input.cert, key: input.key } : undefined;
  if (!isLoopback(host) && !tls) {
    throw new ConfigError(
      `refusing to listen on ${host} without TLS: pass --cert and --key, or omit --host to stay on this machine`,
    );
  }
  // The variable is better for an address with a password: other users of the machine see a command's arguments.
  const credentials = credentialsOf(home);
  const env = { ...credentials, ...input.env };
  const database = databaseOf(input.database ?? env["BLOCKYARD_DATABASE"]);
  const natsSecret = env["BLOCKYARD_NATS_SECRET"];
  const sandbox = sandboxOf(env["BLOCKYARD_SANDBOX"]);
  const nats = brokerOf(input.nats ?? env["BLOCKYARD_NATS"]);
  return {
    ...{ home, root, host, port, anyPort: asked === undefined, credentials },
    ...(tls ? { tls } : {}),
    ...(input.env["BLOCKYARD_REDACT_INGEST"] === "1" ? { redactIngest: true } : {}),
    ...(input.origin === undefined ? {} : { origin: originOf(input.origin) }),
    ...(database ? { database } : {}),
    ...(nats === undefined ? {} : { nats }),
    ...(natsSecret ? { natsSecret } : {}),
    ...(sandbox ? { sandbox } : {}),
    ...(env["BLOCKYARD_SANDBOX_AGENTS"] === "on" ? { sandboxAgents: true } : {}),
    ...(input.fullAccess === true ? { fullAccess: true } : {}),
  };
}

function sandboxOf(said: string | undefined): SandboxMode | undefined {
  const mode = SANDBOX_MODES.find((each) => each === said);
  if (mode !== undefined || said === undefined || said === "") return mode;
  throw new ConfigError(`BLOCKYARD_SANDBOX must be one of ${SANDBOX_MODES.join(", ")}, not ${said}`);
}

function credentialsOf(home: string): Readonly<Record<string, string>> {
  try {
    return readCredentials(home);
  } catch (error) {
    // What the system refuses is told as of every other file of the home.
    if ((error as NodeJS.ErrnoException).syscall !== undefined) throw error;
    throw new ConfigError((error as Error).message);
  }
}

/** As browsers write it. Without TLS whoever listens on the way would have the token: that stays on this machine. */
function originOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPrivate =
    url?.protocol === "https:" ||
    (url?.protocol === "http:" && isLoopback(url.hostname.replace(/^\[|\]$/g, "")));
  if (isPrivate && url.href === `${url.origin}/`) return url.origin;
  throw new ConfigError(
    `--origin takes an address such as https://blockyard.example.org, or http://localhost:8080 for a proxy on this machine, not ${text}`,
  );
}

function databaseOf(url: string | undefined): DatabaseAddress | undefined {
  if (url === undefined || url === "") return undefined;
  try {
    return new DatabaseAddress(url);
  } catch (error) {
    throw new ConfigError(`the database is ${(error as Error).message}`);
  }
}

/** An address that is not one is not repeated: it may hold a password. */
function brokerOf(url: string | undefined): string | undefined {
  if (url === undefined || url === "") return undefined;
  const { protocol = "", hostname = "" } = URL.canParse(url) ? new URL(url) : {};
  if ((protocol === "nats:" || protocol === "tls:") && hostname !== "") return url;
  throw new ConfigError("--nats takes an address like nats://host:4222 or tls://host:4222");
}

/**
 * The home folder, made private before anything is put into it. One that others can read and that has other things in it
 * (a project, /tmp) is not taken: it would be closed to everybody else.
 */
export function prepareHome(home: string): void {
  makeFolder(home);
  if (isSomethingElse(home)) {
    throw new ConfigError(
      `${home} contains other files, and a data directory is made private to you. Choose an empty directory with --home`,
    );
  }
  chmodSync(home, 0o700);
}

/** Others can read it, and it has files, but none of ours. */
export function isSomethingElse(home: string): boolean {
  const isOpen = (statSync(home).mode & 0o077) !== 0;
  const inside = isOpen ? readdirSync(home) : [];
  return inside.length > 0 && !inside.some(isOwnFile);
}

/** By one of these a home is known; a start that was killed may have left no more than a lock. */
const OWN_FILES = ["token", "tokens.json", "server.json", "unfinished"];

function isOwnFile(name: string): boolean {
  return OWN_FILES.includes(name) || name.startsWith("blockyard.db");
}

export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}
