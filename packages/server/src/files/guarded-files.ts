/**
 * Guarded files of the workspace: why each is guarded, and whom the owner has granted access. The grants are stored in
 * the record of the conversation that holds the files.
 *
 * Everyone but the owner needs a grant to read or write a guarded file.
 */

import {
  type Block,
  type ConversationId,
  isProblem,
  type Kernel,
  type Problem,
  problem,
} from "@blockyard/kernel";
import type { Log } from "../system/log.ts";
import { DISK } from "./file-block.ts";
import { GRANTS, type Grant, grantsIn, isGranted, withGrant, withoutGrant } from "./grants.ts";
import { guardOf, guardOfName } from "./guarded-path.ts";
import { MAX_GRANTS } from "./limits.ts";
import { type CleanPath, cleanPath } from "./path.ts";

interface GuardOptions {
  readonly kernel: Kernel;
  readonly log: Log;
  /** The conversation that holds the files. */
  readonly conversation: () => ConversationId;
  /** Its title, where it is made here. */
  readonly title: string;
}

export class GuardedFiles {
  readonly #options: GuardOptions;
  #grants: readonly Grant[] = [];

  constructor(options: GuardOptions) {
    this.#options = options;
  }

  get grants(): readonly Grant[] {
    return this.#grants;
  }

  /** What the record says: another node may have changed it. */
  take(record: { readonly metadata: Parameters<typeof grantsIn>[0] }): void {
    this.#grants = grantsIn(record.metadata);
  }

  /** Why a path is guarded; undefined where it is not. */
  reasonOf(path: string): string | undefined {
    const clean = cleanPath(path);
    return isProblem(clean) ? undefined : guardOf(clean);
  }

  /** The same for one agent: undefined where it has been granted the file. */
  guardFor(path: string, agent: string): string | undefined {
    return isGranted(this.#grants, agent, path) ? undefined : guardOfName(path);
  }

  /** Why a caller may neither read nor write a block: it is a guarded file that the owner has not granted. */
  guards(block: Block, agent: string): Problem | undefined {
    if (block.kind !== "file") return undefined;
    const clean = cleanPath(block.metadata.path ?? "");
    return isProblem(clean) ? clean : this.refusal(clean, agent);
  }

  refusal(path: CleanPath, agent: string): Problem | undefined {
    const reason = guardOf(path);
    if (reason === undefined || isGranted(this.#grants, agent, path.name)) return undefined;
    return guarded(path, reason);
  }

  grant(path: CleanPath, agent: string | undefined, by: string): Promise<Problem | undefined> {
    const { name } = path;
    const at = this.#options.kernel.env.now();
    const grant = { path: name, ...(agent === undefined ? {} : { agent }), by, at };
    return this.#set(by, (grants) =>
      grants.length < MAX_GRANTS
        ? withGrant(grants, grant)
        : problem("too_large", `${MAX_GRANTS} files are granted; revoke some first`, { max: MAX_GRANTS }),
    );
  }

  revoke(path: string, agent: string | undefined, by: string): Promise<Problem | undefined> {
    const clean = cleanPath(path);
    const name = isProblem(clean) ? path : clean.name;
    return this.#set(by, (grants) => {
      const rest = withoutGrant(grants, name, agent);
      if (rest.length < grants.length) return rest;
      return problem("not_found", `there is no such grant for ${name}; file.grants lists them`, {
        path: name,
      });
    });
  }

  async #set(
    by: string,
    change: (grants: readonly Grant[]) => readonly Grant[] | Problem,
  ): Promise<Problem | undefined> {
    const { kernel, log, conversation, title } = this.#options;
    const written = await kernel.write(conversation(), {
      agent: DISK,
      create: true,
      plan: (draft) => {
        const next = change(grantsIn(draft.record.metadata));
        if ("problem" in next) return next;
        const isNew = draft.record.seq === 0;
        draft.conversation({
          ...(isNew ? { title } : {}),
          metadata: { [GRANTS]: next },
        });
        return { grants: next };
      },
    });
    if (isProblem(written)) return written;
    this.#grants = written.grants;
    log("info", "grants of guarded files changed", { by, grants: written.grants.length });
    return undefined;
  }
}

function guarded({ name }: CleanPath, reason: string): Problem {
  return problem(
    "forbidden",
    `${name} is guarded: ${reason}. The owner can grant access: blockyard grant ${name}`,
    { path: name, reason },
  );
}
