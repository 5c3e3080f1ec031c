/** Background work runs until it ends; retries are one line with a count. */
import type { BlockEvent } from "@blockyard/kernel";
import { describe, expect, it } from "vitest";
import {
  answer,
  call,
  done,
  eventsOf,
  foldLines,
  init,
  reply,
  say,
  system,
  used,
} from "../../../../test/claude-lines.ts";
import { fold } from "../fold.ts";

const launched = [
  init(),
  call("t", "Bash", { command: "x", run_in_background: true }),
  reply("t", "Command running in background with ID: b1. Output …", {
    tool_use_result: { stdout: "", backgroundTaskId: "b1" },
  }),
];

/** The status of the call and of its command, before the stream ends. */
function states(events: readonly BlockEvent[]): (string | number | null | undefined)[] {
  const { blocks } = fold(events);
  const state = (kind: string) => blocks.find((block) => block.kind === kind);
  return [
    state("tool_call")?.status,
    state("command")?.status,
    state("command")?.metadata.exitCode as number,
  ];
}

describe("[C44] a command in the background", () => {
  it("runs until its turn is over and longer", () => {
    expect(states(eventsOf(launched, false))).toEqual(["running", "running", null]);
    expect(states(eventsOf([...launched, say("m", "ok"), done()], false))).toEqual([
      "running",
      "running",
      null,
    ]);
  });

  it("[P7] that is reported twice leaves nothing open", () => {
    const { blocks } = fold(eventsOf([...launched, ...launched.slice(2)], true));
    const open = blocks.filter(({ status }) => status === "running");
    expect([blocks.filter(({ kind }) => kind === "command").length, open]).toEqual([2, []]);
  });

  const notice = (status: string, summary: string) =>
    system("task_notification", { task_id: "b1", tool_use_id: "t", status, summary });
  it.each([
    [
      "a notification",
      [notice("completed", 'Background command "x" completed (exit code 0)')],
      ["done", "done", 0],
    ],
    [
      "one of a failure",
      [notice("failed", 'Background command "x" failed with exit code 3')],
      ["error", "error", 3],
    ],
    ["that it was stopped", [notice("stopped", "x")], ["error", "error", null]],
    [
      "one in the user's place",
      [
        {
          type: "user",
          message: {
            content:
              "<bash-notification>\n<shell-id>b1</shell-id>\n<status>completed</status>\n<summary>done (exit code 0)</summary>\n</bash-notification>",
          },
        },
      ],
      ["done", "done", 0],
    ],
    [
      "a look at its output",
      [
        call("u", "TaskOutput", { task_id: "b1" }),
        reply("u", "…", {
          tool_use_result: { task: { task_id: "b1", status: "completed", output: "o", exitCode: 2 } },
        }),
      ],
      ["error", "error", 2],
    ],
    [
      "a look, as 1.0 words it",
      [
        call("u", "BashOutput", { bash_id: "b1" }),
        reply("u", "<status>completed</status>\n\n<exit_code>0</exit_code>\n\n<stdout>\no\n</stdout>"),
      ],
      ["done", "done", 0],
    ],
    [
      "its end by KillShell",
      [call("u", "KillShell", { shell_id: "b1" }), reply("u", "Successfully killed shell: b1")],
      ["error", "error", null],
    ],
  ])("ends with %s", (_, lines, expected) => {
    expect(states(eventsOf([...launched, ...lines, done()], false))).toEqual(expected);
    expect(foldLines([...launched, ...lines, done()]).faults).toEqual([]);
  });

  it("continues after a check that finds it running", () => {
    const look = [call("u", "BashOutput", { bash_id: "b1" }), reply("u", "<status>running</status>")];
    expect(states(eventsOf([...launched, ...look, done()], false))[0]).toBe("running");
  });

  it("was interrupted where the stream ends first", () => {
    const { blocks } = foldLines([...launched, done()]);
    expect(blocks.map(({ status, metadata }) => [status, metadata.reason])).toEqual([
      ["error", "interrupted"],
      ["error", "interrupted"],
    ]);
  });

  it("[C23] so does an agent", () => {
    const lines = [
      init(),
      ...used("Agent", { prompt: "p" }, "Async agent launched", { status: "async_launched", agentId: "a1" }),
      done(),
    ];
    expect(fold(eventsOf(lines, false)).blocks[0]).toMatchObject({
      status: "running",
      metadata: { shortResult: "in the background" },
    });
    const ended = [
      ...lines,
      system("task_notification", { task_id: "a1", status: "completed", summary: "Two." }),
    ];
    expect(fold(eventsOf(ended, false)).blocks[0]).toMatchObject({
      status: "done",
      metadata: { success: true },
    });
    // Its report may speak of exit codes, and it may report again.
    const again = { status: "completed", summary: "It failed with exit code 3" };
    const twice = ["a", "b"].map((uuid) => system("task_notification", { task_id: "a1", uuid, ...again }));
    expect(fold(eventsOf([...lines, ...twice], false)).blocks.map(({ status }) => status)).toEqual([
      "done",
      "done",
      "done",
    ]);
  });
});

describe("[C45] retries", () => {
  const retry = (attempt: number, error = "overloaded", status = 529) =>
    system("api_retry", {
      attempt,
      max_retries: 10,
      retry_delay_ms: 5,
      error_status: status,
      error,
    });

  it("are one line that counts", () => {
    const lines = [init(), ...Array.from({ length: 10 }, (_, i) => retry(i + 1)), say("m", "ok"), done()];
    expect(foldLines(lines).blocks.map(({ text, metadata }) => [text, metadata.times])).toEqual([
      ["Retrying: overloaded (529)", 10],
      ["ok", undefined],
    ]);
    expect(foldLines(lines).blocks[0]?.metadata.extra).toMatchObject({ attempt: 10, maxRetries: 10 });
  });

  it("name other errors, and start over after an answer", () => {
    const lines = [init(), retry(1), retry(2, "server_error", 500), say("m", "ok"), retry(1), done()];
    expect(foldLines(lines).blocks.map(({ text, metadata }) => [text, metadata.times])).toEqual([
      ["Retrying: overloaded (529), then server error (500)", 2],
      ["ok", undefined],
      ["Retrying: overloaded (529)", undefined],
    ]);
  });

  it("count while they continue", () => {
    const { blocks } = fold(eventsOf([init(), retry(1), retry(2)], false));
    expect(blocks).toMatchObject([{ status: "running", metadata: { times: 2 } }]);
    expect(foldLines([init(), retry(1), answer("m", [])]).faults).toEqual([]);
  });
});
