/** What `blockyard doctor` looks at: Node, data directory, database, server, agents, page. Each check is one finding. */

import { execFile } from "node:child_process";
import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { plural } from "@blockyard/kernel";
import { Auth } from "../access/auth.ts";
import { AuthError } from "../access/auth-error.ts";
import { isSomethingElse } from "../config/config.ts";
import type { DatabaseAddress } from "../config/database-address.ts";
import { findCommand } from "../processes/child.ts";
import { childEnvironment } from "../processes/child-env.ts";
import { nodeEnv } from "../system/env.ts";
import { DIST } from "../transports/page.ts";
import { AGENTS, type Agent } from "../turns/agents.ts";
import type { Login } from "../turns/driver.ts";
import { type AcpAgent, acpAgents, acpVariable } from "../turns/drivers/acp/agents.ts";
import { logins } from "../turns/logins.ts";
import { Prices } from "../turns/prices.ts";
import { pageUrl, serverClient } from "./client.ts";
import { CommandError } from "./command.ts";
import { checkFile, checkNamed } from "./database-check.ts";
import { type Finding, plain } from "./finding.ts";
import { AGENT_VERSION_MS, DOCTOR_HEALTH_MS } from "./limits.ts";
import { lineWidth, wrapped } from "./terminal.ts";
import { asTyped } from "./typed-command.ts";

const MIN_NODE = 24;
const MIN_SQLITE = "3.51.3";

export async function examine(
  home: string,
  env: Readonly<Record<string, string | undefined>>,
  database?: DatabaseAddress,
): Promise<readonly Finding[]> {
  const { server, sandbox } = await checkServer(home);
  const known = await logins(env, nodeEnv);
  const agents = await Promise.all(
    [...AGENTS.values()].map((agent) => checkAgent(agent, env, known.get(agent.provider))),
  );
  const others = await Promise.all(acpAgents(env).map((agent) => checkAcpAgent(agent, env)));
  const hasServer = server.state === "ok" || server.fix === DATABASE_FIX || server.fix === BUSY_FIX;
  return [
    checkNode(process.versions.node),
    checkSqlite(process.versions.sqlite ?? "0"),
    ...checkHome(home),
    ...checkPrices(home),
    ...(database ? [await checkNamed(database)] : checkFile(join(home, "blockyard.db"), hasServer)),
    server,
    ...checkSandbox(sandbox, env),
    ...agents,
    ...others.flat(),
    checkPage(DIST),
  ];
}

export function checkNode(version: string): Finding {
  const isNew = Number(version.split(".", 1)[0]) >= MIN_NODE;
  const found = { check: "node", message: `Node ${version}` };
  return isNew
    ? { ...found, state: "ok" }
    : { ...found, state: "fail", fix: `install Node ${MIN_NODE} or newer from https://nodejs.org` };
}

export function checkSqlite(version: string): Finding {
  const isNew = version.localeCompare(MIN_SQLITE, undefined, { numeric: true }) >= 0;
  const found = { check: "sqlite", message: `SQLite ${version}` };
  return isNew
    ? { ...found, state: "ok" }
    : {
        ...found,
        state: "fail",
        fix: `install a newer Node ${MIN_NODE}: SQLite ${MIN_SQLITE} or newer is required`,
      };
}

/** A price table that cannot be read prices nothing. */
export function checkPrices(home: string): readonly Finding[] {
  const { table, problem } = new Prices(home).read();
  const models = Object.keys(table).length;
  if (problem !== undefined) {
    const fix = "correct or delete the file; docs/guides/operations.md shows the format";
    return [{ check: "prices", state: "warn", message: problem, fix }];
  }
  return models === 0
    ? []
    : [{ check: "prices", state: "ok", message: `prices for ${plural(models, "model")}` }];
}

