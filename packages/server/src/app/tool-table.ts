/**
 * The one tool table of a running server: the kernel's tools, those of turns and those of files, called by every transport in
 * the same way.
 */

import {
  type Ask,
  type AskSubject,
  type AuditLog,
  type Block,
  type CallsOf,
  Cursors,
  callBytes,
  callIn,
  coreTools,
  isProblem,
  type Kernel,
  makeTable,
  may,
  type Problem,
  problem,
  type Signal,
  schemasOf,
  type ToolSchema,
  type ToolTable,
} from "@blockyard/kernel";
import { accessTools } from "../access/access-tools.ts";
import { Audit, aboutCall } from "../access/audit.ts";
import type { Auth, Caller } from "../access/auth.ts";
import type { Config } from "../config/config.ts";
import { filePort } from "../files/file-open.ts";
import { Files } from "../files/files.ts";
import { loopFiles } from "../files/loop-files.ts";
import { fileBlocksIn } from "../files/named-files.ts";
import { fileTools } from "../files/tools.ts";
import { veiled } from "../files/veil.ts";
import { Secrets } from "../ingest/secrets.ts";
import { ProcessTracker } from "../processes/process-tracker.ts";
import { Reruns } from "../rerun/rerun.ts";
import { rerunTools } from "../rerun/tools.ts";
import { Sandbox } from "../sandbox/sandbox.ts";
import { SearchPool } from "../search/pool.ts";
import { SEARCH_PROGRAM } from "../stores/sqlite/search/program.ts";
import type { Log } from "../system/log.ts";
import { oneAnswer, type ToolAnswer } from "../system/streamed-answer.ts";
import { hasRemote } from "../trust/git-remote.ts";
import { trustTools } from "../trust/tools.ts";
import { Trust } from "../trust/trust.ts";
import { AGENTS } from "../turns/agents.ts";
import { acpAgents } from "../turns/drivers/acp/agents.ts";
import { contextTool } from "../turns/loop/conversation-context.ts";
import { Prices } from "../turns/prices.ts";
import { type Place, Rules } from "../turns/rules/rules.ts";
import { ruleTools } from "../turns/rules/tools.ts";
import type { TurnRequest } from "../turns/run.ts";
import { turnTools } from "../turns/tools.ts";
import { Turns } from "../turns/turns.ts";
import { WorkspaceObserver } from "../turns/workspace/observed.ts";
import { driversOf } from "./drivers.ts";

interface CallCare {
  readonly key?: string | undefined;
  /** Nobody waits for the answer any more. */
  readonly signal?: AbortSignal | undefined;
  /** Guarded files that the owner has allowed to this one call. */
  readonly permitted?: readonly string[];
}

/** The tools of an agent, for listing them while no server runs. Only calls would need the parts behind the tools. */
export function agentSchemas(): readonly ToolSchema[] {
  const providers: readonly string[] = [...AGENTS.keys(), ...acpAgents({}).map(({ provider }) => provider)];
  const turns = { providers } as Turns;
  // The schemas need no part: only a call would use one, and nobody calls here.
  const nothing = undefined as never;
  const table = tableOf(turns, nothing, nothing, nothing, nothing, { auth: nothing, audit: nothing }, "");
  return schemasOf(table).filter(({ access }) => may("agent", access));
}

function tableOf(...parts: Parameters<typeof toolsOf>): ToolTable {
  return makeTable(toolsOf(...parts));
}

/** Each part's tools; the types say which they are. */
function toolsOf(
  turns: Turns,
  reruns: Reruns,
  files: Files,
  trust: Trust,
  rules: Rules,
  access: AccessParts,
  root: string,
) {
  return [
    ...coreTools,
    contextTool,
    ...turnTools(turns, root),
    ...rerunTools(reruns),
    ...fileTools(files),
    ...accessTools(access.auth, access.audit),
    ...trustTools(trust),
    ...ruleTools(rules, turns),
  ] as const;
}

interface AccessParts {
  readonly auth: Auth;
  readonly audit: AuditLog;
}

/** The served tools. A test checks that they are exactly those in contract.ts. */
export type ServedCalls = CallsOf<ReturnType<typeof toolsOf>>;

export class Tools {
  readonly #kernel: Kernel;
  readonly #log: Log;
  /** Matches the texts of single blocks, off this thread. */
  readonly #searcher: SearchPool;
  readonly #table: ToolTable;
  readonly #cursors: Cursors;
  readonly #tracker: ProcessTracker;
  readonly #views = new Map<string, Kernel>();
  readonly #reruns: Reruns;
  readonly turns: Turns;
  readonly files: Files;
  readonly audit: Audit;
  readonly sandbox: Sandbox;
  /** Whether secrets are to be removed from stored text. */
  readonly secrets: Secrets | undefined;

