/** What streaming inputs of the providers' tools show, cut where models pause. */
import { expect, it } from "vitest";
import { liveInput, liveTextPath } from "./live-input.ts";
import { PartialJson } from "./partial-json.ts";

it.each<[string, string, unknown]>([
  [
    "Write",
    '{"file_path":"/a.ts","content":"const a',
    { kind: "file_change", path: "/a.ts", content: "const a" },
  ],
  ["Write", '{"file_pa', { kind: "file_change" }],
  ["write", '{"content":"x","filePath":"b"', { kind: "file_change", path: "b", content: "x" }],
  ["write_file", '{"file_path":"a","content":"x', { kind: "file_change", path: "a", content: "x" }],
  ["Edit", '{"file_path":"a","old_string":"x","new_', { kind: "file_change", path: "a", oldText: "x" }],
  [
    "Edit",
    '{"file_path":"a","old_string":"x","new_string":"y',
    { kind: "file_change", path: "a", oldText: "x", newText: "y" },
  ],
  [
    "MultiEdit",
    '{"file_path":"a","edits":[{"old_string":"x","new_string":"y"},{"old_string":"z',
    {
      kind: "file_change",
      path: "a",
      edits: [
        { oldText: "x", newText: "y" },
        { oldText: "z", newText: "" },
      ],
    },
  ],
  [
    "NotebookEdit",
    '{"notebook_path":"n.ipynb","new_source":"1+',
    { kind: "file_change", path: "n.ipynb", content: "1+" },
  ],
  [
    "str_replace_based_edit_tool",
    '{"command":"create","path":"p","file_text":"hi',
    { kind: "file_change", path: "p", content: "hi" },
  ],
  ["Bash", '{"command":"ls -l', { kind: "command", command: "ls -l" }],
  ["Bash", '{"description":"List","command":"ls', { kind: "command", command: "ls", description: "List" }],
  ["shell", '{"command":["bash","-lc","ls', { kind: "command", command: "bash -lc ls" }],
  ["exec_command", '{"cmd":"ls', { kind: "command", command: "ls" }],
  [
    "TodoWrite",
    '{"todos":[{"content":"Buy","status":"in_progress"},{"content":"Se',
    {
      kind: "todo",
      items: [
        { content: "Buy", status: "in_progress" },
        { content: "Se", status: "pending" },
      ],
    },
  ],
  [
    "update_plan",
    '{"plan":[{"step":"One","status":"completed"}]}',
    { kind: "todo", items: [{ content: "One", status: "completed" }] },
  ],
  ["apply_patch", '{"input":"*** Begin', { kind: "file_change", patch: "*** Begin" }],
  ["Read", '{"file_path":"a"}', undefined],
  ["Write", '"not an object', undefined],
])("[P24] %s with %s", (tool, text, expected) => {
  const reader = new PartialJson();
  reader.push(text);
  expect(liveInput(tool, reader)).toEqual(expected);
});

it("[P24] a tool that takes plain text", () => {
  expect(liveInput("apply_patch", "*** Begin Patch\n")).toEqual({
    kind: "file_change",
    patch: "*** Begin Patch\n",
  });
  expect(liveInput("other", "text")).toBeUndefined();
  expect(liveTextPath("Write")).toEqual(["content"]);
});

it.each(["constructor", "to_string", "valueOf"])("a tool named %s has no live view", (name) => {
  const reader = new PartialJson();
  reader.push('{"a":1}');
  expect(liveInput(name, reader)).toBeUndefined();
  expect(liveTextPath(name)).toBeUndefined();
});
