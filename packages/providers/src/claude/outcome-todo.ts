/**
 * The to-do list: TodoWrite gives it whole; TaskCreate, TaskUpdate and TaskList change a list that is kept here, so
 * that each result shows all of it.
 */

import type { Json, JsonObject } from "@blockyard/kernel";
import { isObject } from "../framing/json.ts";
import { MAX_TASKS } from "../limits.ts";
import { given, listOf, objectOf, textOf, wordsOf } from "../read.ts";
import { contentOf, type Outcome, plain, type Show, type ToolReport } from "./outcome.ts";
import type { TodoItem } from "./state.ts";

export const todoWriteOutcome: Show = (report) => {
  if (report.isError) return undefined;
  const todos = objectOf(report.payload).newTodos ?? report.input.todos;
  const items = listOf(todos).flatMap((value, i) => itemOf(objectOf(value), String(i + 1)));
  return listOutcome(items.map(({ id: _, ...item }) => item));
};

export const taskCreateOutcome: Show = (report) => {
  if (report.isError) return undefined;
  const task = objectOf(objectOf(report.payload).task);
  const said = contentOf(report.content).text;
  const id = idOf(task.id) ?? /^Task #(\S+) created/.exec(said)?.[1];
  const content = textOf(task.subject) ?? textOf(report.input.subject);
  if (id === undefined || content === undefined) return undefined;
  keep(
    report.todo,
    given({ id, content, status: "pending", activeForm: wordsOf(report.input.activeForm) }) as TodoItem,
  );
  return wholeList(report);
};

export const taskUpdateOutcome: Show = (report) => {
  if (report.isError) return plain({ ...report, payload: undefined });
  const payload = objectOf(report.payload);
  const said = contentOf(report.content).text;
  const id = idOf(payload.taskId) ?? idOf(report.input.taskId);
  if (id === undefined || (!isObject(report.payload) && !said.startsWith("Updated task"))) return undefined;
  const known = report.todo.get(id) ?? { id, content: `#${id}`, status: "pending" as const };
  const status = report.input.status;
  if (status === "deleted") report.todo.delete(id);
  else {
    const changed = given({
      content: wordsOf(report.input.subject),
      status: statusOf(status),
      activeForm: wordsOf(report.input.activeForm),
    });
    keep(report.todo, { ...known, ...changed } as TodoItem);
  }
  return wholeList(report);
};

export const taskListOutcome: Show = (report) => {
  if (report.isError) return undefined;
  const tasks =
    objectOf(report.payload).tasks ?? (report.payload === undefined ? spokenTasks(report) : undefined);
  if (!Array.isArray(tasks)) return undefined;
  const items = (tasks as readonly Json[]).flatMap((value) => itemOf(objectOf(value), ""));
  const before = new Map(report.todo);
  report.todo.clear();
  for (const item of items) {
    const activeForm = item.activeForm ?? before.get(item.id)?.activeForm;
    keep(report.todo, activeForm === undefined ? item : { ...item, activeForm });
  }
  return wholeList(report);
};

/** `#1 [in_progress] Add multiply [blocked by #2]` */
function spokenTasks(report: ToolReport): Json {
  const lines = contentOf(report.content).text.split("\n");
  const tasks = lines.flatMap((line) => {
    const match = /^#(\S+) \[(\w+)\] (.*?)(?: \[blocked by [^\][]*\])?$/.exec(line);
    return match === null
      ? []
      : [{ id: match[1] as string, status: match[2] as string, subject: match[3] as string }];
  });
  return tasks.length === lines.length ? tasks : null;
}

function itemOf(value: JsonObject, otherwise: string): TodoItem[] {
  const content = textOf(value.content) ?? textOf(value.subject);
  const status = statusOf(value.status);
  if (content === undefined) return [];
  const item = {
    id: idOf(value.id) ?? otherwise,
    content,
    status: status ?? "pending",
    activeForm: wordsOf(value.activeForm),
  };
  return [given(item) as TodoItem];
}

function statusOf(value: Json | undefined): TodoItem["status"] | undefined {
  return value === "pending" || value === "in_progress" || value === "completed" ? value : undefined;
}

function idOf(value: Json | undefined): string | undefined {
  return typeof value === "number" ? String(value) : wordsOf(value);
}

function keep(todo: Map<string, TodoItem>, item: TodoItem): void {
  todo.set(item.id, item);
  if (todo.size <= MAX_TASKS) return;
  for (const id of todo.keys()) {
    todo.delete(id);
    return;
  }
}

function wholeList(report: ToolReport): Outcome {
  return listOutcome([...report.todo.values()]);
}

function listOutcome(items: readonly Omit<TodoItem, "id">[]): Outcome {
  const done = items.filter((item) => item.status === "completed").length;
  const text = items
    .map((item) => `- [${item.status === "completed" ? "x" : " "}] ${item.content}`)
    .join("\n");
  return {
    blocks: [{ kind: "todo", text, metadata: { items: items.map((item) => ({ ...item })) } }],
    failed: false,
    short: `${done}/${items.length} done`,
  };
}
