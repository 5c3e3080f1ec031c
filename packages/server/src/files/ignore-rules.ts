/**
 * What `.gitignore` files say, for listings. One set of rules per folder that has such a file, each for what is below it;
 * a rule further down overrules one further up, as git has it. Not read: git's own and the user's exclude files.
 *
 * The patterns are whoever's wrote the repository. They become regular expressions, so lines that could take very long to
 * match are left out.
 */

import ignore, { type Ignore } from "ignore";
import { bounds } from "./limits.ts";

interface IgnoreRules {
  /** Whether a path below the root is named; folders end with a slash. */
  ignores(path: string): boolean;
}

interface Level {
  /** The folder below the root that the rules are for, with a slash at its end; empty for the root. */
  readonly below: string;
  readonly rules: Ignore;
}

export class IgnoreStack implements IgnoreRules {
  readonly #levels: readonly Level[];

  constructor(levels: readonly Level[] = []) {
    this.#levels = levels;
  }

  /** With the rules of one more folder. */
  with(folder: string, text: string): IgnoreStack {
    const below = folder === "" ? "" : `${folder}/`;
    const lines = text.split(/\r?\n/).slice(0, bounds.ignoreLines).filter(isQuick);
    return new IgnoreStack([...this.#levels, { below, rules: ignore().add(lines) }]);
  }

  ignores(path: string): boolean {
    for (const { below, rules } of this.#levels.toReversed()) {
      if (!path.startsWith(below)) continue;
      const { ignored, unignored } = rules.test(path.slice(below.length));
      if (ignored || unignored) return ignored;
    }
    return false;
  }
}

function isQuick(line: string): boolean {
  if (line.length > bounds.ignoreLineChars) return false;
  return (line.match(/\*+|\?|\[/g) ?? []).length <= bounds.ignoreWildcards;
}
