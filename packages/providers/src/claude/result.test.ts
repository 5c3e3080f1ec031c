/** Results: each tool's, with its payload and without. */
import { describe, expect, it } from "vitest";
import { answer, call, foldLines, only, reply, used } from "../../../../test/claude-lines.ts";
import { withoutReminders } from "./outcome.ts";
import { withoutNumbers } from "./outcome-file.ts";

const REMINDER = "<system-reminder>\nConsider whether this is malware.\n</system-reminder>";
const PIXEL = { type: "image", source: { type: "base64", media_type: "image/png", data: "aGk=" } };

function rowOf(lines: Parameters<typeof foldLines>[0]) {
  const { shortResult, error } = only(lines, "tool_call").metadata;
  return shortResult ?? error;
}

describe("Read", () => {
  const read = (content: unknown, payload?: unknown) =>
    used("Read", { file_path: "/w/a.ts" }, content, payload);

  it.each([
    ["1\ta\n2\t", { text: "a\n", startLine: 1 }],
    ["     9→a\n    10→  b", { text: "a\n  b", startLine: 9 }],
    ["7\t1\t2", { text: "1\t2", startLine: 7 }],
    ["1\ta\n3\tb", undefined],
    ["1\ta\nplain", undefined],
    ["plain", undefined],
    ["", undefined],
  ])("[C18] the numbers of %j are taken off", (text, expected) => {
    expect(withoutNumbers(text)).toEqual(expected);
  });

  it("[C18] from the payload", () => {
    const file = { filePath: "/w/a.ts", content: "x\ny", numLines: 2, startLine: 5, totalLines: 90 };
    const lines = read("5\tx\n6\ty", { type: "text", file });
    expect(only(lines, "code")).toMatchObject({
      text: "x\ny",
      metadata: { filename: "/w/a.ts", language: "typescript", startLine: 5, totalLines: 90 },
    });
    expect(rowOf(lines)).toBe("2 lines");
  });

  it.each([["5\tx\n6\ty"], [`     5→x\n     6→y\n\n${REMINDER}`]])(
    "[C18] without a payload, from %j",
    (content) => {
      expect(only(read(content), "code")).toMatchObject({
        text: "x\ny",
        metadata: { startLine: 5, filename: "/w/a.ts" },
      });
    },
  );

  it("[C18] an empty file is empty code", () => {
    const file = { filePath: "/w/a.ts", content: "", numLines: 1, startLine: 1, totalLines: 1 };
    const lines = read("<system-reminder>Warning: empty</system-reminder>", { type: "text", file });
    expect([only(lines, "code").text, rowOf(lines)]).toEqual(["", "empty"]);
  });

  it("[C18] images, with and without payload", () => {
    const payload = {
      type: "image",
      file: { base64: "aGk=", type: "image/png", dimensions: { originalWidth: 3, originalHeight: 4 } },
    };
    expect(only(read([PIXEL], payload), "image").metadata).toMatchObject({
      mediaType: "image/png",
      data: "aGk=",
      width: 3,
      height: 4,
    });
    expect(only(read([PIXEL]), "image").metadata).toMatchObject({
      mediaType: "image/png",
      data: "aGk=",
      toolUseId: "t1",
    });
    expect(only(read([PIXEL]), "tool_call").metadata.images).toEqual([
      { data: "aGk=", mediaType: "image/png" },
    ]);
  });

  it("[C18] a notebook, one heading a cell", () => {
    const cells = [
      { cellType: "markdown", source: "# Title", cell_id: "c0" },
      {
        cellType: "code",
        source: "1 + 1",
        cell_id: "c1",
        language: "python",
        outputs: [{ output_type: "execute_result", text: "2" }],
      },
    ];
    const lines = read("<cell id=…>", { type: "notebook", file: { filePath: "/w/a.ipynb", cells } });
    expect(only(lines, "code")).toMatchObject({
      text: "# %% [markdown] c0\n# Title\n\n# %% [code] c1\n1 + 1\n# output:\n# 2",
      metadata: { filename: "/w/a.ipynb", language: "python" },
    });
    expect(rowOf(lines)).toBe("2 cells");
  });

  it("[C18] a PDF keeps its words and facts", () => {
    const payload = { type: "pdf", file: { filePath: "/w/a.pdf", base64: "JVBERi0=", originalSize: 8 } };
    const document = {
      type: "document",
      source: { type: "base64", media_type: "application/pdf", data: "JVBERi0=" },
    };
    const lines = read([{ type: "text", text: "PDF file read: /w/a.pdf (8 bytes)" }, document], payload);
    expect(only(lines, "tool_result")).toMatchObject({
      text: "PDF file read: /w/a.pdf (8 bytes)\n[document: application/pdf]",
      metadata: { result: { type: "pdf", file: { filePath: "/w/a.pdf", originalSize: 8 } } },
    });
  });
});

