/**
 * A process to be killed: it writes numbered blocks, several at once, and says of each what it was answered, as one JSON line.
 * What is refused is not tried again, so that every answer can be compared with the database.
 */
import { writeSync } from "node:fs";
import { isProblem, Kernel } from "@blockyard/kernel";
import { openSqliteStore } from "../../packages/server/src/stores/sqlite/sqlite.ts";
import { nodeEnv } from "../../packages/server/src/system/env.ts";
import { Random } from "../sim/random.ts";

export interface Answered {
  readonly n: number;
  readonly is: "written" | "storage" | "uncertain";
}

const AT_ONCE = 4;

if (import.meta.main) await main(process.argv[2] as string, Number(process.argv[3]));

async function main(path: string, seed: number): Promise<void> {
  const kernel = new Kernel(nodeEnv, await openSqliteStore(path));
  const conversation = await kernel.createConversation("ada", "numbered");
  if (isProblem(conversation)) throw new Error(conversation.message);
  let next = 1;
  const write = async (random: Random): Promise<never> => {
    for (;;) {
      const n = next++;
      const text = `write ${n}: ${random.text(random.between(1, 4_000))}`;
      const answer = await kernel.write(conversation, {
        agent: "ada",
        ...(n % 2 === 0 ? {} : { key: `key-${n}` }),
        plan: (draft) => {
          const made = draft.create({ kind: "text", role: "user", text });
          return isProblem(made) ? made : null;
        },
      });
      say({ n, is: isProblem(answer) ? (answer.problem as Answered["is"]) : "written" });
      if (isProblem(answer)) await new Promise((resume) => setTimeout(resume, 5));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, (_, i) => write(new Random(seed + i))));
}

/** At once: what was said before a kill was said. */
function say(line: Answered): void {
  writeSync(1, `${JSON.stringify(line)}\n`);
}
