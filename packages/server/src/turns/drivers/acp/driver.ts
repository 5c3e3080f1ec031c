/**
 * The driver of one agent over ACP. Its process lives on between turns of a conversation, for a while: starting one takes seconds.
 * Idle ones are bounded in time and number, the oldest goes first.
 */

import { statSync } from "node:fs";
import { isAbsolute } from "node:path";
import { type ConversationId, isProblem, type Problem, problem } from "@blockyard/kernel";
import type { Abilities, Driver } from "../../driver.ts";
import type { TurnRequest } from "../../run.ts";
import { type AcpAgent, acpSpec } from "./agents.ts";
import type { Connection } from "./connection.ts";
import { type AcpOptions, AcpRun, type Idle } from "./run.ts";

const IDLE_MS = 5 * 60_000;
const MOST_IDLE = 3;

/** What the protocol lets an agent do; what one of them lacks shows when it is asked for. */
const ACP: Abilities = {
  resumes: true,
  staysAlive: true,
  asks: ["permission", "question", "plan", "elicitation"],
  rules: true,
  modes: ["plan", "ask", "edits", "full"],
  steering: "turn",
  midTurn: ["mode", "model"],
  stopsTasks: false,
  // What they tell of these stands in the conversation's session; nobody can ask for it yet.
  commands: false,
  models: false,
  usage: false,
};

export interface AcpDriverOptions extends AcpOptions {
  readonly idleMs?: number | undefined;
}

export function acpDriver(agent: AcpAgent, options: AcpDriverOptions): Driver {
  const idle = new IdleConnections(options);
  return {
    provider: agent.provider,
    abilities: ACP,
    check: (request) => check(agent, options, request),
    start: async (start) => new AcpRun(agent, options, start, idle),
    close: (conversation) => idle.close(conversation),
  };
}

function check(agent: AcpAgent, { root, env }: AcpOptions, { cwd = root }: TurnRequest): Problem | undefined {
  const spec = acpSpec(agent, cwd, env);
  if (isProblem(spec)) return spec;
  // Some agents make a session in a folder that is not there.
  if (isAbsolute(cwd) && statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) return undefined;
  return problem("invalid", `the folder ${cwd} is not there`);
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
    const cancel = kernel.env.after(idleMs ?? IDLE_MS, () => void this.close(conversation));
    this.#waiting.set(conversation, { connection, cancel });
    void connection.ended.then(() => {
      if (this.#waiting.get(conversation)?.connection === connection) this.#forget(conversation);
    });
    for (const oldest of this.#waiting.keys()) {
      if (this.#waiting.size <= MOST_IDLE) return;
      void this.close(oldest);
    }
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
