/**
 * The agents that can run turns on this server, by provider name: their abilities and offers, and whether someone is logged in. It
 * starts no turns.
 */

import { type ConversationId, type Problem, problem } from "@blockyard/kernel";
import type { Abilities, Driver, Login, Offers } from "./driver.ts";
import type { AgentTask } from "./run.ts";

export class DriverTable {
  readonly #drivers: ReadonlyMap<string, Driver>;
  readonly #trust: (cwd: string | undefined) => Problem | undefined;
  readonly #home: string;

  /** `home`: a folder in which nothing acts by itself, to ask agents about themselves. */
  constructor(
    drivers: readonly Driver[],
    trust: (cwd: string | undefined) => Problem | undefined,
    home: string,
  ) {
    this.#drivers = new Map(drivers.map((driver) => [driver.provider, driver]));
    this.#trust = trust;
    this.#home = home;
  }

  get(provider: string): Driver | undefined {
    return this.#drivers.get(provider);
  }

  get providers(): readonly string[] {
    return [...this.#drivers.keys()];
  }

  /** The only folder in which turns of a provider work; undefined where that is not fixed. */
  folderOf(provider: string): string | undefined {
    return this.#drivers.get(provider)?.folder;
  }

  /** What each agent can do, and why it cannot run here, where it cannot. */
  list(): readonly { provider: string; abilities: Abilities; problem: string | undefined }[] {
    return [...this.#drivers.values()].map(({ provider, abilities, check }) => {
      const refused = check({ conversation: "", provider, prompt: "" });
      return { provider, abilities, problem: refused?.message };
    });
  }

  /** Whether somebody is logged in to an agent. */
  async login(provider: string): Promise<Login | undefined> {
    return this.#drivers.get(provider)?.login?.(this.#home);
  }

  /** What the agent of a conversation offers now. */
  async offers(conversation: ConversationId, provider: string, cwd: string): Promise<Offers | Problem> {
    const driver = this.#drivers.get(provider);
    if (driver === undefined && provider !== "") return this.unknown(provider);
    if (driver?.offers === undefined)
      return problem("unavailable", `${provider} reports nothing about itself`);
    const asked = { conversation, provider, prompt: "", cwd };
    // It may be started for it.
    return driver.check(asked) ?? this.#trust(cwd) ?? driver.offers(conversation, cwd);
  }

  unknown(provider: string): Problem {
    return problem("invalid", `unknown agent ${provider}. Use one of ${this.providers.join(", ")}`);
  }

  /** What agents run in the background between the turns of a conversation. */
  tasks(conversation: ConversationId): readonly AgentTask[] {
    return [...this.#drivers.values()].flatMap((driver) => driver.tasks?.(conversation) ?? []);
  }

  /** Ends one of these. */
  async stopTask(conversation: ConversationId, task: string): Promise<Problem | undefined> {
    const has = (driver: Driver) => driver.tasks?.(conversation).some(({ id }) => id === task);
    const driver = [...this.#drivers.values()].find(has);
    return driver?.stopTask?.(conversation, task);
  }

  /** Ends what lives on between turns: of one conversation, or all of it. */
  async close(conversation?: ConversationId): Promise<void> {
    await Promise.all([...this.#drivers.values()].map((driver) => driver.close?.(conversation)));
  }
}