  constructor(kernel: Kernel, config: Config, log: Log, auth: Auth) {
    this.#kernel = kernel;
    this.audit = new Audit(kernel.store.audit, log);
    this.#log = log;
    this.#searcher = new SearchPool({
      program: SEARCH_PROGRAM,
      report: (message) => log("error", "search", { message }),
    });
    this.#cursors = new Cursors(kernel);
    this.files = new Files({ kernel, root: config.root, closed: [config.home], log });
    this.#tracker = new ProcessTracker(config.home);
    void this.#tracker.swept.then((killed) => {
      if (killed > 0) log("info", "killed processes that agents of an earlier run left", { killed });
    });
    this.sandbox = new Sandbox({
      mode: config.sandbox ?? "on",
      agents: config.sandboxAgents === true,
      root: config.root,
      data: config.home,
      env: process.env,
    });
    this.secrets = config.redactIngest ? new Secrets() : undefined;
    const { sandbox, secrets } = this;
    const prices = new Prices(config.home);
    const rules = new Rules(config.home, kernel.env, hasRemote);
    const trust = new Trust(config.home, config.root, () => kernel.env.now());
    const place = {
      kernel,
      root: config.root,
      env: process.env,
      tracker: this.#tracker,
      sandbox,
      prices,
      fullAccess: config.fullAccess === true,
      home: config.home,
      suggest: (ask: Ask, cwd: string) => rules.offered(ask, cwd),
      secrets,
    };
    const loop = {
      ...place,
      denied: (subject: AskSubject, at: Place) => rules.denied(subject, at),
      matcher: this.#searcher.matcher,
      schemas: () => this.schemas(),
      call: async (agent: string, name: string, input: unknown, permitted: readonly string[]) => {
        const answer = await this.#call({ agent, role: "agent", by: "token" }, name, input, { permitted });
        return oneAnswer(name, answer, "read the block or the conversation instead");
      },
      files: (agent: string) => loopFiles(this.files, kernel, agent),
      onFault: (what: string, error: unknown) => this.#fault(what, error),
    };
    this.turns = new Turns({
      kernel,
      drivers: driversOf({ ...place, keepsRules: (cwd, kept) => trust.keeps("owner", cwd, kept) }, loop),
      trust: (cwd) => trust.question(cwd),
      shows: (request) => this.#mayShow(request),
      rules,
      fullAccess: config.fullAccess === true,
      home: config.home,
      observer: new WorkspaceObserver(kernel, config.root, process.env, secrets),
      secrets,
    });
    this.#reruns = new Reruns({ ...place, isRedacted: secrets !== undefined });
    const access = { auth, audit: kernel.store.audit };
    this.#table = tableOf(this.turns, this.#reruns, this.files, trust, rules, access, config.root);
  }

  get presence(): Cursors {
    return this.#cursors;
  }

  schemas(): readonly ToolSchema[] {
    return schemasOf(this.#table);
  }

  /** Tools whose calls may need a proof, by name. */
  sensitive(): readonly string[] {
    return this.#table.tools.filter((each) => each.sensitive).map(({ name }) => name);
  }

  /** The tools that this caller may call: nobody sees one that would be refused. */
  schemasFor({ role }: Caller): readonly ToolSchema[] {
    return this.schemas().filter(({ access }) => may(role, access));
  }

  /** How many bytes of JSON a caller's input of a tool may have, or why it would be refused. */
  callBytes(caller: Caller, name: string): number | Problem {
    return callBytes(this.#table, caller, name);
  }

  /** Whether a tool stores something. */
  writes(name: string): boolean {
    return this.#table.find(name)?.access === "write";
  }

  /** `signal`: nobody waits for the answer any more. */
  async call(
    caller: Caller,
    name: string,
    input: unknown,
    key?: string,
    signal?: AbortSignal,
  ): Promise<ToolAnswer> {
    return this.#call(caller, name, input, { key, signal });
  }

  async #call(
    caller: Caller,
    name: string,
    input: unknown,
    { key, signal, permitted = [] }: CallCare,
  ): Promise<ToolAnswer> {
    const hidden = caller.role === "owner" ? undefined : await this.#hidden(caller, input, permitted);
    if (hidden) return hidden;
    const tool = this.#table.find(name);
    const isSensitive =
      tool !== undefined &&
      may(caller.role, tool.access) &&
      (await tool.sensitive?.(input, this.#kernel)) === true;
    if (!isSensitive) return this.#run(caller, name, input, { key, signal, permitted });
    if (caller.by !== "token" && caller.proof === undefined)
      return problem("forbidden", `${name} needs a proof that the page creates for this call`, {
        needs: "proof",
      });
    const about = await aboutCall(this.#kernel, input);
    const entry = await this.audit.record(caller, name, about, caller.proof);
    if (isProblem(entry)) return entry;
    const answer = await this.#run(caller, name, input, { key, signal, permitted });
    if (isProblem(answer)) await this.audit.refused(caller, name, about, entry, answer);
    return answer;
  }

  async #run(
    caller: Caller,
    name: string,
    input: unknown,
    { key, signal, permitted = [] }: CallCare,
  ): Promise<ToolAnswer> {
    await this.#touch(input);
    const answer = await callIn(
      this.#table,
      {
        kernel: permitted.length === 0 ? this.kernelFor(caller) : this.#veiled(caller.agent, permitted),
        caller: { agent: caller.agent, role: caller.role },
        matcher: caller.role === "owner" ? this.#searcher.matcher : this.#searcher.guestMatcher,
        cursors: this.#cursors,
        files: filePort(this.files, permitted),
        onFault: (tool, error) => this.#fault(tool, error),
        ...(key === undefined ? {} : { key }),
        ...(signal === undefined ? {} : { signal: signal as Signal }),
      },
      name,
      input,
    );
    return (answer ?? null) as ToolAnswer;
  }

  /** The blocks as a caller may see them. One for each, because it caches the results of its keys. */
  kernelFor({ agent, role }: Pick<Caller, "agent" | "role">): Kernel {
    if (role === "owner") return this.#kernel;
    const known = this.#views.get(agent);
    if (known) return known;
    const view = this.#veiled(agent, []);
    this.#views.set(agent, view);
    return view;
  }

  #veiled(agent: string, permitted: readonly string[]): Kernel {
    return veiled(this.#kernel, (block) => this.#guards(block, agent, permitted));
  }

  #guards(block: Block, agent: string, permitted: readonly string[]): Problem | undefined {
    const isPermitted = permitted.includes(String(block.metadata.path));
    return isPermitted ? undefined : this.files.guarded.guards(block, agent);
  }

  /** A guarded file that is included would reach the agent unasked: it needs the owner's grant to that agent. */
  async #mayShow({ conversation, provider }: TurnRequest): Promise<Problem | undefined> {
    const record = await this.#kernel.conversation(conversation);
    if (isProblem(record) || record.included.length === 0) return undefined; // the turn shows the problem
    await this.files.ready();
    for (const id of record.included) {
      const block = await this.#kernel.block(id);
      const refused = isProblem(block) ? undefined : this.files.guarded.guards(block, provider);
      if (!refused) continue;
      const { path = id, reason = "" } = (refused.details ?? {}) as { path?: string; reason?: string };
      return problem(
        "forbidden",
        `${path} is included in this conversation and is guarded: ${reason}. Allow it to ${provider} with: blockyard grant ` +
          `${path} --agent ${provider}. Or remove it from the context`,
        { ...refused.details, needs: "grant", agent: provider },
      );
    }
    return undefined;
  }

  /** Why the caller may not touch a block that it names. */
  async #hidden(
    { agent }: Caller,
    input: unknown,
    permitted: readonly string[],
  ): Promise<Problem | undefined> {
    await this.files.ready();
    for (const block of await fileBlocksIn(this.#kernel, input)) {
      const refused = this.#guards(block, agent, permitted);
      if (refused) return refused;
    }
    return undefined;
  }

  /** Whether somebody has a cursor in a block. */
  hasCursor(id: string): boolean {
    const conversation = id.split("/", 1)[0] ?? "";
    return this.#cursors.of(conversation).some(({ block }) => block === id);
  }

  /** Stops every agent. Files are closed separately, when nobody can edit them any more. */
  async close(): Promise<void> {
    await Promise.all([this.turns.close(), this.#reruns.close()]);
    await this.#tracker.close();
    this.#cursors.close();
    await this.#searcher.close();
  }

  /** A file that a call names is first checked on disk: reads and edits use its current content. */
  async #touch(input: unknown): Promise<void> {
    const id = (input as { block_id?: unknown } | null | undefined)?.block_id;
    if (typeof id === "string" && this.files.isFile(id)) await this.files.touch(id);
  }

  #fault(tool: string, error: unknown): void {
    this.#log("error", "a tool failed", { tool, error: String((error as Error)?.stack ?? error) });
  }
}
