/**
 * Changes in a turn's folder that the agent did not report, such as files that its shell commands wrote. The folder is
 * compared before and after the turn; changes that the turn's own file changes show are left out, and the rest is one
 * more file change at its end.
 *
 * It says what changed, not who did it: another program may have written to the folder meanwhile. Files that may hold
 * secrets are named without their text.
 */

import { relative, resolve } from "node:path";
import {
  isProblem,
  type Kernel,
  type Metadata,
  metadataOf,
  RESULT_KINDS,
  type Turn,
} from "@blockyard/kernel";
import { joinDiffs, unifiedDiff } from "@blockyard/providers";
import { guardOfName } from "../../files/guarded-path.ts";
import type { Secrets } from "../../ingest/secrets.ts";
import { OBSERVED_BLOCKS, OBSERVED_DIFF_CHARS, OBSERVED_FILES } from "../limits.ts";
import type { TurnStart } from "../run.ts";
import { differences, type FileDifference, type Snapshot, takeSnapshot } from "./snapshot.ts";

type Change = Metadata<"file_change">["changes"][number];

export class WorkspaceObserver {
  readonly #kernel: Kernel;
  readonly #root: string;
  readonly #secrets: Secrets | undefined;
  readonly #env: Readonly<Record<string, string | undefined>>;

  /** `secrets` takes them out of what is stored. */
  constructor(
    kernel: Kernel,
    root: string,
    env: Readonly<Record<string, string | undefined>>,
    secrets?: Secrets,
  ) {
    this.#kernel = kernel;
    this.#secrets = secrets;
    this.#root = root;
    this.#env = env;
  }

  /**
   * Looks at the folder before a turn. What it gives compares it with the folder then, and writes down what has changed, where a command
   * has run in the turn. That it cannot is no matter of the turn.
   */
  async watch(start: TurnStart): Promise<() => Promise<void>> {
    const before = await takeSnapshot(start.request.cwd ?? this.#root, this.#env).catch(() => undefined);
    return async () => {
      if (before) await this.#compare(start, before).catch((error) => this.#kernel.onFault(error));
    };
  }

  async #compare(start: TurnStart, before: Snapshot): Promise<void> {
    const done = await this.#done(start, before.folder);
    if (done === undefined || !done.ranCommand) return;
    const after = await takeSnapshot(before.folder, this.#env);
    if (after === undefined) return;
    const found = await differences(before, after, (path) => done.shown.has(path), OBSERVED_FILES);
    const changes = changesOf(found.changed, (diff) => this.#secrets?.clean(diff) ?? diff);
    if (changes.length === 0) return;
    const text = joinDiffs(changes.map(({ diff }) => diff));
    const metadata = {
      ...{ turn: start.id, changes, observed: true },
      ...(found.more > 0 ? { leftOut: found.more } : {}),
    };
    await this.#kernel.write(start.request.conversation, {
      agent: start.request.provider,
      key: `observed-${start.id}`,
      plan: (draft) =>
        draft.create({ kind: "file_change", role: "tool", status: "done", text, side: true, metadata }),
    });
  }

  /** What the turn's own blocks say of files, as paths in the folder: also those of turns that its agent has begun in it by itself. */
  async #done(
    { id, request }: TurnStart,
    folder: string,
  ): Promise<{ readonly ranCommand: boolean; readonly shown: ReadonlySet<string> } | undefined> {
    const query = { conversation: request.conversation, kinds: RESULT_KINDS, order: "last" } as const;
    const blocks = await this.#kernel.blocks({ ...query, limit: OBSERVED_BLOCKS });
    if (isProblem(blocks)) return undefined;
    const turns = await this.#kernel.turns(request.conversation);
    if (isProblem(turns)) return undefined;
    const ids = turnsIn(turns, id);
    const own = blocks.filter(({ metadata }) => ids.has(String(metadata.turn)));
    const shown = own.flatMap((block) =>
      block.kind === "file_change" ? metadataOf(block, "file_change").changes : [],
    );
    return {
      ranCommand: own.some(({ kind }) => kind === "command"),
      shown: new Set(
        shown
          .flatMap(({ path, movedTo }) => [path, ...(movedTo === undefined ? [] : [movedTo])])
          .map((path) => relative(folder, resolve(folder, path))),
      ),
    };
  }
}

/** A turn, and those that its agent began by itself while it ran. */
function turnsIn(turns: readonly Turn[], id: string): ReadonlySet<string> {
  const outer = turns.find((turn) => turn.id === id);
  if (outer === undefined) return new Set([id]);
  const { agent, startedAt, endedAt = Number.POSITIVE_INFINITY } = outer;
  const inner = turns.filter(
    (turn) => turn.agent === agent && turn.startedAt >= startedAt && turn.startedAt < endedAt,
  );
  return new Set([id, ...inner.map((turn) => turn.id)]);
}

function changesOf(
  differences: readonly FileDifference[],
  clean: (diff: string) => string,
): readonly Change[] {
  let chars = 0;
  return differences.flatMap(({ path, kind, before, after }) => {
    const isSecret = /secret/.test(guardOfName(path) ?? "");
    if (isSecret || before === undefined || after === undefined) return [{ path, kind, diff: "" }];
    const diff = clean(unifiedDiff(path, { before, after }, kind));
    chars += diff.length;
    return [{ path, kind, diff: chars > OBSERVED_DIFF_CHARS ? "" : diff }];
  });
}
