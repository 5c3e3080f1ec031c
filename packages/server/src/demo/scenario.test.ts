/** The verdict of the demo: it finds what was lost, and blames nobody for a person's intended changes. */
import {
  type Call,
  Cursors,
  callIn,
  coreTools,
  inlineMatcher,
  makeTable,
  typedCalls,
  VirtualEnv,
} from "@blockyard/kernel";
import { afterEach, expect, it } from "vitest";
import { fileTools } from "../files/tools.ts";
import { nodeEnv } from "../system/env.ts";
import { Lab } from "../testing/lab.ts";
import { runScenario, type ScenarioOptions } from "./scenario.ts";
import type { Seat } from "./scripted-agent.ts";
import { DEMO_PATH } from "./story.ts";

let lab: Lab;
let cursors: Cursors;
afterEach(async () => {
  cursors.close();
  await lab.stop();
});

function seat(agent: string, role: Call["caller"]["role"] = "agent"): Seat {
  const table = makeTable([...coreTools, ...fileTools(lab.files)]);
  const call: Call = {
    kernel: lab.kernel,
    caller: { agent, role },
    matcher: inlineMatcher(nodeEnv.monotonic),
    cursors,
  };
  return { agent, call: typedCalls((tool, input) => callIn(table, call, tool, input)) };
}

/** Two agents that act alternately, ten times each, and somebody who does something after the last action. */
async function play(after: (id: string) => Promise<void>, options: Partial<ScenarioOptions> = {}) {
  lab = await Lab.start();
  cursors = new Cursors(lab.kernel);
  let deeds = 20;
  let id = "";
  const env = new VirtualEnv(27);
  return runScenario({
    owner: seat("owner", "owner"),
    seats: [seat("ada"), seat("alan")],
    random: () => env.random() / 2 ** 32,
    onDeed: () => undefined,
    opened: (file) => {
      id = file.block_id;
    },
    next: async () => {
      if (--deeds === 0) await after(id);
      return deeds > 0;
    },
    ...options,
  });
}

const own = /^ {2}\/\/ ada \d+.*\n/m;

it("[F27] nothing is wrong when nobody deletes anything", async () => {
  const { ok, wrong, deeds, lines } = await play(async () => undefined);
  expect([ok, wrong]).toEqual([true, []]);
  expect(deeds.inserted + deeds.patched).toBeGreaterThan(5);
  expect(lines).toBeGreaterThan(3);
  expect(lab.disk(DEMO_PATH)).toMatch(own);
});

it("[F27] a line that another agent deletes, or doubles, is found", async () => {
  const gone = await play(async (id) => lab.edit(id, own.exec(await lab.text(id))?.[0] ?? "", "", "vandal"));
  expect(gone.ok).toBe(false);
  expect(gone.wrong[0]).toMatch(/^a line by ada appears 0 times/);
  cursors.close();
  await lab.stop();
  const doubled = await play(async (id) => {
    const line = own.exec(await lab.text(id))?.[0] ?? "";
    await lab.edit(id, line, line + line, "vandal");
  });
  expect(doubled.wrong[0]).toMatch(/^a line by ada appears 2 times/);
});

it("[F27] a line that the person edits, or deletes, is no loss", async () => {
  const type = async (id: string) => {
    await lab.kernel.writeBlock(id, {
      agent: "owner",
      plan: (draft) => {
        const at = draft.text(id).toString().indexOf("// ada") + 3;
        return draft.splice(id, [{ at, del: "", ins: "dear " }]);
      },
    });
  };
  expect((await play(type)).ok).toBe(false);
  cursors.close();
  await lab.stop();
  const typed = await play(type, { guest: "owner" });
  expect([typed.ok, typed.wrong]).toEqual([true, []]);
  cursors.close();
  await lab.stop();
  const deleted = await play(
    async (id) => lab.edit(id, own.exec(await lab.text(id))?.[0] ?? "", "", "owner"),
    {
      guest: "owner",
    },
  );
  expect([deleted.ok, deleted.wrong]).toEqual([true, []]);
});
