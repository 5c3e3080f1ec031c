#!/usr/bin/env node
/**
 * Stands where Claude Code would stand and misbehaves on purpose. It reads one message, whose last text is a plan as JSON
 * (see `Plan` in ../lifecycle/world.ts): prints that many lines of a recording, then does what the plan says. Where that text is plain
 * words, the file that `CLAUDE_FAKE_PLANS` names has the plan of each.
 */
import { spawn } from "node:child_process";
import { appendFileSync, closeSync, existsSync, readFileSync, writeFileSync, writeSync } from "node:fs";

/** In its folder: the slash commands that it tells, as soon as they are there. */
const COMMANDS = ".fake-commands.json";
/** A line for each time that it was asked for them, where this file is there. */
const ASKED = ".fake-asked";
const BYTES = 64 * 1024;
const FLOOD_LINES = 4_000;

let input = "";
let hasBegun = false;
let isDeaf = false;
process.stdin.setEncoding("utf8").on("data", (text) => {
  input += text;
  // Asked to stop, it ends as a signal would end it.
  if (hasBegun && !isDeaf && String(text).includes('"subtype":"interrupt"')) process.exit(130);
  while (!hasBegun && input.includes("\n")) {
    const message = JSON.parse(input.slice(0, input.indexOf("\n")));
    hasBegun = !isRequest(message);
    if (hasBegun) return run(message);
    input = input.slice(input.indexOf("\n") + 1);
  }
});

/** Asked for a mode, a model or what it offers: yes to everything. @param {any} message */
function isRequest(message) {
  if (message.type !== "control_request") return false;
  const isInitial = message.request.subtype === "initialize";
  if (isInitial && existsSync(ASKED)) appendFileSync(ASKED, "asked\n");
  const told = isInitial && existsSync(COMMANDS);
  const commands = told ? { commands: JSON.parse(readFileSync(COMMANDS, "utf8")) } : {};
  const cancelled = message.request.subtype === "cancel_async_message" ? { cancelled: true } : {};
  const answer = { ...commands, ...cancelled };
  const response = { subtype: "success", request_id: message.request_id, response: answer };
  print(`${JSON.stringify({ type: "control_response", response })}\n`);
  return true;
}
process.stdin.on("error", () => undefined);

/** @param {any} message */
function run(message) {
  const { content } = message.message;
  const plan = planOf(content.at(-1).text);
  if (plan.heard) writeFileSync(plan.heard, JSON.stringify(content));
  isDeaf = plan.deaf === true;
  if (plan.deaf) for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => undefined);
  const lines = readFileSync(plan.recording, "utf8").split("\n").slice(0, plan.lines);
  print(lines.map((line) => `${line}\n`).join(""));
  if (plan.act === "ask") return ask(plan);
  const act = ACTS[/** @type {keyof Acts} */ (plan.act)];
  act();
}

/** @param {string} text */
function planOf(text) {
  const { CLAUDE_FAKE_PLANS: plans } = process.env;
  const known = plans === undefined ? undefined : JSON.parse(readFileSync(plans, "utf8"))[text];
  return known ?? JSON.parse(text);
}

/** Goes on behind each permission request only when it is answered. @param {any} plan */
function ask({ recording, answers, atOnce = false }) {
  const lines = readFileSync(recording, "utf8").trimEnd().split("\n");
  /** @type {Set<string>} */
  const waitsFor = new Set();
  const goOn = () => {
    while (waitsFor.size === 0 || (atOnce && lines.length > 1)) {
      const line = lines.shift();
      if (line === undefined) return process.exit(0);
      print(`${line}\n`);
      const said = JSON.parse(line);
      if (said.type === "control_request") waitsFor.add(said.request_id);
    }
  };
  let rest = input.slice(input.indexOf("\n") + 1);
  process.stdin.on("data", (text) => {
    const parts = (rest + text).split("\n");
    rest = /** @type {string} */ (parts.pop());
    for (const part of parts) {
      // A message that is sent while it asks is one that it does not read.
      if (isRequest(JSON.parse(part)) || JSON.parse(part).type === "user") continue;
      appendFileSync(answers, `${part}\n`);
      if (waitsFor.delete(JSON.parse(part).response.request_id)) goOn();
    }
  });
  goOn();
}

/** @typedef {typeof ACTS} Acts */
const ACTS = {
  exit0: () => process.exit(0),
  exit1: () => {
    process.stderr.write("something went wrong inside\n", () => process.exit(1));
  },
  kill: () => process.kill(process.pid, "SIGKILL"),
  freeze: () => process.kill(process.pid, "SIGSTOP"),
  stay: () => void setInterval(() => undefined, 1_000_000),
  closeOutput() {
    closeSync(1);
    ACTS.stay();
  },
  /** Leaves a process that holds its pipes open. */
  leavePipes() {
    spawn("sleep", ["600"], { stdio: "inherit" });
    process.exit(0);
  },
  /** Leaves one in a session of its own, which a signal to the group does not reach, and one that it started in turn. */
  leaveBehind() {
    for (const args of [["600"], ["601"]]) spawn("sleep", args, { stdio: "ignore", detached: true }).unref();
    spawn("/bin/sh", ["-c", "setsid sleep 602 >&2 & setsid sleep 603 </dev/null >/dev/null 2>&1 &"], {
      stdio: ["ignore", "ignore", "inherit"],
    }).on("exit", () => process.exit(0));
  },
  /** Prints more than anybody wants to read, all of it valid. */
  flood() {
    const index = 7;
    event({ type: "message_start", message: { id: "msg_flood", role: "assistant", content: [], usage: {} } });
    event({ type: "content_block_start", index, content_block: { type: "text", text: "" } });
    for (let i = 0; i < FLOOD_LINES; i++)
      event({
        type: "content_block_delta",
        index,
        delta: { type: "text_delta", text: `${i} ${"x".repeat(2_000)}\n` },
      });
    process.exit(1);
  },
  asks() {
    for (let i = 0; i < 300; i++) {
      const input = { command: `touch ${i}` };
      const request = { subtype: "can_use_tool", tool_name: "Bash", input, tool_use_id: `toolu_flood${i}` };
      print(`${JSON.stringify({ type: "control_request", request_id: `flood-${i}`, request })}\n`);
    }
    ACTS.stay();
  },
  garbage() {
    print('not json at all\n{"half": \n[1,2,3]\n"text"\n\n{}\n{"type":"__proto__"}\n');
    print(Buffer.from([0xff, 0xfe, 0x00, 0x80, 0x0a, 0xc3]));
    print(`{"type":"stream_event","event":{"type":"content_block_delta","index":99,"delta":{}}}\n`);
    print(
      `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"toolu_nobody","content":"?"}]}}\n`,
    );
    print("x".repeat(1_000_000));
    process.exit(1);
  },
};

/** @param {unknown} event */
function event(event) {
  print(`${JSON.stringify({ type: "stream_event", event, session_id: "s", parent_tool_use_id: null })}\n`);
}

/** All of it, before anything else happens. @param {string | Buffer} text */
function print(text) {
  const bytes = Buffer.from(/** @type {string} */ (text));
  for (let at = 0; at < bytes.length; ) at += writeSync(1, bytes, at, Math.min(BYTES, bytes.length - at));
}
