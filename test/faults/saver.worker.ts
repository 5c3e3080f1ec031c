/**
 * A process that edits files and saves them as fast as it can, until it is killed: the real files, kernel and database. Says
 * `ready` once it saves. Every text that it makes shows whether it is whole: see `bodyOf`.
 */
import { Kernel } from "@blockyard/kernel";
import { Files } from "../../packages/server/src/files/files.ts";
import { openSqliteStore } from "../../packages/server/src/stores/sqlite/sqlite.ts";
import { nodeEnv } from "../../packages/server/src/system/env.ts";
import { bodyOf, FILES, nameOf } from "./files.ts";

const [root = "", database = "", from = "0"] = process.argv.slice(2);
const kernel = new Kernel(nodeEnv, await openSqliteStore(database));
const bounds = { flushMs: 1, flushMostMs: 5 };
const files = new Files({ kernel, root, closed: [], log: () => undefined, bounds });
await files.start();

const ids: string[] = [];
for (let i = 0; i < FILES; i++) {
  const opened = await files.open(nameOf(i), { agent: "saver", isOwner: true });
  if ("problem" in opened) throw new Error(opened.message);
  ids.push(opened.block.id);
}
process.stdout.write("ready\n");
for (let edit = Number(from); ; edit++) {
  const id = ids[edit % FILES] as string;
  await kernel.writeBlock(id, {
    agent: "saver",
    plan: (draft) => {
      const text = draft.text(id);
      return draft.splice(id, [{ at: 0, del: text.toString(), ins: bodyOf(edit) }]);
    },
  });
  await files.flush(id);
}
