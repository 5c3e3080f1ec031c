/** Checks that need servers of their own and are run by a script: a line each, and whether the rule was kept. */

export interface Check<World, Report extends string | undefined> {
  /** Begins with the rule's id. */
  readonly title: string;
  /** Throws if the rule is broken. Its result is shown beside the title. */
  run(world: World): Promise<Report>;
}

export function require(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Error(what);
}

/** Asked for with `--full`: the counts and times of the promises, where a check is quicker without. */
export const isFull = process.argv.includes("--full");

/** What checks were asked for with. */
export const words: readonly string[] = process.argv.slice(2).filter((word) => word !== "--full");

/** Whether a check was asked for: by words of its title, or by none at all. */
export function isWanted(title: string, words: readonly string[]): boolean {
  return words.length === 0 || words.some((word) => title.includes(word));
}

/** Runs a check and prints its line. */
export async function isKept<World>(
  { title, run }: Check<World, string | undefined>,
  world: World,
): Promise<boolean> {
  const startMs = performance.now();
  const took = () => `${((performance.now() - startMs) / 1_000).toFixed(1)} s`;
  try {
    const told = await run(world);
    console.log(`ok  ${title}  ${took()}${told === undefined ? "" : `  ${told}`}`);
    return true;
  } catch (error) {
    console.log(`FAILED  ${title}  ${took()}\n${error instanceof Error ? error.stack : String(error)}`);
    return false;
  }
}