describe("Bash", () => {
  const bash = (content: string, payload?: unknown, isError?: boolean) =>
    used("Bash", { command: "x", description: "Do x" }, content, payload, isError);
  const said = (stdout: string, extra = {}) => ({
    stdout,
    stderr: "",
    interrupted: false,
    isImage: false,
    ...extra,
  });

  it.each([
    ["success", bash("hi", said("hi")), { text: "hi", exitCode: 0 }, "hi"],
    [
      "a soft code",
      bash("", said("", { returnCodeInterpretation: "No matches found" })),
      { text: "", exitCode: 1 },
      "No matches found",
    ],
    ["silence", bash("(Bash completed with no output)", said("")), { text: "", exitCode: 0 }, "no output"],
    [
      "silence below a sub-agent",
      bash("(Bash completed with no output)"),
      { text: "", exitCode: 0 },
      "no output",
    ],
    [
      "a failure",
      bash("Exit code 3\na\nb", "Error: Exit code 3\na\nb", true),
      { text: "a\nb", exitCode: 3 },
      "exit 3",
    ],
    [
      "a failure of 2.1.50",
      bash("Exit code 3\na\nb\n\na\nb", "Error: …", true),
      { text: "a\nb", exitCode: 3 },
      "exit 3",
    ],
    [
      "a silent failure",
      bash("Exit code 1", "Error: Exit code 1", true),
      { text: "", exitCode: 1 },
      "exit 1",
    ],
    [
      "a failure of 1.0",
      bash("out-line\nerr-line", undefined, true),
      { text: "out-line\nerr-line", exitCode: null },
      "failed",
    ],
    [
      "interruption",
      bash("half", said("half", { interrupted: true })),
      { text: "half", exitCode: null },
      "interrupted",
    ],
    [
      "the background",
      bash("Running with ID: b1", said("", { backgroundTaskId: "b1" })),
      { text: "Running with ID: b1", exitCode: null },
      "in the background",
    ],
    [
      "the background, without a payload",
      bash("Command running in background with ID: b1"),
      { text: "Command running in background with ID: b1", exitCode: null },
      "in the background",
    ],
    [
      "a separate stderr",
      bash("o", said("o", { stderr: "e" })),
      { text: "o", exitCode: 0, stderr: "e" },
      "o",
    ],
  ])("[C19] %s", (_, lines, { text, ...metadata }, row) => {
    expect(only(lines, "command")).toMatchObject({
      text,
      metadata: { command: "x", description: "Do x", ...metadata },
    });
    expect(rowOf(lines)).toBe(row);
  });

  it("[C19] an output that was put aside says how much is missing", () => {
    const payload = said("abc", { persistedOutputPath: "/p/tool-results/b.txt", persistedOutputSize: 10 });
    expect(only(bash("<persisted-output>…", payload), "command").metadata).toMatchObject({
      truncatedChars: 7,
      result: { persistedOutputPath: "/p/tool-results/b.txt", persistedOutputSize: 10 },
    });
  });

  it.each([
    ["refused", "This command requires approval"],
    ["invalid", "<tool_use_error>InputValidationError: command is missing</tool_use_error>"],
    ["rejected", "The user doesn't want to proceed with this tool use."],
  ])("[C20] a command that was %s has not run", (_, words) => {
    const lines = bash(words, `Error: ${words}`, true);
    expect(only(lines, "tool_result").metadata.isError).toBe(true);
  });

  it("[C21] files that it changed stand beside its output", () => {
    const hunk = (lines: string[], old: number, now: number) => ({
      oldStart: 1,
      oldLines: old,
      newStart: 1,
      newLines: now,
      lines,
    });
    const files = [
      { filePath: "/w/a", hunks: [hunk([" x", "+y"], 1, 2)] },
      { filePath: "/w/b", hunks: [{ ...hunk(["-z"], 1, 0), newStart: 0 }], deleted: true },
    ];
    const lines = bash(
      "ok",
      said("ok", { bashEditDiff: { files, moreFiles: 0 }, gitOperation: { commit: { sha: "1" } } }),
    );
    expect(only(lines, "file_change")).toMatchObject({
      text: "--- /w/a\n+++ /w/a\n@@ -1 +1,2 @@\n x\n+y\n--- /w/b\n+++ /dev/null\n@@ -1 +0,0 @@\n-z\n",
      metadata: {
        changes: [
          { path: "/w/a", kind: "modify" },
          { path: "/w/b", kind: "delete" },
        ],
      },
    });
    expect(only(lines, "command").metadata.result).toEqual({ gitOperation: { commit: { sha: "1" } } });
  });

  it("[C19] the output of a background command, as 2.0 and 1.0 asked for it", () => {
    const task = { task_id: "b", status: "completed", output: "tick\n", exitCode: 0 };
    const lines = used("TaskOutput", { task_id: "b" }, "<output>…", { retrieval_status: "success", task });
    expect([only(lines, "tool_result").text, rowOf(lines)]).toEqual(["tick\n", "exit 0"]);
    const shell = {
      shellId: "b",
      command: "sleep 1",
      status: "completed",
      exitCode: 2,
      stdout: "o",
      stderr: "e",
    };
    expect(only(used("BashOutput", { bash_id: "b" }, "…", shell), "command")).toMatchObject({
      text: "o",
      metadata: { command: "sleep 1", exitCode: 2, stderr: "e", background: true },
    });
  });
});

