/** [R32] Promises to whoever uses the commands and starts the server, each with the change that breaks it. */
import type { Mutation } from "./mutations.ts";

const unit = ["unit"];
const commands = ["test/cli/commands.test.ts"];

export const USE_MUTATIONS: readonly Mutation[] = [
  {
    name: "terminal: what is drawn as nothing is printed",
    file: "packages/server/src/cli/terminal.ts",
    find: '(JOINS.has(char) ? char : "\\ufffd")',
    replace: "char",
    tests: ["packages/server/src/cli/terminal.test.ts"],
    projects: unit,
    only: "U15",
  },
  {
    name: "terminal: data for a file is printed there as it is",
    file: "packages/server/src/cli/terminal.ts",
    find: "if (!process.stdout.isTTY) for await",
    replace: "if (process.stdout) for await",
    tests: ["packages/server/src/cli/terminal.test.ts"],
    projects: unit,
    only: "U15",
  },
  {
    name: "export: Markdown holds control characters",
    file: "packages/server/src/export/markdown.ts",
    find: "yield withoutControls(piece);",
    replace: "yield piece;",
    tests: ["packages/server/src/export/export.test.ts"],
    projects: unit,
    only: "E4",
  },
  {
    name: "context: what is included and of others stands as the owner's",
    file: "packages/server/src/turns/loop/context.ts",
    find: "isQuoted ? quotedAs(block, signs, text) : text",
    replace: "isQuoted && block.id === '' ? quotedAs(block, signs, text) : text",
    tests: ["packages/server/src/turns/voices.test.ts"],
    projects: unit,
    only: "AC124",
  },
  {
    name: "use: a stream that cannot be stored is left nowhere",
    file: "packages/server/src/cli/ingest-pipe.ts",
    find: "    const file = await copy.leave();\n",
    replace: "    await copy.remove();\n    const file = undefined;\n",
    tests: commands,
    projects: unit,
    only: "U9",
  },
  {
    name: "use: a turn in which something was denied ends as if it were done",
    file: "packages/server/src/cli/follow-turn.ts",
    find: '      return ended.status === "done" && denied + unanswered === 0 ? EXIT.done : EXIT.failed;\n',
    replace: '      return ended.status === "done" && unanswered === 0 ? EXIT.done : EXIT.failed;\n',
    tests: commands,
    projects: unit,
    only: "U13",
  },
  {
    name: "use: a run from a pipe has no title",
    file: "packages/server/src/ingest/ingest-stream.ts",
    find: 'if (isProblem(record) || record.title !== "" || mayDirect(caller, record)) return;\n',
    replace:
      'if (isProblem(record) || record.title !== "" || mayDirect(caller, record) || provider !== "") return;\n',
    tests: commands,
    projects: unit,
    only: "U21",
  },
  {
    name: "use: imported prompts are the agent's",
    file: "packages/kernel/src/presentation/speaker.ts",
    find: "  const id = isBrought ? createdBy : agent;\n",
    replace: "  const id = isBrought ? agent : agent;\n",
    also: {
      file: "packages/server/src/export/tree.ts",
      find: "  return isTold ? { ...block, agent: created_by } : block;\n",
      replace: "  return isTold && created_by === undefined ? { ...block, agent: created_by } : block;\n",
    },
    tests: commands,
    projects: unit,
    only: "U23",
  },
  {
    name: "use: a start whose usual port is taken gives up",
    file: "packages/server/src/app/listeners.ts",
    find: '    if (!anyPort || (error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw refusal(error, host, port);\n',
    replace: "    if (anyPort || !anyPort) throw refusal(error, host, port);\n",
    tests: ["test/access/life.test.ts"],
    projects: unit,
    only: "AC53",
  },
  {
    name: "use: a store that fails while a first start plays ends the server",
    file: "packages/server/src/turns/replay.ts",
    find: "  return { conversation, done: play().catch(cut) };\n",
    replace: "  return { conversation, done: cut === undefined ? play().catch(cut) : play() };\n",
    tests: ["packages/server/src/turns/replay.test.ts"],
    projects: unit,
    only: "AC65",
  },
];
