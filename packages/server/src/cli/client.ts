/**
 * A command's way to the running server: its address and the owner's token from the home folder, or a token of one's own
 * from the environment. Commands never open the database while a server has it.
 */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Json, ToolSchema } from "@blockyard/kernel";
import { isProblem, type Problem, problem, typedCalls } from "@blockyard/kernel/plain";
import { makeConfig } from "../config/config.ts";
import type { CallServer } from "../contract/index.ts";
import { readAddress, type ServerAddress } from "../system/address-file.ts";
import { isAlive } from "../system/process-alive.ts";
import { CommandError } from "./command.ts";

export interface ServerClient {
  /** The address for calls; a browser may need another one. */
  readonly url: string;
  readonly token: string;
  readonly call: CallServer;
  /** By a name that is only known while it runs. */
  callAny(tool: string, input: unknown): Promise<Json | Problem>;
  tools(): Promise<readonly ToolSchema[]>;
  fetch(path: string, init?: RequestInit): Promise<Response>;
}

interface ClientOptions {
  readonly home?: string | undefined;
  readonly url?: string | undefined;
  readonly token?: string | undefined;
}

/** The server of this home. `BLOCKYARD_URL` and `BLOCKYARD_TOKEN` name another one. */
export function serverClient(options: ClientOptions): ServerClient {
  const { home } = makeConfig({
    env: process.env,
    ...(options.home === undefined ? {} : { home: options.home }),
  });
  const url = options.url ?? (process.env["BLOCKYARD_URL"] || commandUrl(home));
  const token = options.token ?? (process.env["BLOCKYARD_TOKEN"] || ownerToken(home));
  const request = (path: string, init: RequestInit = {}) => {
    const headers = {
      authorization: `Bearer ${token}`,
      ...(init.headers as Record<string, string> | undefined),
    };
    return fetch(`${url}${path}`, { ...init, headers });
  };
  const callAny = async (tool: string, input: unknown) => {
    const body = JSON.stringify(input);
    const answer = await reach(url, () => request(`/v1/tools/${tool}`, { method: "POST", body }));
    return (await answer.json()) as Json | Problem;
  };
  return {
    url,
    token,
    fetch: request,
    callAny,
    call: typedCalls(callAny),
    async tools() {
      const answer = await reach(url, () => request("/v1/tools"));
      if (answer.status === 401) throw new TokenRefused(url);
      const tools = (await answer.json()) as readonly ToolSchema[] | Problem;
      if (isProblem(tools)) throw new CommandError(tools.message);
      return tools;
    },
  };
}

export class TokenRefused extends CommandError {
  constructor(url: string) {
    const fix = process.env["BLOCKYARD_TOKEN"]
      ? "Unset BLOCKYARD_TOKEN or set it to a valid token"
      : "It belongs to another data directory. Point --home or BLOCKYARD_HOME at the server's";
    super(`the server at ${url} refused the token. ${fix}`);
  }
}

/** The address that the server of this data directory has recorded. */
export function runningServer(home: string): ServerAddress {
  const server = readAddress(home);
  if (server && isAlive(server.pid)) return server;
  throw new CommandError("no server is running. Start one: blockyard");
}

function commandUrl(home: string): string {
  const { url, local } = runningServer(home);
  return local ?? url;
}

/** Where a browser finds the server's page. */
export function pageUrl(home: string): string {
  return process.env["BLOCKYARD_URL"] || runningServer(home).url;
}

async function reach(url: string, ask: () => Promise<Response>): Promise<Response> {
  try {
    return await ask();
  } catch {
    const lost = problem("unavailable", `the server at ${url} does not answer. Start it: blockyard`);
    return Response.json(lost, { status: 503 });
  }
}

/** The owner's token of a data directory, if this account can read it. */
export function ownerTokenIn(given: string | undefined): string | undefined {
  const { home } = makeConfig({ env: process.env, ...(given === undefined ? {} : { home: given }) });
  try {
    return readFileSync(join(home, "token"), "utf8").trim();
  } catch {
    return undefined;
  }
}

function ownerToken(home: string): string {
  const path = join(home, "token");
  if (!existsSync(path)) throw new CommandError("there is no token yet. Start a server: blockyard");
  return readFileSync(path, "utf8").trim();
}