it.each<[unknown, string]>([
  [{ type: "text", text: "one" }, "one"],
  [{ odd: true }, '{"odd":true}'],
  [7, "7"],
  [null, ""],
])("[C26] a result may be any value: %j", (content, expected) => {
  expect(only(used("Foo", {}, content), "tool_result").text).toBe(expected);
});

describe("changes", () => {
  const hunk = { oldStart: 2, oldLines: 1, newStart: 2, newLines: 1, lines: ["-a", "+b"] };

  it.each([
    [
      "an edit",
      used("Edit", { file_path: "/w/x", old_string: "a", new_string: "b" }, "ok", {
        filePath: "/w/x",
        originalFile: "1\na",
        structuredPatch: [hunk],
      }),
      "modify",
      "--- /w/x\n+++ /w/x\n@@ -2 +2 @@\n-a\n+b\n",
      "+1 −1",
    ],
    [
      "a new file",
      used("Write", { file_path: "/w/x", content: "a\nb" }, "ok", {
        type: "create",
        filePath: "/w/x",
        content: "a\nb",
        structuredPatch: [],
        originalFile: null,
      }),
      "add",
      "--- /dev/null\n+++ /w/x\n@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n",
      "+2",
    ],
    [
      "a file made by Edit",
      used("Edit", { file_path: "/w/x", old_string: "", new_string: "a\n" }, "ok", {
        filePath: "/w/x",
        newString: "a\n",
        originalFile: "",
        structuredPatch: [{ ...hunk, oldLines: 0 }],
      }),
      "add",
      "--- /dev/null\n+++ /w/x\n@@ -0,0 +1 @@\n+a\n",
      "+1",
    ],
    [
      "an edit whose hunks are left out",
      used("Edit", { file_path: "/w/x", old_string: "a", new_string: "$&" }, "ok", {
        filePath: "/w/x",
        oldString: "a",
        newString: "$&",
        originalFile: "1\na\nz\n",
        structuredPatch: null,
      }),
      "modify",
      "--- /w/x\n+++ /w/x\n@@ -1,3 +1,3 @@\n 1\n-a\n+$&\n z\n",
      "+1 −1",
    ],
    [
      "an edit of 1.0",
      used(
        "Edit",
        { file_path: "/w/x", old_string: "old", new_string: "new" },
        "Updated. Here's the result of running `cat -n`:\n     4→one\n     5→a new b\n     6→two",
      ),
      "modify",
      "--- /w/x\n+++ /w/x\n@@ -5 +5 @@\n-a old b\n+a new b\n",
      "+1 −1",
    ],
    [
      "a new file of 1.0",
      used("Write", { file_path: "/w/x", content: "a\n" }, "File created successfully at: /w/x"),
      "add",
      "--- /dev/null\n+++ /w/x\n@@ -0,0 +1 @@\n+a\n",
      "+1",
    ],
    [
      "a notebook",
      used("NotebookEdit", { notebook_path: "/w/x" }, "ok", {
        notebook_path: "/w/x",
        original_file: "1\n",
        updated_file: "2\n",
      }),
      "modify",
      "--- /w/x\n+++ /w/x\n@@ -1 +1 @@\n-1\n+2\n",
      "+1 −1",
    ],
  ])("[C21] %s", (_, lines, kind, diff, row) => {
    const block = only(lines, "file_change");
    expect(block.text).toBe(diff);
    expect(block.metadata.changes).toEqual([{ path: "/w/x", kind, diff }]);
    expect(rowOf(lines)).toBe(row);
  });

  it("[C21] words are never a diff: where the call says nothing either, they are kept beside the change", () => {
    const lines = used("MultiEdit", { file_path: "/w/x", edits: [] }, "Applied 2 edits to /w/x");
    expect(only(lines, "file_change")).toMatchObject({
      text: "",
      metadata: {
        changes: [{ path: "/w/x", kind: "modify" }],
        result: { message: "Applied 2 edits to /w/x" },
      },
    });
  });

  it.each([
    [
      "Edit",
      { file_path: "/w/x", old_string: "a\nb", new_string: "a\nc" },
      "--- /w/x\n+++ /w/x\n@@ -0,2 +0,2 @@\n a\n-b\n+c\n",
    ],
    [
      "Edit",
      { file_path: "/w/x", old_string: "a", new_string: "", replace_all: true },
      "--- /w/x\n+++ /w/x\n@@ -0 +0,0 @@\n-a\n",
    ],
    [
      "MultiEdit",
      {
        file_path: "/w/x",
        edits: [
          { old_string: "a", new_string: "b" },
          { old_string: "c", new_string: "d" },
        ],
      },
      "--- /w/x\n+++ /w/x\n@@ -0 +0 @@\n-a\n+b\n@@ -0 +0 @@\n-c\n+d\n",
    ],
    ["Write", { file_path: "/w/x", content: "n\n" }, "--- /w/x\n+++ /w/x\n@@ -0,0 +1 @@\n+n\n"],
    [
      "NotebookEdit",
      { notebook_path: "/w/x", new_source: "n", cell_id: "1" },
      "--- /w/x\n+++ /w/x\n@@ -0,0 +0 @@\n+n\n",
    ],
  ])("[C21] %s without a payload is what was asked for, marked as not verified", (tool, input, diff) => {
    const lines = used(tool, input, "The file /w/x has been updated successfully.");
    expect(only(lines, "file_change")).toMatchObject({
      text: diff,
      metadata: { changes: [{ path: "/w/x", kind: "modify", diff, unverified: true }] },
    });
    expect(only(lines, "file_change").metadata.result).toBeUndefined();
  });

  it("[C21] a file that was created is known whole; an Edit of nothing creates one", () => {
    const made = used("Write", { file_path: "/w/x", content: "n\n" }, "File created successfully at: /w/x");
    const edited = used("Edit", { file_path: "/w/x", old_string: "", new_string: "n\n" }, "ok");
    for (const lines of [made, edited])
      expect(only(lines, "file_change").metadata.changes).toEqual([
        { path: "/w/x", kind: "add", diff: "--- /dev/null\n+++ /w/x\n@@ -0,0 +1 @@\n+n\n" },
      ]);
    // The word may stand in a path, or in the file that an older version prints.
    const said = "The file /w/created at.md has been updated.\n     1→created successfully";
    const over = used("Write", { file_path: "/w/created at.md", content: "created successfully" }, said);
    expect(only(over, "file_change").metadata.changes).toMatchObject([{ kind: "modify" }]);
  });

  it("[C21] a payload of the edit alone is enough", () => {
    const payload = { file_path: "/w/x", old_string: "a", new_string: "b" };
    const lines = used("Edit", {}, "ok", payload);
    expect(only(lines, "file_change")).toMatchObject({
      text: "--- /w/x\n+++ /w/x\n@@ -0 +0 @@\n-a\n+b\n",
      metadata: { changes: [{ unverified: true }] },
    });
  });
});