/** Files that must be their owner's alone. */
export function checkHome(home: string): readonly Finding[] {
  if (!existsSync(home)) return [missingHome(home)];
  const closed = closedHome(home) ?? otherFolder(home);
  if (closed) return [closed];
  const rows: [string, string, number][] = [
    ["home", home, 0o700],
    ["token", join(home, "token"), 0o600],
    ["agent tokens", join(home, "tokens.json"), 0o600],
  ];
  const found = rows.flatMap(([check, path, wanted]): Finding[] => {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (!stat) return [];
    if (path.endsWith("token") && stat.size === 0) {
      const fix = "start a server, which creates a new one: blockyard";
      return [{ check, state: "warn", message: `${path} is empty (0 bytes)`, fix }];
    }
    const mode = (stat.mode & 0o777).toString(8);
    if ((stat.mode & 0o077) === 0 || process.platform === "win32")
      return [{ check, state: "ok", message: `${path} is private (mode ${mode})` }];
    const fix = `chmod ${wanted.toString(8)} ${path}`;
    return [{ check, state: "fail", message: `${path} can be read by others (mode ${mode})`, fix }];
  });
  const isPrivate = found.every(({ state }) => state === "ok");
  return isPrivate && existsSync(join(home, "token")) ? [...found, ...unusableTokens(home)] : found;
}

/** Whether a start could make it. */
function missingHome(home: string): Finding {
  const check = "home";
  let above = dirname(home);
  while (!existsSync(above) && dirname(above) !== above) above = dirname(above);
  const closed = closedHome(above);
  if (closed === undefined)
    return { check, state: "warn", message: `${home} does not exist yet`, fix: "start a server: blockyard" };
  return { ...closed, message: `${home} cannot be created: ${closed.message}` };
}

/** What is no folder, or another account's, is not looked into. */
function closedHome(home: string): Finding | undefined {
  const fix = "choose another directory with --home";
  if (!statSync(home).isDirectory())
    return { check: "home", state: "fail", message: `${home} is not a directory`, fix };
  try {
    accessSync(home, constants.R_OK | constants.W_OK | constants.X_OK);
    return undefined;
  } catch {
    return { check: "home", state: "fail", message: `this account cannot use ${home}`, fix };
  }
}

/** A project, or /tmp: it is not to be closed to everybody else. */
function otherFolder(home: string): Finding | undefined {
  if (process.platform === "win32" || !isSomethingElse(home)) return undefined;
  const message = `${home} contains other files and is not a data directory`;
  return { check: "home", state: "fail", message, fix: "choose an empty directory with --home" };
}

/** What a server would refuse to start with. Makes nothing: the owner's token is there. */
function unusableTokens(home: string): readonly Finding[] {
  try {
    new Auth(home, "owner", Date.now).list();
    return [];
  } catch (error) {
    if (!(error instanceof AuthError)) throw error;
    const [, message = error.message, fix = "delete it"] = /^(.*)[;:] (delete .*)$/.exec(error.message) ?? [];
    return [{ check: "tokens", state: "fail", message, fix }];
  }
}

const DATABASE_FIX =
  "make the database reachable again, or stop the server and restore the file; the server recovers by itself";

const BUSY_FIX = "wait until the machine is less busy; if it still does not answer, restart it: blockyard";

const SLOW_FIX = "run it in a terminal; if it answers there, this machine was only busy";

interface ServerFinding {
  readonly server: Finding;
  /** How it says that commands run. */
  readonly sandbox?: string;
}

async function checkServer(home: string): Promise<ServerFinding> {
  const check = "server";
  const found = (server: Omit<Finding, "check">) => ({ server: { check, ...server } });
  try {
    const client = serverClient({ home });
    const response = await client.fetch("/health", { signal: AbortSignal.timeout(DOCTOR_HEALTH_MS) });
    const health = (await response.json().catch(() => ({}))) as { readonly [name: string]: unknown };
    const { database, sandbox, root } = health;
    const told = typeof sandbox === "string" ? { sandbox } : {};
    if (response.ok) {
      const folder = typeof root === "string" ? `, for ${root}` : "";
      return { ...found({ state: "ok", message: `answers at ${pageUrl(home)}${folder}` }), ...told };
    }
    if (typeof database === "string") {
      const message = `running, but it cannot use its database: ${database}`;
      return { ...found({ state: "fail", message, fix: DATABASE_FIX }), ...told };
    }
    const fix = "restart it: blockyard";
    return found({ state: "fail", message: `${client.url} answers with status ${response.status}`, fix });
  } catch (error) {
    if (error instanceof CommandError)
      return found({ state: "warn", message: "not running", fix: "start it: blockyard" });
    if ((error as Error).name === "TimeoutError")
      return found({
        state: "warn",
        message: `has not answered for ${DOCTOR_HEALTH_MS / 1_000} s`,
        fix: BUSY_FIX,
      });
    const fix = "restart it: blockyard";
    return found({ state: "fail", message: "it should be running, but does not answer", fix });
  }
}

