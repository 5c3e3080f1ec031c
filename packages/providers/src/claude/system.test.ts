/** Notices, bookkeeping, user lines. */
import { describe, expect, it } from "vitest";
import { briefs, call, foldLines, init, only, system } from "../../../../test/claude-lines.ts";

describe("notices", () => {
  it.each([
    [
      system("api_retry", {
        attempt: 1,
        max_retries: 10,
        retry_delay_ms: 549,
        error_status: 529,
        error: "overloaded",
      }),
      'retry "Retrying: overloaded (529)"',
    ],
    [
      system("api_retry", {
        attempt: 2,
        max_retries: 10,
        retry_delay_ms: 60,
        error_status: null,
        error: "unknown",
      }),
      'retry "Retrying: the connection was lost"',
    ],
    [
      system("api_retry", { attempt: 1, max_retries: 10, error_status: 429, error: "rate_limit" }),
      'retry "Retrying: rate limited (429)"',
    ],
    [system("api_retry", { attempt: 1, error_status: 502 }), 'retry "Retrying: HTTP 502"'],
    [
      system("compact_boundary", {
        compact_metadata: { trigger: "auto", pre_tokens: 84_060, post_tokens: 90 },
      }),
      'compaction "Conversation compacted (auto): 84,060 → 90 tokens"',
    ],
    [
      system("status", { status: null, compact_result: "failed", compact_error: "Too short" }),
      'compaction "Too short"',
    ],
    [
      system("status", { status: null, compact_result: "failed", compact_error: "too_few_groups" }),
      'compaction "The conversation could not be compacted: it has too few messages."',
    ],
    [
      system("status", { status: null, compact_result: "failed", compact_error: "prompt_too_long" }),
      'compaction "The conversation could not be compacted: prompt too long"',
    ],
    [
      system("status", { status: null, compact_result: "failed" }),
      'compaction "The conversation could not be compacted"',
    ],
    [
      system("hook_response", { hook_name: "Stop", output: "blocked\n", outcome: "error" }),
      'hook "blocked\\n"',
    ],
    [system("hook_response", { hook_name: "Stop", output: "", outcome: "error" }), 'hook "Stop: error"'],
    [system("informational", { content: "Continuing", level: "notice" }), 'informational "Continuing"'],
    [
      system("local_command_output", { content: "<local-command-stdout>Done</local-command-stdout>" }),
      'local_command "Done"',
    ],
    [system("notification", { text: "Ready" }), 'notification "Ready"'],
    [system("mirror_error", { error: "Disk full" }), 'mirror_error "Disk full"'],
    [system("session_writes_lost", { message: "3 lines" }), 'session_writes_lost "3 lines"'],
    [system("worker_shutting_down", { reason: "update" }), 'shutdown "update"'],
    [system("model_fallback", { content: "Switched to Sonnet" }), 'fallback "Switched to Sonnet"'],
    [system("model_refusal_fallback", { content: "Refused" }), 'refusal "Refused"'],
    [system("model_refusal_no_fallback", { content: "Refused" }), 'refusal "Refused"'],
    [
      system("plugin_install", { name: "p", status: "failed", error: "No network" }),
      'plugin_install "No network"',
    ],
    [
      system("files_persisted", { files: [], failed: [{ filename: "a", error: "too large" }] }),
      'files_persisted "a: too large"',
    ],
    [{ type: "tool_use_summary", summary: "Read the readme" }, 'tool_summary "Read the readme"'],
    [{ type: "prompt_suggestion", suggestion: "run the tests" }, 'prompt_suggestion "run the tests"'],
    [
      {
        type: "rate_limit_event",
        rate_limit_info: { status: "allowed_warning", rateLimitType: "five_hour", utilization: 0.9 },
      },
      'rate_limit "Close to the rate limit (five hour), 90 % used"',
    ],
    [
      { type: "rate_limit_event", rate_limit_info: { status: "rejected" } },
      'rate_limit "Rate limit reached"',
    ],
    [
      { type: "conversation_reset", new_conversation_id: "n", trigger: "clear" },
      'reset "Conversation restarted (clear)"',
    ],
    [
      { type: "auth_status", isAuthenticating: true, output: ["Open the browser"] },
      'auth "Open the browser"',
    ],
    [{ type: "active_goal", goal: "Ship it" }, 'goal "Ship it"'],
    [
      {
        type: "control_request",
        request_id: "r",
        request: { subtype: "request_user_dialog", title: "Sure?" },
      },
      'request_user_dialog "Sure?"',
    ],
  ])("[C32] %j", (line, expected) => {
    expect(briefs([line])).toEqual([`text system done ${expected}`]);
  });

  it("[C32] a notice about a call is below it", () => {
    const lines = [
      call("t1", "Bash", { command: "ls" }),
      system("informational", { content: "Slow", tool_use_id: "t1" }),
    ];
    expect(only(lines, "text").parent).toBe("run/c:t1");
  });

  it.each(
    [
      "status",
      "task_started",
      "task_progress",
      "task_updated",
      "background_tasks_changed",
      "hook_started",
      "hook_progress",
      "session_state_changed",
      "thinking_tokens",
      "vcs_state_changed",
      "memory_recall",
      "elicitation_complete",
      "commands_changed",
      "control_request_progress",
      "plugin_install",
      "files_persisted",
    ].map((subtype) => system(subtype)),
  )("[C32] %j is bookkeeping", (line) => {
    expect(foldLines([init(), line]).blocks).toEqual([]);
  });

  it.each([
    { type: "keep_alive" },
    { type: "command_lifecycle", command_uuid: "u", state: "queued" },
    { type: "rate_limit_event", rate_limit_info: { status: "allowed" } },
    { type: "auth_status", isAuthenticating: false, output: [] },
    { type: "control_cancel_request", request_id: "r" },
    { type: "control_response", response: { subtype: "success", request_id: "r" } },
    { type: "tool_progress", tool_use_id: "nobody", elapsed_time_seconds: 3 },
    system("hook_response", { hook_name: "Stop", output: "", outcome: "success" }),
  ])("[C32] %j makes no block", (line) => {
    expect(foldLines([line]).blocks).toEqual([]);
  });
});