describe("to-do lists", () => {
  const step = (id: string, name: string, input: object, content: string, payload?: unknown) => [
    call(id, name, input as Record<string, unknown>),
    reply(id, content, payload === undefined ? {} : { tool_use_result: payload }),
  ];
  const history = (withPayload: boolean) => {
    const told = (payload: unknown) => (withPayload ? payload : undefined);
    return [
      ...step(
        "1",
        "TaskCreate",
        { subject: "A", activeForm: "Doing A" },
        "Task #1 created successfully: A",
        told({ task: { id: "1", subject: "A" } }),
      ),
      ...step(
        "2",
        "TaskCreate",
        { subject: "B" },
        "Task #2 created successfully: B",
        told({ task: { id: "2", subject: "B" } }),
      ),
      ...step(
        "3",
        "TaskUpdate",
        { taskId: "1", status: "completed" },
        "Updated task #1 status",
        told({ success: true, taskId: "1" }),
      ),
      ...step(
        "4",
        "TaskUpdate",
        { taskId: "2", subject: "B!", status: "in_progress" },
        "Updated task #2",
        told({ success: true, taskId: "2" }),
      ),
      ...step(
        "5",
        "TaskList",
        {},
        "#1 [completed] A\n#2 [in_progress] B! [blocked by #1]",
        told({
          tasks: [
            { id: "1", subject: "A", status: "completed" },
            { id: "2", subject: "B!", status: "in_progress" },
          ],
        }),
      ),
      ...step(
        "6",
        "TaskUpdate",
        { taskId: "1", status: "deleted" },
        "Updated task #1 deleted",
        told({ success: true, taskId: "1" }),
      ),
    ];
  };

  it.each([[true], [false]])("[C22] tasks show the whole list each time (payloads: %s)", (withPayload) => {
    const lists = foldLines(history(withPayload)).blocks.filter((block) => block.kind === "todo");
    expect(lists.map((block) => block.text)).toEqual([
      "- [ ] A",
      "- [ ] A\n- [ ] B",
      "- [x] A\n- [ ] B",
      "- [x] A\n- [ ] B!",
      "- [x] A\n- [ ] B!",
      "- [ ] B!",
    ]);
    expect(lists[4]?.metadata.items).toEqual([
      { id: "1", content: "A", status: "completed", activeForm: "Doing A" },
      { id: "2", content: "B!", status: "in_progress" },
    ]);
  });

  it("[C22] a task that is not there is a failure, though the CLI does not call it one", () => {
    const lines = step("1", "TaskUpdate", { taskId: "9" }, "Task not found", {
      success: false,
      taskId: "9",
      error: "Task not found",
    });
    expect(only(lines, "tool_call")).toMatchObject({
      status: "error",
      metadata: { error: "Task not found", success: false },
    });
  });

  it("[C22] TodoWrite, from its payload or its input", () => {
    const todos = [{ content: "A", status: "in_progress", activeForm: "Doing A" }];
    for (const payload of [undefined, { oldTodos: [], newTodos: todos }]) {
      const lines = used("TodoWrite", { todos }, "Todos have been modified", payload);
      expect(only(lines, "todo")).toMatchObject({ text: "- [ ] A", metadata: { items: todos } });
      expect(rowOf(lines)).toBe("0/1 done");
    }
  });
});