/** What the server says of it; where none runs, whether the program is there that it would use. */
export function checkSandbox(
  words: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): readonly Finding[] {
  const check = "sandbox";
  if (words?.startsWith("sandboxed")) return [{ check, state: "ok", message: `commands run ${words}` }];
  const isMissing =
    process.platform === "linux" && findCommand("bwrap", env["PATH"], process.cwd()) === undefined;
  if (words === undefined && !isMissing) return [];
  const message = `commands run ${words ?? "not sandboxed: bubblewrap is not installed"}`;
  const fix = isMissing
    ? "apt install bubblewrap, then restart the server"
    : words?.endsWith("switched off")
      ? "start the server without BLOCKYARD_SANDBOX=off"
      : "fix the cause above, then restart the server; until then every command needs approval";
  return [{ check, state: "warn", message, fix }];
}

async function checkAgent(
  agent: Agent,
  env: Readonly<Record<string, string | undefined>>,
  login: Login | undefined,
): Promise<Finding> {
  const check = agent.provider;
  const named = env[agent.variable] ?? agent.command;
  const file = findCommand(named, env["PATH"], process.cwd());
  const fix = `${agent.install}, or set ${agent.variable} to its path`;
  if (file === undefined) return { check, state: "warn", message: `${named} was not found`, fix };
  const said = await versionOf(file, childEnvironment(agent.kind, env));
  if ("problem" in said)
    return { check, state: "warn", message: said.problem, fix: said.isSlow ? SLOW_FIX : fix };
  const { message } = said;
  if (login?.state === "out")
    return { check, state: "warn", message: `${message}, nobody is logged in`, fix: login.how ?? "log in" };
  const account = login?.account === undefined ? "" : `, logged in (${plain(login.account)})`;
  return { check, state: "ok", message: `${message}${account}` };
}

/** An agent over ACP, where it is there. Nobody needs all of them: of one that is missing only who has named it hears. */
export async function checkAcpAgent(
  agent: AcpAgent,
  env: Readonly<Record<string, string | undefined>>,
): Promise<readonly Finding[]> {
  const check = agent.provider;
  const variable = acpVariable(agent);
  const isNamed = env[variable] !== undefined;
  const [name = ""] = agent.command;
  const file = findCommand(name, env["PATH"], process.cwd());
  if (file === undefined) {
    const fix = `correct ${variable}, or remove it`;
    return isNamed ? [{ check, state: "warn", message: `${name} was not found`, fix }] : [];
  }
  // The first word of a line that somebody wrote may be any program, such as a runtime: its version says nothing.
  if (isNamed) return [{ check, state: "ok", message: `started with ${file}, as ${variable} says` }];
  const said = await versionOf(file, childEnvironment("acp", env, agent.variables));
  if ("message" in said) return [{ check, state: "ok", message: said.message }];
  const fix = said.isSlow ? SLOW_FIX : `install it again: ${agent.install}`;
  return [{ check, state: "warn", message: said.problem, fix }];
}

export async function versionOf(
  file: string,
  env: Readonly<Record<string, string | undefined>>,
  limitMs = AGENT_VERSION_MS,
): Promise<{ readonly message: string } | { readonly problem: string; readonly isSlow?: true }> {
  try {
    const { stdout } = await promisify(execFile)(file, ["--version"], {
      timeout: limitMs,
      env: env as NodeJS.ProcessEnv,
    });
    return { message: `${plain(stdout.trim().split("\n", 1)[0] ?? "")} at ${file}`.trim() };
  } catch (error) {
    const { killed, message } = error as Error & { readonly killed?: boolean };
    // Killed by its time limit: it says nothing of that itself, and nothing about the program.
    if (killed === true)
      return { problem: `${file} --version has not answered for ${limitMs / 1_000} s`, isSlow: true };
    return { problem: `${file} --version failed: ${plain(message)}` };
  }
}

export function checkPage(folder: string): Finding {
  return existsSync(join(folder, "index.html"))
    ? { check: "page", state: "ok", message: "built" }
    : { check: "page", state: "warn", message: "not built", fix: "run npm start, which builds it" };
}

export function line({ check, state, message, fix }: Finding): string {
  const told = `${wrapped(`${state.padEnd(4)}  ${check}: ${message}`, lineWidth(), 6)}\n`;
  return fix === undefined ? told : `${told}${wrapped(`      → ${asTyped(fix)}`, lineWidth(), 8)}\n`;
}
