/** [R32] The guards around what the owner is asked and what a rule answers instead. See mutations.ts. */
import type { Mutation } from "./mutations.ts";

const unit = ["unit"];
const RULES = "packages/server/src/turns/rules";

/** A guard of the rules, and the test that notices. */
function rule(name: string, file: string, find: string, replace: string, only = "D120"): Mutation {
  const tests = [`${RULES}/${only === "D121" ? "git-remote" : "offered"}.test.ts`];
  return {
    name: `rules: ${name}`,
    file: file.startsWith("..") ? file.replace("../../", "packages/server/src/") : `${RULES}/${file}`,
    find,
    replace,
    tests,
    projects: unit,
    only,
  };
}

export const ASK_MUTATIONS: readonly Mutation[] = [
  rule(
    "any package is installed",
    "first-words.ts",
    "program.alone?.has(verb) &&",
    'program.alone?.has("") &&',
  ),
  rule(
    "any program is started",
    "first-words.ts",
    'return known === "any" || known?.has(what) === true;',
    "return known !== undefined;",
  ),
  rule(
    "the code of others is a word",
    "first-words.ts",
    "isData !== true && isOthersCode(word)",
    "isData === true && isOthersCode(word)",
  ),
  rule("the code of others is a folder", "pattern.ts", "isOthersCode(relative(cwd, folder)) || ", ""),
  rule("a path is another file elsewhere", "pattern.ts", "isRelative || OBEYS", "OBEYS"),
  rule("a program of the folder has a known name", "first-words.ts", 'name.includes("/") || ', ""),
  rule("a stranger's change is fetched", "first-words.ts", " || STRANGERS.test(word)", ""),
  rule(
    "a folder passes for the remote",
    "rules.ts",
    "!isAllCompared(ask) || !this.#isGrounded(subject, cwd)",
    "!isAllCompared(ask)",
    "D121",
  ),
  rule(
    "a remote without an address counts",
    "../../trust/git-remote.ts",
    'setting.name === "remote.url" && ',
    'setting.name.startsWith("remote.") && ',
    "D121",
  ),
];