const FORKED =
  '<tools-used-before-summary>Bash</tools-used-before-summary>\nSkill "tidy" completed (forked execution).\n\nResult:\nAll tidy.';

describe("agents and look-ups", () => {
  it("[C23] the report without its frame", () => {
    const content = [
      { type: "text", text: "<tools-used-before-summary>Bash</tools-used-before-summary>\n" },
      { type: "text", text: "Two exports." },
    ];
    const lines = used("Agent", { prompt: "p" }, [{ type: "text", text: "[Subagent hand-back] …" }], {
      status: "completed",
      content,
      prompt: "p",
      agentId: "a1",
      totalToolUseCount: 2,
    });
    expect(only(lines, "tool_result")).toMatchObject({
      text: "Two exports.",
      metadata: { result: { status: "completed", agentId: "a1" } },
    });
    expect(rowOf(lines)).toBe("2 tool uses");
  });

  it("[C23] below another agent there is no payload, only the frame", () => {
    const frame = [
      "  <tools-used-before-summary>Bash</tools-used-before-summary>",
      "  ",
      "[Subagent hand-back] The text below is a report. It follows:",
      "  Two exports.",
      "",
      "    - add",
      "agentId: a1 (use SendMessage to continue)",
      "<usage>tool_uses: 1</usage>",
    ].join("\n");
    expect(only(used("Agent", { prompt: "p" }, [{ type: "text", text: frame }]), "tool_result").text).toBe(
      "Two exports.\n\n  - add",
    );
    const old = [
      { type: "text", text: "Two." },
      { type: "text", text: "agentId: a1 (for resuming)" },
    ];
    expect(only(used("Task", { prompt: "p" }, old), "tool_result").text).toBe("Two.");
  });

  it("[C24] web search", () => {
    const lines = used("WebSearch", { query: "q" }, "…", {
      query: "q",
      results: [{ tool_use_id: "s", content: [{ title: "T", url: "https://t" }] }, "Found."],
    });
    expect(only(lines, "tool_result")).toMatchObject({
      text: "Found.\n\n- [T](https://t)",
      metadata: { citations: [{ url: "https://t", title: "T" }] },
    });
    expect(rowOf(lines)).toBe("1 result");
  });

  it("[C24] server tools and citations", () => {
    const { blocks } = foldLines([
      answer("m1", [{ type: "server_tool_use", id: "s1", name: "web_search", input: { query: "q" } }]),
      answer("m1", [
        {
          type: "web_search_tool_result",
          tool_use_id: "s1",
          content: [{ type: "web_search_result", title: "T", url: "https://t" }],
        },
      ]),
      answer("m1", [
        {
          type: "text",
          text: "Yes",
          citations: [{ type: "web_search_result_location", url: "https://t", title: "T", cited_text: "so" }],
        },
      ]),
    ]);
    expect(
      blocks.map(({ kind, parent, status, metadata }) => [
        kind,
        parent,
        status,
        metadata.remote,
        metadata.citations,
      ]),
    ).toEqual([
      ["tool_call", null, "done", true, undefined],
      ["tool_result", "run/c:s1", "done", undefined, [{ url: "https://t", title: "T" }]],
      ["text", null, "done", undefined, [{ url: "https://t", title: "T", snippet: "so", start: 0, end: 3 }]],
    ]);
  });

  it.each([
    [
      "ToolSearch",
      [
        { type: "tool_reference", tool_name: "A" },
        { type: "tool_reference", tool_name: "B" },
      ],
      { matches: ["A", "B"] },
      "A\nB",
      "A, B",
    ],
    ["Glob", "/w/a\n/w/b", { filenames: ["/w/a", "/w/b"], numFiles: 2 }, "/w/a\n/w/b", "2 files"],
    ["Grep", "a:1:x\na:2:x", { mode: "content", numLines: 2, content: "…" }, "a:1:x\na:2:x", "2 lines"],
    ["WebFetch", "…", { result: "Page", code: 200, codeText: "OK", bytes: 9 }, "Page", "200 OK"],
    [
      "Skill",
      "Launching skill: greeter",
      { success: true, commandName: "greeter" },
      "Launching skill: greeter",
      "greeter",
    ],
    ["Skill", FORKED, { commandName: "tidy", status: "forked", result: "All tidy." }, "All tidy.", "tidy"],
    ["Skill", FORKED, undefined, "All tidy.", "tidy"],
    ["TaskStop", "{}", { message: "Stopped", task_id: "b" }, "Stopped", "Stopped"],
    ["ReadMcpResourceTool", "{}", { contents: [{ uri: "u", text: "Milk." }] }, "Milk.", "Milk."],
    [
      "StructuredOutput",
      "Structured output provided successfully",
      "Structured output provided successfully",
      "Structured output provided successfully",
      "Structured output provided successfully",
    ],
    [
      "AskUserQuestion",
      "User has answered: A",
      { answers: { "Which?": "A" } },
      "User has answered: A",
      "User has answered: A",
    ],
    [
      "NewTool",
      [
        { type: "text", text: "x" },
        { type: "resource_link", uri: "u" },
      ],
      undefined,
      'x\n{"type":"resource_link","uri":"u"}',
      "2 lines",
    ],
  ])("[C24] %s", (name, content, payload, text, row) => {
    const lines = used(name, {}, content, payload);
    expect([only(lines, "tool_result").text, rowOf(lines)]).toEqual([text, row]);
  });

  it.each([
    ["ReadMcpResourceTool", "Resource not found: u", { contents: [], error: "Resource not found: u" }],
    [
      "SendMessage",
      [{ type: "text", text: '{"success":false,"message":"No agent named bob."}' }],
      { success: false, message: "No agent named bob.", display: "Not sent" },
    ],
    ["NotebookEdit", "Cell not found", { notebook_path: "/w/n.ipynb", error: "Cell not found" }],
    ["NewTool", "Not there", { success: false }],
  ])("[C25] %s: a failure that only the payload tells", (name, content, payload) => {
    const lines = used(name, {}, content, payload);
    const said = "message" in payload ? payload.message : content;
    expect(only(lines, "tool_call")).toMatchObject({
      status: "error",
      metadata: { success: false, error: said },
    });
    expect(only(lines, "tool_result")).toMatchObject({ text: said, metadata: { isError: true } });
  });

  it("[C24] MCP: structured content, links, images", () => {
    const content = [{ type: "text", text: "One pixel:" }, PIXEL];
    const lines = used("mcp__lab__picture", { a: 1, b: "x" }, content, {
      content,
      resourceLinks: [{ uri: "u" }],
    });
    expect(only(lines, "tool_call").metadata).toMatchObject({ server: "lab", compactParams: "a: 1, b: x" });
    expect(only(lines, "tool_result")).toMatchObject({
      text: "One pixel:",
      metadata: {
        images: [{ data: "aGk=", mediaType: "image/png" }],
        result: { resourceLinks: [{ uri: "u" }] },
      },
    });
    expect(only(used("mcp__lab__add", {}, '{"sum":42}', '{"sum":42}'), "tool_result").text).toBe(
      '{"sum":42}',
    );
  });

  it("[C25] failures without their wrapper, results without reminders", () => {
    const failed = used(
      "Edit",
      { file_path: "/w/x" },
      "<tool_use_error>Not found.\nString: x</tool_use_error>",
      "Error: …",
      true,
    );
    expect(only(failed, "tool_result")).toMatchObject({
      text: "Not found.\nString: x",
      metadata: { isError: true },
    });
    expect(rowOf(failed)).toBe("Not found.");
    const invalid = used(
      "WebFetch",
      {},
      '<tool_use_error>InputValidationError: [\n {\n  "message": "Invalid URL"\n }\n]</tool_use_error>',
      "…",
      true,
    );
    expect(rowOf(invalid)).toBe("InputValidationError: Invalid URL");
    const issues =
      "<tool_use_error>InputValidationError: Bash failed:\nThe parameter is missing</tool_use_error>";
    expect(rowOf(used("Bash", {}, issues, "…", true))).toBe(
      "InputValidationError: Bash failed: The parameter is missing",
    );
    expect(withoutReminders(`a\n${REMINDER}\n\n${REMINDER}\n`)).toBe("a");
    expect(withoutReminders(`a ${REMINDER} b`)).toBe(`a ${REMINDER} b`);
    expect(withoutReminders("</system-reminder>")).toBe("</system-reminder>");
  });
});

describe("rows", () => {
  it.each([
    ["Read", { file_path: "/w/src/a.ts", offset: 5, limit: 3 }, "src/a.ts:5-7"],
    ["Read", { file_path: "/w/a.pdf", pages: "1-2" }, "a.pdf p. 1-2"],
    ["Read", { file_path: "/other/a", offset: 9 }, "/other/a:9-"],
    ["Bash", { command: "ls\npwd" }, "ls"],
    ["Grep", { pattern: "x", path: "/w/src" }, "x in src"],
    ["Task", { description: "Count", prompt: "…" }, "Count"],
    ["TaskUpdate", { taskId: "3", status: "completed" }, "#3 → completed"],
    ["Skill", { skill: "greeter", args: "Ada" }, "greeter Ada"],
    ["AskUserQuestion", { questions: [{ question: "Which?" }] }, "Which?"],
    ["__proto__", { a: 1, list: [1], long: "y".repeat(99) }, `a: 1, long: ${"y".repeat(59)}…`],
  ])("[C26] %s %j", (name, input, row) => {
    const init = { type: "system", subtype: "init", cwd: "/w" };
    expect(only([init, call("t1", name, input)], "tool_call").metadata.compactParams).toBe(row);
  });
});
