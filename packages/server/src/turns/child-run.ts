/**
 * A turn of an agent that runs as a child process: its output goes through the provider's adapter, its input takes the
 * owner's answers. How each agent is started and spoken to is in agents.ts.
 *
 * It ends with the child, whatever the child does: dies, hangs after its result, is silent for too long.
 */

import { isProblem, type Kernel, problem, type Reason } from "@blockyard/kernel";
import { type Provider, providers } from "@blockyard/providers";
import { StreamIngest } from "../ingest-stream.ts";
import { type Agent, childSpec } from "./agents.ts";
import { Child, type ChildEnd, type ChildSpec } from "./child.ts";
import type { Answer, Run, RunEnd, Runner, TurnRequest, TurnStart } from "./run.ts";

export interface ChildOptions {
  readonly kernel: Kernel;
  readonly root: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** An agent that says nothing for this long is stopped. */
  readonly silentMs?: number | undefined;
}

const SILENT_MS = 10 * 60_000;
const LINGER_MS = 10_000;

/** Turns of one agent. */
export function childRunner(agent: Agent, options: ChildOptions): Runner {
  const specOf = ({ prompt, model }: TurnRequest, session?: string) =>
    childSpec(agent, requestOf(options, prompt, model, session));
  return {
    provider: agent.provider,
    check: (request) => {
      const spec = specOf(request);
      return isProblem(spec) ? spec : undefined;
    },
    async begin(start) {
      const { request } = start;
      const record = await options.kernel.conversation(request.conversation);
      const goesOn = !isProblem(record) && !request.fresh && !request.parent;
      const session = goesOn ? record.sessions[agent.provider] : undefined;
      const spec = specOf(request, session);
      if (isProblem(spec)) return spec;
      const provider = providers.get(agent.provider);
      if (!provider) return problem("unavailable", `there is no adapter for ${agent.provider}`);
      return new ChildRun(
        options,
        start,
        agent,
        provider,
        spec,
        agent.input(requestOf(options, request.prompt)),
      );
    },
  };
}

function requestOf({ root, env }: ChildOptions, prompt: string, model?: string, session?: string) {
  return {
    prompt,
    cwd: root,
    env,
    ...(model === undefined ? {} : { model }),
    ...(session === undefined ? {} : { session }),
  };
}

class ChildRun implements Run {
  readonly ended: Promise<RunEnd>;
  readonly #options: ChildOptions;
  readonly #child: Child;
  readonly #stream: StreamIngest;
  #stopping: Reason | undefined;
  /** The provider has said that the turn is over. */
  #isOver = false;
  #cancelSilence: (() => void) | undefined;

  constructor(
    options: ChildOptions,
    start: TurnStart,
    agent: Agent,
    provider: Provider,
    spec: ChildSpec,
    input: string,
  ) {
    this.#options = options;
    this.#child = new Child(spec);
    this.#stream = new StreamIngest(options.kernel, {
      conversation: start.request.conversation,
      agent: agent.provider,
      turn: start.id,
      provider,
      parent: start.prompt,
      onEvent: (event) => this.#heard(event.type),
    });
    this.ended = this.#pump().catch((error) => {
      // The boundary of one run: its output could not be kept, so it does not go on unseen.
      this.#child.kill();
      return { error: `The agent's output could not be kept: ${String(error)}`, isExpected: false };
    });
    this.#child.write(input);
    if (!agent.talks) this.#child.closeInput();
  }

  stop(reason: Reason): void {
    this.#stopping ??= reason;
    this.#child.stop();
  }

  kill(reason: Reason): void {
    this.#stopping ??= reason;
    this.#child.kill();
  }

  answer({ approval, allow, input, message }: Answer): void {
    const response = allow ? { behavior: "allow", updatedInput: input } : { behavior: "deny", message };
    const full = { subtype: "success", request_id: approval, response };
    this.#child.write(`${JSON.stringify({ type: "control_response", response: full })}\n`);
  }

  /** From the agent's first byte to its last. */
  async #pump(): Promise<RunEnd> {
    await this.#stream.open();
    this.#watchSilence();
    for await (const bytes of this.#child.output()) {
      this.#watchSilence();
      await this.#stream.push(bytes);
    }
    const end = await this.#child.ended;
    this.#cancelSilence?.();
    await this.#stream.end();
    const reason = this.#stopping;
    const isExpected = reason !== undefined || this.#isOver || end.code === 0;
    return { error: explain(end, reason), reason, isExpected };
  }

  #heard(type: string): void {
    if (type !== "turn-end" || this.#isOver) return;
    this.#isOver = true;
    this.#child.closeInput();
    // Some versions go on living after their result: they get a moment, then they are stopped.
    const cancel = this.#options.kernel.env.after(LINGER_MS, () => this.#child.kill());
    this.#child.ended.then(cancel);
  }

  #watchSilence(): void {
    const { kernel, silentMs } = this.#options;
    this.#cancelSilence?.();
    this.#cancelSilence = kernel.env.after(silentMs ?? SILENT_MS, () => this.stop("interrupted"));
  }
}

function explain(end: ChildEnd, stopping: Reason | undefined): string {
  if (end.failed !== undefined) return `The agent could not be started: ${end.failed}`;
  if (stopping === "cancelled") return "Stopped.";
  const how = end.signal === null ? `with exit code ${end.code}` : `by signal ${end.signal}`;
  const said = end.stderr.trim();
  return `The agent ended ${how} before its turn was over.${said === "" ? "" : `\n\n${said}`}`;
}
