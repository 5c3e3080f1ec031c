/**
 * [R32] The guards that everything rests on, each with the change that takes it out and the tests that must notice. `find` stands
 * exactly once in its file: where the code has moved on, the check says so instead of passing.
 */

export interface Mutation {
  readonly name: string;
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  /** Test files, and the vitest projects that they are in. */
  readonly tests: readonly string[];
  readonly projects: readonly string[];
  /** Of those files, the tests whose titles hold this. */
  readonly only?: string;
}

const unit = ["unit"];

export const MUTATIONS: readonly Mutation[] = [
  {
    name: "dedup: a write that comes again is applied again",
    file: "packages/kernel/src/write-queue.ts",
    find: "          if (answer === undefined) return;\n          write.settle(answer);\n",
    replace: "          if (answer === undefined || answer !== undefined) return;\n",
    tests: ["packages/kernel/src/kernel.test.ts", "test/access/resume.test.ts"],
    projects: unit,
  },
  {
    name: "fsync: commits do not wait for the disk",
    file: "packages/server/src/store/schema.ts",
    find: 'const wanted = durability === "full" ? 2 : 1;',
    replace: 'const wanted = durability === "full" ? 1 : 1;',
    tests: ["packages/server/src/store/sqlite.test.ts", "test/faults/faults.test.ts"],
    projects: ["unit", "faults"],
    only: "R10|S23",
  },
  {
    name: "resume gap: what is committed while a resume is read is not held back for it",
    file: "packages/kernel/src/wire/feed.ts",
    find: "    if (this.#heldBack) this.#heldBack.push(told);\n",
    replace: "    if (this.#heldBack) this.#heldBack.length = 0;\n",
    tests: ["packages/kernel/src/wire/wire.test.ts", "test/access/resume.test.ts"],
    projects: unit,
  },
  {
    name: "resume gap: an op that does not follow is applied all the same",
    file: "packages/kernel/src/wire/replica.ts",
    find: "    if (op.versionFrom !== block.version + 1) {\n",
    replace: "    if (op.versionFrom < block.version) {\n",
    tests: ["packages/kernel/src/wire/wire.test.ts", "test/sim/regression.test.ts"],
    projects: unit,
  },
  {
    name: "CAS: the expected text is not compared",
    file: "packages/kernel/src/text/line-edit.ts",
    find: "    const refused = checkExpected(ground, operation, index, expected_text);\n",
    replace: "    const refused = checkExpected(ground, operation, index, expected_text) && undefined;\n",
    tests: ["packages/kernel/src/tools/block-edit.test.ts", "packages/kernel/src/text/line-edit.test.ts"],
    projects: unit,
  },
  {
    name: "end once: a block that has ended can end again",
    file: "packages/kernel/src/block.ts",
    find: "  if (isEnded(from)) return false;\n",
    replace: "  if (isEnded(from) && !isEnded(to)) return false;\n",
    tests: [
      "packages/kernel/src/tools/block-life.test.ts",
      "packages/kernel/src/draft.test.ts",
      "packages/kernel/src/ingest.test.ts",
    ],
    projects: unit,
  },
  {
    name: "MCP: a model with the owner's token is served as the owner",
    file: "packages/server/src/faces/mcp.ts",
    find: '  if (role !== "owner") return undefined;\n',
    replace: '  if (role !== "owner" || role === "owner") return undefined;\n',
    tests: ["test/access/mcp.test.ts"],
    projects: unit,
    only: "AC60",
  },
  {
    name: "MCP: a command without a token takes the owner's",
    file: "packages/server/src/cli/mcp.ts",
    find: '  if (token === "") throw',
    replace: '  if (token === "") return ownerTokenIn(home) ?? "";\n  if (token === "-") throw',
    tests: ["test/access/mcp.test.ts"],
    projects: unit,
    only: "AC61",
  },
  {
    name: "import: a conversation that somebody else has made is written to",
    file: "packages/server/src/import/import-place.ts",
    find: "  if (!place.isThere || (place.mark && isSame(place.mark))) return place;\n",
    replace: "  if (place.conversation !== '') return { ...place, mark: {} };\n",
    tests: ["test/access/import.test.ts"],
    projects: unit,
  },
  {
    name: "import: the server's own names are taken",
    file: "packages/server/src/import/import-export.ts",
    find: '  .refine((name) => !RESERVED.includes(name), "a name that only the server writes under");\n',
    replace: "  .max(64);\n",
    tests: ["test/access/import.test.ts"],
    projects: unit,
  },
  {
    name: "roles: an agent writes as user and system",
    file: "packages/kernel/src/tools/rights.ts",
    find: '  if (role === "owner" || AGENTS_ROLES.includes(as)) return undefined;\n',
    replace: '  if (role !== "viewer" || AGENTS_ROLES.includes(as)) return undefined;\n',
    tests: ["packages/kernel/src/tools/rights.test.ts"],
    projects: unit,
  },
  {
    name: "roles: an agent changes the owner's words",
    file: "packages/kernel/src/tools/rights.ts",
    find: "  if (AGENTS_ROLES.includes(block.role)) return undefined;\n",
    replace: "  if (block.role !== undefined) return undefined;\n",
    tests: ["packages/kernel/src/tools/rights.test.ts"],
    projects: unit,
  },
  {
    name: "roles: an agent directs a conversation of others",
    file: "packages/kernel/src/tools/rights.ts",
    find: '  if (role === "owner" || record.createdBy === agent) return undefined;\n',
    replace: '  if (role !== "viewer" || record.createdBy === agent) return undefined;\n',
    tests: ["packages/kernel/src/tools/rights.test.ts"],
    projects: unit,
  },
  {
    name: "roles: an agent claims authorship in metadata",
    file: "packages/kernel/src/tools/rights.ts",
    find: "  if (claimed !== undefined) return reserved(",
    replace: "  if (claimed !== undefined && agent === '') return reserved(",
    tests: ["packages/kernel/src/tools/rights.test.ts"],
    projects: unit,
  },
  {
    name: "sessions: one that a stream names is resumed",
    file: "packages/server/src/turns/session.ts",
    find: "turn.id !== start.id && ran(turn));\n",
    replace: "turn.id !== start.id && (ran(turn) || true));\n",
    tests: ["packages/server/src/turns/session.test.ts"],
    projects: unit,
  },
  {
    name: "voices: what others wrote is not marked",
    file: "packages/server/src/turns/voices.ts",
    find: "  return agent !== owner && !agents.has(agent);\n",
    replace: "  return agent !== owner && !agents.has(agent) && agent === '';\n",
    tests: ["packages/server/src/turns/voices.test.ts"],
    projects: unit,
  },
  {
    name: "guarded files: a block that is there is open to all",
    file: "packages/server/src/files/files.ts",
    find: "    if (reason === undefined || isGranted(this.#grants, agent, path.name)) return undefined;\n",
    replace: "    if (reason === undefined || this.#ids.has(path.name)) return undefined;\n",
    tests: ["test/access/guarded.test.ts"],
    projects: unit,
  },
  {
    name: "guarded files: sockets and exports see everything",
    file: "packages/server/src/tool-table.ts",
    find: '    if (role === "owner") return this.#kernel;\n',
    replace: '    if (role !== "owner" || agent !== "") return this.#kernel;\n',
    tests: ["test/access/guarded.test.ts"],
    projects: unit,
  },
  {
    name: "names: a token has a provider's name",
    file: "packages/server/src/auth.ts",
    find: "    if (PROVIDER_NAMES.has(agent))\n",
    replace: "    if (PROVIDER_NAMES.has(agent) && agent === '')\n",
    tests: ["packages/server/src/auth.test.ts"],
    projects: unit,
  },
  {
    name: "PATH: an agent of the workspace is run",
    file: "packages/server/src/turns/child.ts",
    find: "  if (root === undefined) return false;\n",
    replace: "  if (root !== '') return false;\n",
    tests: ["packages/server/src/turns/agents.test.ts"],
    projects: unit,
  },
  {
    name: "broadcast: unsigned words are heard",
    file: "packages/server/src/broadcast/word.ts",
    find: "  return isRight ? text : undefined;\n",
    replace: "  return isRight || text ? text : undefined;\n",
    tests: ["packages/server/src/broadcast/word.test.ts"],
    projects: unit,
  },
  {
    name: "Origin: another site's requests are let in",
    file: "packages/server/src/guard.ts",
    find: "  if (origin !== undefined && !addresses.origins.has(origin))\n",
    replace: "  if (origin !== undefined && !addresses.origins.has(origin) && origin.length > 1_000_000)\n",
    tests: ["test/access/refused.test.ts"],
    projects: unit,
  },
  {
    name: "files: a file is replaced whatever it has now",
    file: "packages/server/src/files/disk-file.ts",
    find: '  if (now.type === "absent" || now.hash !== expected || expected === "") return undefined;\n',
    replace: '  if (now.type === "absent") return undefined;\n',
    tests: ["packages/server/src/files/disk-file.test.ts"],
    projects: unit,
  },
  {
    name: "files: what is written into a file in the last moment is not looked for",
    file: "packages/server/src/files/disk-file.ts",
    find: '  return { type: "written", ...(isLate ? { late: old } : {}) };\n',
    replace: '  return { type: "written", ...(isLate && old === undefined ? { late: old } : {}) };\n',
    tests: ["packages/server/src/files/late.test.ts"],
    projects: unit,
  },
  {
    name: "files: folders are opened through links",
    file: "packages/server/src/files/root.ts",
    find: "fsConstants.O_DIRECTORY | fsConstants.O_NOFOLLOW;",
    replace: "fsConstants.O_DIRECTORY | (fsConstants.O_NOFOLLOW & 0);",
    tests: ["packages/server/src/files/places.test.ts", "test/faults/faults.test.ts"],
    projects: ["unit", "faults"],
    only: "F25",
  },
  {
    name: "files: changes that touch are merged",
    file: "packages/server/src/files/three-way.ts",
    find: "change !== undefined && change.aFrom <= to;",
    replace: "change !== undefined && (change.aFrom < to || change.aFrom === from);",
    tests: ["packages/server/src/files/three-way.test.ts"],
    projects: unit,
  },
];
