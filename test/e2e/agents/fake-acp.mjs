#!/usr/bin/env node
/**
 * An ACP agent that plays a recording: what the client asks is answered as it was answered there, with the ids of the client that
 * asks now. Where the recorded client answered or cancelled, it waits for this one to do so.
 *
 *     fake-acp.mjs RECORDING HEARD [ACT [LINES]]
 *
 * HEARD is the file where it writes what it was told. After LINES lines of its own it does what ACT says; with `gone` it ends without a
 * word when it is prompted a second time; with `orphan` it kills the process that started it and answers as agents do that notice.
 */
import { appendFileSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [recording = "", heard = "", act = "play", after = "1e9"] = process.argv.slice(2);
const lines = readFileSync(recording, "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line))
  .map(({ dir, line }) => ({ dir, message: JSON.parse(line) }));

let cursor = 0;
let said = 0;
let prompts = 0;
/** The id of the last one. @type {number | undefined} */
let prompt;
let playing = Promise.resolve();
const answers = new Map();
const waiting = new Map();
let cancelled = () => undefined;

function send(text) {
  if (act === "mute" || (act === "asks" && said >= Number(after))) return;
  process.stdout.write(`${text}\n`);
  if (++said !== Number(after)) return;
  if (act === "kill") process.kill(process.pid, "SIGKILL");
  if (act === "exit1") process.exit(1);
  if (act === "freeze") process.kill(process.pid, "SIGSTOP");
  if (act === "half") {
    process.stdout.write('{"jsonrpc":"2.0","method":"session/upd');
    process.exit(0);
  }
  if (act === "garbage") {
    for (const text of ["no JSON", "[1,2]", "null", '{"jsonrpc":"2.0","id":77,"result":{}}', "\u0000"])
      process.stdout.write(`${text}\n`);
    process.stdout.write('{"jsonrpc":"2.0","id":"q","method":"moon/land","params":{}}\n'.repeat(2));
  }
  if (act === "orphan") {
    process.kill(process.ppid, "SIGKILL");
    const answer = JSON.stringify({ jsonrpc: "2.0", id: prompt, result: { stopReason: "cancelled" } });
    process.stdout.write(`${answer}\n${answer}\n`);
  }
  if (act === "asks") for (let n = 0; n < 300; n++) process.stdout.write(`${request(n)}\n`);
  if (act === "flood") for (let n = 0; n < 2_000; n++) process.stdout.write(`${text}\n`);
}

/** It asks for leave. @param {number} n */
function request(n) {
  const sessionId = lines.find(({ message }) => message.params?.sessionId)?.message.params.sessionId;
  const options = [{ optionId: "once", name: "Allow", kind: "allow_once" }];
  const toolCall = { toolCallId: `flood-${n}`, title: `Command ${n}`, kind: "execute" };
  const params = { sessionId, toolCall, options };
  return JSON.stringify({ jsonrpc: "2.0", id: `flood-${n}`, method: "session/request_permission", params });
}

async function play(method, id) {
  const from = lines.findIndex(
    ({ dir, message }, at) =>
      at >= cursor && dir === "in" && message.id !== undefined && message.method === method,
  );
  if (from === -1) {
    send(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32601, message: `no ${method}` } }));
    return;
  }
  const own = lines[from].message.id;
  for (cursor = from + 1; cursor < lines.length; cursor++) {
    const { dir, message } = lines[cursor];
    if (dir === "out") {
      if (message.method === undefined && message.id !== own) continue;
      const text = JSON.stringify(message.method === undefined ? { ...message, id } : message);
      send(text);
      if (act === "twice" && message.method === undefined) send(text);
    } else if (message.method === undefined) {
      const key = JSON.stringify(message.id);
      if (!answers.has(key)) await new Promise((resolve) => waiting.set(key, resolve));
    } else if (message.id !== undefined) return;
    else await new Promise((resolve) => (cancelled = resolve));
  }
}

createInterface({ input: process.stdin }).on("line", (line) => {
  appendFileSync(heard, `${line}\n`);
  const message = JSON.parse(line);
  if (message.method === "session/prompt") prompt = message.id;
  if (message.method === "session/prompt" && ++prompts === 2 && act === "gone") process.exit(0);
  if (message.method === undefined) {
    answers.set(JSON.stringify(message.id), message);
    waiting.get(JSON.stringify(message.id))?.();
  } else if (message.method === "session/cancel") cancelled();
  else if (message.id !== undefined) playing = playing.then(() => play(message.method, message.id));
});
