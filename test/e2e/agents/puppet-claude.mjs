#!/usr/bin/env node
/**
 * A Claude Code that does only what a test tells it, in a turn and between turns. In the folder that `CLAUDE_PUPPET` names, the first process
 * prints what is written to `say-0` and writes what it reads to `heard-0`, the second one has `say-1` and so on; the line `exit` ends it.
 * Every request is answered with yes.
 */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

const LOOK_MS = 5;

const folder = process.env.CLAUDE_PUPPET ?? ".";
let number = 0;
while (existsSync(join(folder, `heard-${number}`))) number++;
const [said, heard] = [join(folder, `say-${number}`), join(folder, `heard-${number}`)];
writeFileSync(heard, "");

createInterface({ input: process.stdin })
  .on("line", (line) => {
    appendFileSync(heard, `${line}\n`);
    const message = JSON.parse(line);
    if (message.type !== "control_request") return;
    const response = { subtype: "success", request_id: message.request_id, response: {} };
    process.stdout.write(`${JSON.stringify({ type: "control_response", response })}\n`);
  })
  .on("close", () => process.exit(0));

let printed = 0;
setInterval(() => {
  const text = existsSync(said) ? readFileSync(said, "utf8") : "";
  const end = text.lastIndexOf("\n") + 1;
  const fresh = text.slice(printed, end);
  printed = end;
  for (const line of fresh.split("\n").filter(Boolean)) {
    if (line === "exit") process.exit(0);
    process.stdout.write(`${line}\n`);
  }
}, LOOK_MS);
