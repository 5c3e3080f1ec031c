/**
 * The order of test files: those that take long begin first, so that all workers end together. Vitest goes by what it measured in the
 * last run; in a fresh clone it goes by the size of the file, which says nothing about files whose tests are made from tables and
 * recordings kept elsewhere. Those are listed here.
 */
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The longest first. */
export const LONG: readonly string[] = [
  "test/e2e/page-equal.test.ts",
  "test/e2e/page-steady.test.ts",
  "test/e2e/agents/matrix.test.ts",
  "test/e2e/clis/acp.test.ts",
  "test/e2e/lifecycle/lifecycle.test.ts",
  "test/e2e/page.test.ts",
  "test/e2e/page-still.test.ts",
  "test/growth/growth.test.ts",
  "test/cli/package.test.ts",
  "test/install/install.test.ts",
  "test/fuzz/convergence.test.ts",
  "test/fuzz/simulation.test.ts",
  "test/fuzz/undo.test.ts",
];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return longFirst(await super.sort(files), ({ moduleId, project }) => [project.name, moduleId]);
  }
}

/** Files of one project stay together: a worker belongs to a project. */
export function longFirst<T>(
  files: readonly T[],
  of: (file: T) => readonly [project: string, path: string],
): T[] {
  const projects = [...new Set(files.map((file) => of(file)[0]))];
  const rank = (file: T) => {
    const at = LONG.findIndex((path) => of(file)[1].endsWith(`/${path}`));
    return at < 0 ? LONG.length : at;
  };
  return projects.flatMap((project) =>
    files.filter((file) => of(file)[0] === project).sort((a, b) => rank(a) - rank(b)),
  );
}
