#!/usr/bin/env node
/**
 * A peer that replays a recording of `codex app-server`, to a client of ours: it waits for the requests that the recorded client made
 * and for answers to what it asks, and prints what Codex printed, with the ids that the client uses. `CODEX_FAKE` (JSON) names
 * the recording and what goes wrong:
 *
 *   recording   the file · log   where it writes down what it reads
 *   dieAt, hangAt, garbageAt, floodAt   before this printed line: is killed, says nothing more, prints nonsense, prints 5,000 lines
 *   also        lines that it prints before its turn ends; at "answer" it waits for one · version   of the program · loggedOut · noAppServer
 *   lost        it has no thread to go on with · refuses   it ends at once, with these words
 *   neverEnds   it says nothing of its turn's end · old   it does not say which message an item is
 *   lingers     it does not end with its input · ignoresInterrupt
 */
import { appendFileSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const plan = JSON.parse(process.env.CODEX_FAKE ?? "{}");
if (process.argv[2] !== "app-server") {
  console.log('{"type":"thread.started","thread_id":"exec-thread"}\n{"type":"turn.started"}');
  console.log('{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"by exec"}}');
  console.log('{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}');
  process.exit(0);
}
if (plan.noAppServer) {
  console.error("error: unrecognized subcommand 'app-server'");
  process.exit(2);
}
if (plan.refuses) {
  console.error(plan.refuses);
  process.exit(1);
}

/** Requests of the recorded client that ours makes as well; what else it asked for is left out. */
const WAITED = new Set([
  "initialize",
  "thread/start",
  "thread/resume",
  "turn/start",
  "turn/steer",
  "turn/interrupt",
]);
const records = readFileSync(plan.recording, "utf8")
  .split("\n")
  .filter(Boolean)
  .map((line) => JSON.parse(line));
const read = [];
const prompts = [];
let wake = () => {};
let isClosed = false;

createInterface({ input: process.stdin })
  .on("line", (line) => {
    if (plan.log) appendFileSync(plan.log, `${line}\n`);
    const message = JSON.parse(line);
    if (message.params?.clientUserMessageId) prompts.push(message.params.clientUserMessageId);
    if (message.method === "account/read")
      print({ id: message.id, result: { account: null, requiresOpenaiAuth: plan.loggedOut === true } });
    else if (message.method === "thread/resume" && plan.lost)
      print({ id: message.id, error: { code: -32600, message: "no rollout found for thread id x" } });
    else read.push(message);
    wake();
  })
  .on("close", () => {
    isClosed = true;
    wake();
  });

async function next(isMeant) {
  for (;;) {
    const at = read.findIndex(isMeant);
    if (at !== -1) return read.splice(at, 1)[0];
    if (isClosed) return end();
    await new Promise((resolve) => {
      wake = resolve;
    });
  }
}

function end() {
  if (plan.lingers) return new Promise(() => setInterval(() => {}, 1_000));
  process.exit(0);
}

function print(message) {
  process.stdout.write(`${typeof message === "string" ? message : JSON.stringify(message)}\n`);
}

async function say(lines) {
  for (const line of lines)
    if (line === "answer") await next(({ method }) => method === undefined);
    else print(line);
}

let printed = 0;
async function trouble() {
  printed++;
  if (printed === plan.dieAt) process.kill(process.pid, "SIGKILL");
  if (printed === plan.hangAt) await new Promise(() => setInterval(() => {}, 1_000));
  if (printed === plan.garbageAt)
    process.stdout.write(
      'nonsense {"\u0000\n[1,2]\n{"id":[]}\n{"id":77,"result":{}}\nnull\n{"method":"x"}\n',
    );
  if (printed === plan.floodAt)
    for (let i = 0; i < 5_000; i++)
      print({ method: "thread/status/changed", params: { threadId: "t", n: i } });
}

/** Requests that failed and were made again: ours is made once. */
const parsed = records.map(({ dir, line }) => {
  try {
    return { dir, ...JSON.parse(line) };
  } catch {
    return { dir };
  }
});
const failed = new Set(parsed.filter(({ dir, error }) => dir === "out" && error).map(({ id }) => id));
const left = new Set(
  parsed.flatMap(({ dir, id, method }, i) =>
    dir === "in" &&
    failed.has(id) &&
    parsed.slice(i + 1).some((later) => later.dir === "in" && later.method === method)
      ? [id]
      : [],
  ),
);
const ids = new Map();
const asked = new Set();
for (const { dir, line } of records) {
  let message;
  try {
    message = JSON.parse(line);
  } catch {
    if (dir === "out") print(line);
    continue;
  }
  // What is no message is printed as it is.
  if (typeof message !== "object" || message === null || Array.isArray(message)) {
    if (dir === "out") print(line);
    continue;
  }
  if (dir === "in" && message.method !== undefined) {
    if (message.id === undefined || !WAITED.has(message.method) || left.has(message.id)) continue;
    if (message.method === "turn/interrupt" && plan.ignoresInterrupt)
      await new Promise(() => setInterval(() => {}, 1_000));
    ids.set(message.id, (await next(({ method }) => method === message.method)).id);
  } else if (dir === "in") {
    if (asked.delete(message.id)) await next(({ id, method }) => method === undefined && id === message.id);
  } else {
    if (message.method === undefined && !ids.has(message.id)) continue;
    if (message.method !== undefined && message.id !== undefined) asked.add(message.id);
    if (message.method === "turn/completed") await say(plan.also ?? []);
    if (message.method === "turn/completed" && plan.neverEnds)
      await new Promise(() => setInterval(() => {}, 1_000));
    await trouble();
    if (message.method === undefined) message.id = ids.get(message.id);
    if (message.result?.userAgent && plan.version) message.result.userAgent = `fake/${plan.version} (x)`;
    const item = message.params?.item;
    if (item?.type === "userMessage") {
      if (plan.old) delete item.clientId;
      else if (message.method === "item/started") item.clientId = prompts.shift() ?? null;
    }
    print(message);
  }
}
await next(() => false);
