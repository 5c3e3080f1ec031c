/**
 * The driver of one agent over ACP. Its process lives on between turns of a conversation, for a while: starting one takes seconds.
 * Idle ones are bounded in time and number, the oldest goes first.
 */

import { statSync } from "node:fs";
import { isAbsolute } from "node:path";
import { type ConversationId, isProblem, type Problem, problem } from "@blockyard/kernel";
import type { Abilities, Driver, Login } from "../../driver.ts";
import type { TurnRequest } from "../../run.ts";
import { SecondTry } from "../../second-try.ts";
import { type AcpAgent, acpSpec } from "./agents.ts";
import { Connection } from "./connection.ts";
import { IDLE_MS, IDLE_PROCESSES } from "./limits.ts";
import { offersOf } from "./offers.ts";
import { type AcpOptions, AcpRun, type Idle } from "./run.ts";
import { type Choice, modelsIn } from "./settings.ts";

/** What the protocol lets an agent do; what one of them lacks shows when it is asked for, or is in its line of agents.ts. */
const ACP_ABILITIES: Abilities = {
  resumes: true,
  staysAlive: true,
  asks: ["permission", "question", "plan", "elicitation"],
  rules: true,
  modes: ["plan", "ask", "edits", "full"],
  sandboxes: [],
  steering: "turn",
  midTurn: ["mode", "model"],
  stopsTasks: false,
  commands: true,
  models: true,
  usage: true,
  efforts: true,
  limits: false,
  servers: false,
};

interface AcpDriverOptions extends AcpOptions {
  readonly idleMs?: number | undefined;
}

export function acpDriver(agent: AcpAgent, options: AcpDriverOptions): Driver {
  const idle = new IdleConnections(options);
  const live = new Map<ConversationId, AcpRun>();
  /** Its models, and whether somebody is logged in, as it last said. */
  let models: readonly Choice[] | undefined;
  let login: Login = { state: "unknown" };
  const seen = (made: Connection | Problem): void => {
    if (!isProblem(made)) {
      login = { state: "in" };
      models = modelsIn(made.session);
    } else if (made.details?.["login"] === "out") login = { state: "out", how: made.message };
  };
  /** In a folder where nothing acts by itself, and only to ask. */
  const aside = async (): Promise<void> => {
    const made = await opened(agent, options, options.home ?? options.root);
    seen(made);
    if (!isProblem(made)) await made.close();
  };
  return {
    provider: agent.provider,
    abilities: { ...ACP_ABILITIES, ...agent.abilities },
    check: (request) => check(agent, options, request),
    start: async (start) => {
      const { conversation } = start.request;
      const begin = (): AcpRun => {
        const run = new AcpRun(agent, options, start, idle, seen);
        live.set(conversation, run);
        void run.ended.then(() => live.get(conversation) === run && live.delete(conversation));
        return run;
      };
      return new SecondTry(begin(), async () => begin());
    },
    async refusesModel({ model }) {
      if (model === undefined) return undefined; // an effort is refused when the session says which there are
      if (models === undefined) await aside();
      const known = models ?? [];
      if (known.length === 0 || known.some(({ id, name }) => id === model || name === model))
        return undefined;
      const names = known.slice(0, 20).map(({ id }) => id);
      const message = `${agent.provider} has no model ${model}: ${names.join(", ")}${known.length > 20 ? ", …" : ""}`;
      return problem("invalid", message, { models: names });
    },
    login: async () => login,
    async offers(conversation, cwd) {
      // One that is being started for a turn tells it as well: none is started beside it.
      const known = (await live.get(conversation)?.opened) ?? idle.peek(conversation);
      const connection =
        known ?? (await opened(agent, options, cwd, await sessionOf(options, agent, conversation)));
      if (known === undefined) seen(connection);
      if (isProblem(connection)) return connection;
      await connection.toldCommands;
      const offers = offersOf(connection);
      if (known === undefined) {
        const isNeeded = !live.has(conversation) && idle.peek(conversation) === undefined;
        if (isNeeded) idle.put(conversation, connection);
        else await connection.close();
      }
      return offers;
    },
    close: (conversation) => idle.close(conversation),
  };
}

/** A connection with a session: the one that it had, where it still has it. */
async function opened(
  agent: AcpAgent,
  options: AcpOptions,
  cwd: string,
  session?: string,
): Promise<Connection | Problem> {
  const spec = acpSpec(agent, cwd, options.env);
  if (isProblem(spec)) return spec;
  await options.tracker.swept;
  const confined = (await options.sandbox?.confineAgent(agent.provider, spec)) ?? spec;
  const connection = new Connection(confined, { ...options, env: options.kernel.env });
  const unable = await connection.greet();
  const isThere = unable === undefined && session !== undefined && (await connection.resume(session));
  const refused = unable ?? (isThere ? undefined : await connection.create());
  if (refused === undefined) return connection;
  connection.kill();
  await connection.ended;
  return refused;
}

/** The session of its last turn that was begun here. */
async function sessionOf(
  { kernel }: AcpOptions,
  { provider }: AcpAgent,
  conversation: ConversationId,
): Promise<string | undefined> {
  const turns = await kernel.turns(conversation);
  if (isProblem(turns)) return undefined;
  return turns.findLast((turn) => turn.provider === provider && turn.startedBy !== undefined)?.sessionId;
}

function check(agent: AcpAgent, { root, env }: AcpOptions, { cwd = root }: TurnRequest): Problem | undefined {
  const spec = acpSpec(agent, cwd, env);
  if (isProblem(spec)) return spec;
  // Some agents make a session in a folder that is not there.
  if (isAbsolute(cwd) && statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) return undefined;
  return problem("invalid", `the folder ${cwd} does not exist`);
}

class IdleConnections implements Idle {
  readonly #options: AcpDriverOptions;
  readonly #waiting = new Map<ConversationId, { connection: Connection; cancel: () => void }>();

  constructor(options: AcpDriverOptions) {
    this.#options = options;
  }

  take(conversation: ConversationId, cwd: string): Connection | undefined {
    const found = this.#forget(conversation);
    if (found === undefined || found.cwd === cwd) return found;
    void found.close();
    return undefined;
  }

  put(conversation: ConversationId, connection: Connection): void {
    const { kernel, idleMs } = this.#options;
    void this.close(conversation);
    const cancel = kernel.env.after(idleMs ?? IDLE_MS, () => void this.close(conversation));
    this.#waiting.set(conversation, { connection, cancel });
    void connection.ended.then(() => {
      if (this.#waiting.get(conversation)?.connection === connection) this.#forget(conversation);
    });
    for (const oldest of this.#waiting.keys()) {
      if (this.#waiting.size <= IDLE_PROCESSES) return;
      void this.close(oldest);
    }
  }

  peek(conversation: ConversationId): Connection | undefined {
    return this.#waiting.get(conversation)?.connection;
  }

  async close(conversation?: ConversationId): Promise<void> {
    const meant = conversation === undefined ? [...this.#waiting.keys()] : [conversation];
    await Promise.all(meant.map((each) => this.#forget(each)?.close()));
  }

  #forget(conversation: ConversationId): Connection | undefined {
    const found = this.#waiting.get(conversation);
    this.#waiting.delete(conversation);
    found?.cancel();
    return found?.connection;
  }
}
