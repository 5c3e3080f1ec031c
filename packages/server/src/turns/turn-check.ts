/**
 * Checks whether a turn can start: before anything is written, and again for queued messages, because things may have changed. It
 * starts and writes nothing.
 */

import { type Kernel, type Problem, problem } from "@blockyard/kernel";
import { checkAttachments } from "./attachments.ts";
import { refusesModel } from "./driver.ts";
import type { DriverTable } from "./driver-table.ts";
import { checkEffort, checkMode, checkSandbox } from "./mode.ts";
import type { TurnRequest } from "./run.ts";

interface TurnCheckOptions {
  readonly kernel: Kernel;
  readonly drivers: DriverTable;
  /** What the owner has to be asked before anything runs in a folder; undefined: nothing. */
  readonly trust: (cwd: string | undefined) => Problem | undefined;
  /** Why what is in a turn's context may not be shown to its agent. */
  readonly shows: (request: TurnRequest) => Promise<Problem | undefined>;
  readonly isClosed: () => boolean;
}

export class TurnCheck {
  readonly #options: TurnCheckOptions;

  constructor(options: TurnCheckOptions) {
    this.#options = options;
  }

  /** Everything that can be wrong with a request. */
  async all(request: TurnRequest): Promise<Problem | undefined> {
    const { kernel, drivers, isClosed } = this.#options;
    const missing = request.attachments && (await checkAttachments(kernel.store, request.attachments));
    if (missing) return missing;
    if (isClosed()) return problem("unavailable", "the server is stopping");
    const driver = drivers.get(request.provider);
    if (!driver) return drivers.unknown(request.provider);
    const noMode = checkMode(request.provider, driver, request.mode);
    if (noMode) return noMode;
    const noSandbox = checkSandbox(request.provider, driver, request.sandbox);
    if (noSandbox) return noSandbox;
    const noEffort = checkEffort(request.provider, driver.abilities.efforts, request.effort);
    if (noEffort) return noEffort;
    const refused = driver.check(request) ?? (await this.again(request));
    return refused ?? refusesModel(kernel.env, driver, request);
  }

  /** Another turn may have changed what acts by itself in the folder, and the owner what the agent is shown. */
  async again(request: TurnRequest): Promise<Problem | undefined> {
    return this.#options.trust(request.cwd) ?? (await this.#options.shows(request));
  }
}
