/**
 * An agent for pages that are looked at and for days that are lived through: a program in the place of Claude Code that answers to plain
 * words, each with what it was taught. What it prints is what Claude Code prints; what it asks, it waits for.
 */
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Plan } from "../lifecycle/world.ts";
import { FAKE_CLAUDE } from "./harness.ts";

const RECORDED = readFileSync(
  fileURLToPath(
    new URL("../../../packages/providers/fixtures/claude/permission-control.jsonl", import.meta.url),
  ),
  "utf8",
)
  .trimEnd()
  .split("\n");
/** More lines than any recording has. */
const ALL = 100_000;
const SESSION = "9c22731d-db58-416b-ae11-1469897a4c83";

/** Words that it says, a call that it makes with its result, or one that it asks for and waits. */
export type Step =
  | { readonly says: string }
  | { readonly calls: string; readonly input: object; readonly result: string; readonly more?: object }
  | { readonly asks: string; readonly input: object; readonly more?: object };

export class StandIn {
  /** What `BLOCKYARD_CLAUDE` has to name when the server starts. */
  readonly program: string;
  /** The folder that it says it works in. */
  cwd = "/workspace/demo";
  readonly #folder = mkdtempSync(join(tmpdir(), "blockyard-stand-in-"));
  readonly #plans = new Map<string, Plan>();
  #recordings = 0;

  constructor() {
    this.program = join(this.#folder, "claude");
    const script = `#!/bin/sh\nCLAUDE_FAKE_PLANS='${this.#planFile}' exec '${FAKE_CLAUDE}' "$@"\n`;
    writeFileSync(this.program, script, { mode: 0o755 });
  }

  /** To these words it says and asks that, in this order, and ends; with `stays` it goes on until it is stopped. */
  teach(prompt: string, steps: readonly Step[], { stays = false } = {}): void {
    const recording = this.#record(steps, stays);
    const answers = `${recording}.answers`;
    writeFileSync(answers, "");
    this.play(prompt, { recording, answers, lines: stays ? ALL : 0, act: stays ? "stay" : "ask" });
  }

  /** To these words it does that. */
  play(prompt: string, plan: Plan): void {
    this.#plans.set(prompt, plan);
    writeFileSync(this.#planFile, JSON.stringify(Object.fromEntries(this.#plans)));
  }

  /** What it was answered to what it asked after these words, as lines. */
  heard(prompt: string): readonly string[] {
    const { answers } = this.#plans.get(prompt) ?? {};
    if (answers === undefined) return [];
    return readFileSync(answers, "utf8").split("\n").filter(Boolean);
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get #planFile(): string {
    return join(this.#folder, "plans.json");
  }

  #record(steps: readonly Step[], stays: boolean): string {
    const number = ++this.#recordings;
    const file = join(this.#folder, `${number}.jsonl`);
    const print = (line: object) =>
      appendFileSync(file, `${JSON.stringify({ ...line, session_id: SESSION })}\n`);
    writeFileSync(file, `${(RECORDED[0] as string).replaceAll("/workspace/demo", this.cwd)}\n`);
    for (const [i, step] of steps.entries()) for (const line of linesOf(step, `${number}-${i}`)) print(line);
    if (!stays) appendFileSync(file, `${RECORDED.at(-1)}\n`);
    return file;
  }
}

function linesOf(step: Step, id: string): readonly object[] {
  const message = (content: object) => ({
    type: "assistant",
    message: { id: `msg_${id}`, role: "assistant", content: [content], usage: {} },
  });
  if ("says" in step) return [message({ type: "text", text: step.says })];
  const name = "calls" in step ? step.calls : step.asks;
  const use = `toolu_${id}`;
  const call = message({ type: "tool_use", id: use, name, input: step.input });
  if ("asks" in step) {
    const request = { subtype: "can_use_tool", tool_name: name, input: step.input, tool_use_id: use };
    return [call, { type: "control_request", request_id: id, request: { ...request, ...step.more } }];
  }
  const content = [{ type: "tool_result", tool_use_id: use, content: step.result }];
  return [call, { type: "user", message: { role: "user", content }, ...step.more }];
}
