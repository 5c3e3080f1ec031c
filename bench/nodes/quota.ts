/**
 * Processes held to a share of a core each, as if each had a small machine of its own: a control group of Linux for
 * each. Undefined if this machine permits none.
 */
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const PERIOD_US = 10_000;
/** The first kind of groups has a tree of its own for the processor, the second kind one for everything. */
const FIRST = "/sys/fs/cgroup/cpu";
const SECOND = "/sys/fs/cgroup";

export class Quota {
  readonly #root: string;
  readonly #folders: string[] = [];

  private constructor(root: string) {
    this.#root = root;
  }

  static open(): Quota | undefined {
    const root = existsSync(join(FIRST, "cpu.cfs_quota_us")) ? FIRST : SECOND;
    const quota = new Quota(root);
    try {
      quota.#make(1);
      return quota;
    } catch {
      // Not root, or inside a container that has no groups of its own.
      return undefined;
    } finally {
      quota.free([]);
    }
  }

  hold(pids: readonly number[], cores: number): void {
    for (const pid of pids) writeFileSync(join(this.#make(cores), "cgroup.procs"), String(pid));
  }

  /** They run freely again. */
  free(pids: readonly number[]): void {
    for (const pid of pids) writeFileSync(join(this.#root, "cgroup.procs"), String(pid));
    for (const folder of this.#folders.splice(0)) rmdirSync(folder);
  }

  #make(cores: number): string {
    const folder = join(this.#root, `blockyard-${process.pid}-${this.#folders.length}`);
    mkdirSync(folder);
    this.#folders.push(folder);
    const quotaUs = Math.round(PERIOD_US * cores);
    if (this.#root === FIRST) {
      writeFileSync(join(folder, "cpu.cfs_period_us"), String(PERIOD_US));
      writeFileSync(join(folder, "cpu.cfs_quota_us"), String(quotaUs));
    } else writeFileSync(join(folder, "cpu.max"), `${quotaUs} ${PERIOD_US}`);
    return folder;
  }
}
