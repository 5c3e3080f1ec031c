/** [R32] The guards of the sandbox, of trust and of guarded files against ways around them. See mutations.ts. */
import type { Mutation } from "./mutations.ts";

const unit = ["unit"];
const ESCAPES = { tests: ["packages/server/src/sandbox/escapes.test.ts"], projects: unit } as const;

export const ESCAPE_MUTATIONS: readonly Mutation[] = [
  {
    name: "escape: a confined command keeps the rights of root",
    file: "packages/server/src/sandbox/confine.ts",
    find: ', "--cap-drop", "ALL"]',
    replace: "]",
    ...ESCAPES,
    only: "AC310",
  },
  {
    name: "escape: root sets what the kernel does",
    file: "packages/server/src/sandbox/confine.ts",
    find: '...(isRoot ? ["--ro-bind", "/proc/sys", "/proc/sys"] : []),',
    replace: "...(isRoot ? [] : []),",
    ...ESCAPES,
    only: "AC310",
  },
  {
    name: "escape: sockets of other programs are found",
    file: "packages/server/src/sandbox/confine.ts",
    find: '.flatMap((path) => ["--ro-bind", empty, path]),\n    ...readable',
    replace: ".flatMap(() => []),\n    ...readable",
    ...ESCAPES,
    only: "AC311",
  },
  {
    name: "escape: what is hidden in a home folder is seen",
    file: "packages/server/src/sandbox/sandbox.ts",
    find: '[real(data), ...hiddenByClass(this.#home, env["PATH"], writable)]',
    replace: '[real(data), ...hiddenByClass(this.#home, env["PATH"], [this.#home, ...writable])]',
    ...ESCAPES,
    only: "AC312",
  },
  {
    name: "escape: submodules are not kept",
    file: "packages/server/src/sandbox/git-obeys.ts",
    find: "      ...insideOf(git),\n",
    replace: "      ...insideOf(git).slice(0, 0),\n",
    ...ESCAPES,
    only: "AC313",
  },
  {
    name: "escape: hooks in the workspace are not kept",
    file: "packages/server/src/sandbox/git-obeys.ts",
    find: "      ...ownHooks(folder, git),\n",
    replace: "      ...ownHooks(folder, git).slice(0, 0),\n",
    ...ESCAPES,
    only: "AC313",
  },
  {
    name: "trust: submodules are not looked into",
    file: "packages/server/src/trust/acting-files.ts",
    find: "    for (const inner of submodulesBelow(at)) look.git(inner);\n",
    replace: "    for (const inner of submodulesBelow(at).slice(0, 0)) look.git(inner);\n",
    tests: ["test/access/trust.test.ts"],
    projects: unit,
    only: "AC315",
  },
  {
    name: "trust: hooks in the folder are not shown",
    file: "packages/server/src/trust/acting-files.ts",
    find: 'if (name === "core.hookspath")',
    replace: 'if (name === "core.hooks")',
    tests: ["test/access/trust.test.ts"],
    projects: unit,
    only: "AC315",
  },
  {
    name: "unseen: a command under an allowance sees guarded files",
    file: "packages/server/src/turns/loop/tools/bash.ts",
    find: "isConfined && !run.isSeen ? await",
    replace: "isConfined && run.isSeen ? await",
    tests: ["test/loop/unseen.test.ts"],
    projects: unit,
    only: "AC314",
  },
  {
    name: "unseen: a rule counts as the owner's own look",
    file: "packages/server/src/turns/loop/calls.ts",
    find: "isSeen: byRule !== true",
    replace: "isSeen: byRule !== undefined",
    tests: ["test/loop/unseen.test.ts"],
    projects: unit,
    only: "AC314",
  },
];
