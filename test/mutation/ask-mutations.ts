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

/** A bound of what is shown of an ask. */
function bound(name: string, file: string, find: string, replace: string): Mutation {
  const tests = ["packages/kernel/src/presentation/ask-bounds.test.ts"];
  const path = `packages/kernel/src/${file}`;
  return { name: `asks: ${name}`, file: path, find, replace, tests, projects: unit, only: "AC360" };
}

export const ASK_MUTATIONS: readonly Mutation[] = [
  bound("any number of fields", "presentation/form-fields.ts", ".slice(0, ASK_BOUNDS.fields)", ""),
  bound(
    "any number of options",
    "presentation/form-fields.ts",
    ".slice(0, Math.min(most, ASK_BOUNDS.fieldOptions))",
    "",
  ),
  bound(
    "options of a form are counted by field",
    "presentation/form-fields.ts",
    "Math.min(most, ASK_BOUNDS.fieldOptions)",
    "ASK_BOUNDS.fieldOptions",
  ),
  bound(
    "a default that is not shown is sent",
    "presentation/form-fields.ts",
    ".filter((each) => offered.has(each))",
    "",
  ),
  bound(
    "a field is what every object has",
    "model/json.ts",
    "record !== undefined && Object.hasOwn(record, name) ?",
    "record !== undefined ?",
  ),
  bound(
    "any number of questions",
    "presentation/ask-bounds.ts",
    "            .slice(0, ASK_BOUNDS.questions)\n",
    "",
  ),
  bound(
    "an answer too long to be read",
    "presentation/ask-bounds.ts",
    ".filter(({ label }) => label.length <= ASK_BOUNDS.suggestionChars)",
    "",
  ),
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
