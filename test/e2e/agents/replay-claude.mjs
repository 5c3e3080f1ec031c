#!/usr/bin/env node
/**
 * A peer that replays what Claude Code printed in a recording of its control protocol, whatever that is: behind the first message it
 * prints line by line, and behind something that it asks it waits a moment for the answer. `CLAUDE_REPLAY` (JSON) names the recording,
 * and the file into which it writes what it reads; with `stays` it ends when its input does, and for the answer to the request `waitsFor`
 * it waits as long as it takes.
 */
import { appendFileSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const WAIT_MS = 150;

const plan = JSON.parse(process.env.CLAUDE_REPLAY ?? "{}");
const lines = readFileSync(plan.recording, "utf8")
  .split("\n")
  .filter(Boolean)
  .map((line) => JSON.parse(line))
  .filter(({ dir }) => dir === "out")
  .map(({ line }) => line);
let hasBegun = false;
let answered = () => {};

createInterface({ input: process.stdin })
  .on("line", (line) => {
    appendFileSync(plan.log, `${line}\n`);
    const message = JSON.parse(line);
    if (message.type === "control_response") answered(message.response?.request_id);
    if (message.type === "control_request") {
      const response = { subtype: "success", request_id: message.request_id, response: {} };
      process.stdout.write(`${JSON.stringify({ type: "control_response", response })}\n`);
    }
    if (message.type === "user" && !hasBegun) {
      hasBegun = true;
      void replay();
    }
  })
  .on("close", () => process.exit(0));

async function replay() {
  for (const line of lines) {
    process.stdout.write(`${line}\n`);
    if (!line.includes("control_request")) continue;
    const isMeant = plan.waitsFor !== undefined && line.includes(plan.waitsFor);
    await new Promise((resolve) => {
      answered = (id) => (!isMeant || id === plan.waitsFor) && resolve();
      if (!isMeant) setTimeout(resolve, WAIT_MS);
    });
  }
  if (!plan.stays) process.exit(0);
}