describe("user lines", () => {
  const user = (content: unknown, extra = {}) => ({
    type: "user",
    message: { role: "user", content },
    ...extra,
  });
  const text = (said: string) => [{ type: "text", text: said }];

  it.each([
    [user("Hello", { isReplay: true }), 'text user done "Hello"'],
    [
      user(text("[Request interrupted by user for tool use]")),
      'text system done interrupted "Request interrupted by user for tool use"',
    ],
    [user(text("Resume directly"), { isSynthetic: true }), 'text system done synthetic "Resume directly"'],
    [
      user("This session is being continued from a previous conversation that …", { isSynthetic: true }),
      'text system done compaction "This session is being continued from a previous conversation that …"',
    ],
    [
      user("<local-command-stdout>Set model</local-command-stdout>", { isReplay: true }),
      'text system done local_command "Set model"',
    ],
    [
      user("<command-name>/model</command-name>\n<command-args>opus</command-args>"),
      'text user done "/model opus"',
    ],
    [
      user("<command-message>init is running…</command-message>\n<command-name>/init</command-name>"),
      'text user done "/init"',
    ],
    [user("<bash-input>ls</bash-input>"), 'text user done "! ls"'],
    [
      user("<bash-stdout>a</bash-stdout><bash-stderr>b</bash-stderr>"),
      'text system done local_command "a\\nb"',
    ],
    [
      user(
        "<task-notification>\n<task-id>k</task-id>\n<status>failed</status>\n<summary>Tick</summary>\n</task-notification>",
      ),
      'text system done task "Tick (failed)"',
    ],
    [user("<b>not a tag of the CLI</b>"), 'text user done "<b>not a tag of the CLI</b>"'],
    [
      user([{ type: "image", source: { type: "base64", media_type: "image/png", data: "aGk=" } }]),
      'image user done ""',
    ],
    [
      user([{ type: "document", title: "Notes", source: { type: "text", data: "Milk" } }]),
      'text user done "Milk"',
    ],
    [
      user([{ type: "document", source: { type: "base64", media_type: "application/pdf", data: "JQ==" } }]),
      'text user done "[document: application/pdf]"',
    ],
  ])("[C34] %j", (line, expected) => {
    expect(briefs([line])).toEqual([expected]);
  });

  it("[C34] a caveat for the model is no block, and a line with several parts is several", () => {
    expect(briefs([user("<local-command-caveat>…</local-command-caveat>")])).toEqual([]);
    expect(briefs([user("<system-reminder>Be brief.</system-reminder>\n", { isSynthetic: true })])).toEqual(
      [],
    );
    const parts = user(
      [...text("What is this?"), { type: "image", source: { type: "url", url: "https://p" } }],
      { uuid: "u" },
    );
    expect(briefs([parts])).toEqual(['text user done "What is this?"', 'image user done ""']);
    // The same line again, as some hosts replay it, is not a second start of the same key.
    expect(foldLines([parts, parts]).blocks).toHaveLength(4);
  });

  it("[C34] several results on one line share no payload", () => {
    const lines = [
      call("a", "Bash", { command: "x" }),
      call("b", "Bash", { command: "y" }),
      {
        ...user(["a", "b"].map((id) => ({ type: "tool_result", tool_use_id: id, content: `out ${id}` }))),
        tool_use_result: { stdout: "only one of them" },
      },
    ];
    expect(
      foldLines(lines)
        .blocks.filter((block) => block.kind === "command")
        .map((block) => block.text),
    ).toEqual(["out a", "out b"]);
  });
});
