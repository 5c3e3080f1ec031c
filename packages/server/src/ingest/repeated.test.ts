/** Which streams are ones that their conversation has: line for line, and never because of how they begin. */
import { isProblem, Kernel, MemoryStore, VirtualEnv } from "@blockyard/kernel";
import { expect, it } from "vitest";
import { repeatedIn } from "./repeated.ts";

const begins = ["thread a", "turn", "item 0"];
const first = [...begins, "said one", "used 1"];
const second = [...begins, "said two", "used 2"];
const short = ["thread a", "turn"];

async function told(
  stream: string,
  pieces: number,
  ...runs: readonly (readonly string[])[]
): Promise<string> {
  const kernel = new Kernel(new VirtualEnv(1), new MemoryStore("m"));
  const conversation = await kernel.createConversation("ann", "");
  if (isProblem(conversation)) throw new Error(conversation.message);
  for (const [i, run] of runs.entries())
    await kernel.store.appendRaw({ conversation, run: `r${i}` }, Buffer.from(`${run.join("\n")}\n`));
  const bytes = Buffer.from(stream);
  async function* rest() {
    for (let at = 0; at < bytes.length; at += pieces) yield bytes.subarray(at, at + pieces);
  }
  const answer = await repeatedIn(kernel, ["none", conversation], { chunks: [], rest: rest() });
  if (isProblem(answer)) {
    expect(answer).toMatchObject({ problem: "conflict", details: { conversation } });
    return "repeated";
  }
  const kept = [...answer.chunks];
  for (let next = await answer.rest.next(); !next.done; next = await answer.rest.next())
    kept.push(next.value);
  expect(Buffer.concat(kept).toString()).toBe(stream); // held back, not lost
  return "new";
}

it.each([
  ["the same run", first, [second, first], "repeated"],
  ["a part of it", first.slice(0, 2), [first], "repeated"],
  ["all runs, as an export has them", [...first, ...second], [first, second], "repeated"],
  ["a run that was cut short, now whole", first, [first.slice(0, 4)], "repeated"],
  ["a run that begins like the last one", second, [first], "new"],
  ["a run after one that had said next to nothing", first, [short], "new"],
  ["the first run", first, [], "new"],
  ["nothing", [], [first], "new"],
  ["letters in two pieces", ["größer", "日本", "a", "b"], [["größer", "日本", "a", "b"]], "repeated"],
] as const)("[U10] %s", async (_, stream, runs, expected) => {
  const text = stream.join("\n");
  for (const whole of [text, `${text}\n`, `${stream.join("\r\n\r\n")}\r\n`].filter(
    (each) => text !== "" || each === "",
  ))
    for (const pieces of [1, 7, 1_000]) expect(await told(whole, pieces, ...runs)).toBe(expected);
});
