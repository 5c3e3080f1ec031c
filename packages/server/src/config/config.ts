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
  /** The port is the default: if it is taken, another one will do. */
  readonly anyPort?: boolean;
  readonly tls?: { readonly cert: string; readonly key: string };
  /** Its public address, through a reverse proxy. */
  readonly origin?: string;
  /** Secrets are removed from ingested and imported text, permanently. */
  readonly redactIngest?: boolean;
  /** A PostgreSQL database instead of the file in the home. */
  readonly database?: DatabaseAddress;
  /** The broker by which nodes that share a database wake each other up. May hold a password. */
  readonly nats?: string;
  /** The nodes' signing secret, so that others with access to the broker cannot forge messages. */
  readonly natsSecret?: string;
  /** How commands are confined (BLOCKYARD_SANDBOX): `on` by default. */
  readonly sandbox?: SandboxMode;
  /** Agents are confined too (BLOCKYARD_SANDBOX_AGENTS). */
  readonly sandboxAgents?: boolean;
  /** Agents may be given full access: they do everything unasked. */
  readonly fullAccess?: boolean;
  /** From the file in the data directory: values that the environment lacks. */
  readonly credentials?: Readonly<Record<string, string>>;
}

export const DEFAULT_PORT = 4567;

export class ConfigError extends Error {
  override name = "ConfigError";
}

/** A value that an option or an argument cannot have. `absent`: it names something that is not there. */
export class OptionError extends ConfigError {
  readonly fault: "invalid" | "absent";

  constructor(message: string, fault: OptionError["fault"] = "invalid") {
    super(message);
    this.fault = fault;
  }
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
  // An empty variable is one that the user meant to set; an empty path would be the current folder.
  if (input.home === "") throw new OptionError("--home is empty. Pass a directory or omit it");
  const home = resolve(input.home ?? (input.env["BLOCKYARD_HOME"] || join(homedir(), ".blockyard")));
  const root = resolve(input.root ?? ".");
  const host = input.host ?? "127.0.0.1";
  const asked = input.port ?? (input.env["BLOCKYARD_PORT"] || undefined);
  const port = Number(asked ?? DEFAULT_PORT);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new OptionError(`invalid port: ${asked}`);
  const stat = statSync(root, { throwIfNoEntry: false });
  if (!stat) throw new OptionError(`the workspace ${root} does not exist`, "absent");
  if (!stat.isDirectory()) throw new OptionError(`the workspace ${root} is not a directory`);
  if ((input.cert === undefined) !== (input.key === undefined))
    throw new OptionError("--cert and --key go together: pass both or neither");
  const tls = input.cert && input.key ? { cert: input.cert, key: input.key } : undefined;
  if (!isLoopback(host) && !tls) {
    throw new OptionError(
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
    // A system error is reported as for every other file of the data directory.
    if ((error as NodeJS.ErrnoException).syscall !== undefined) throw error;
    throw new ConfigError((error as Error).message);
  }
}

/** As browsers write it. Without TLS anybody on the network path would get the token: so only on this machine. */
function originOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPrivate =
    url?.protocol === "https:" ||
    (url?.protocol === "http:" && isLoopback(url.hostname.replace(/^\[|\]$/g, "")));
  if (isPrivate && url.href === `${url.origin}/`) return url.origin;
  throw new OptionError(
    `--origin takes an address such as https://blockyard.example.org, or http://localhost:8080 for a proxy on this machine, not ${text}`,
  );
}

function databaseOf(url: string | undefined): DatabaseAddress | undefined {
  if (url === undefined || url === "") return undefined;
  try {
    return new DatabaseAddress(url);
  } catch (error) {
    throw new OptionError(`the database is ${(error as Error).message}`);
  }
}

/** An address that is not one is not repeated: it may hold a password. */
function brokerOf(url: string | undefined): string | undefined {
  if (url === undefined || url === "") return undefined;
  const { protocol = "", hostname = "" } = URL.canParse(url) ? new URL(url) : {};
  if ((protocol === "nats:" || protocol === "tls:") && hostname !== "") return url;
  throw new OptionError("--nats takes an address like nats://host:4222 or tls://host:4222");
}

/**
 * The data directory, made private before anything is put into it. One that others can read and that has other things
 * in it (a project, /tmp) is refused: it would become inaccessible to everybody else.
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

/** A data directory is recognized by one of these; a start that was killed may have left only a lock. */
const OWN_FILES = ["token", "tokens.json", "server.json", "unfinished"];

function isOwnFile(name: string): boolean {
  return OWN_FILES.includes(name) || name.startsWith("blockyard.db");
}

export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}
