/**
 * The to-do list: TodoWrite gives it whole; TaskCreate, TaskUpdate and TaskList change a list that is kept here, so
 * that each result shows all of it.
 */

import type { Json, JsonObject } from "@blockyard/kernel";
import { isObject } from "../framing/json.ts";
import { given, listOf, objectOf, textOf, wordsOf } from "../read.ts";
import { contentOf, type Outcome, plain, type Show, type Told } from "./outcome.ts";
import type { TodoItem } from "./state.ts";

/** More tasks than anybody has; a list that grows over it is cut at its beginning. */
const MOST_TASKS = 1_000;

export const todoWriteOutcome: Show = (told) => {
  if (told.isError) return undefined;
  const todos = objectOf(told.payload).newTodos ?? told.input.todos;
  const items = listOf(todos).flatMap((value, i) => itemOf(objectOf(value), String(i + 1)));
  return listOutcome(items.map(({ id: _, ...item }) => item));
};

export const taskCreateOutcome: Show = (told) => {
  if (told.isError) return undefined;
  const task = objectOf(objectOf(told.payload).task);
  const said = contentOf(told.content).text;
  const id = idOf(task.id) ?? /^Task #(\S+) created/.exec(said)?.[1];
  const content = textOf(task.subject) ?? textOf(told.input.subject);
  if (id === undefined || content === undefined) return undefined;
  keep(
    told.todo,
    given({ id, content, status: "pending", activeForm: wordsOf(told.input.activeForm) }) as TodoItem,
  );
  return wholeList(told);
};

export const taskUpdateOutcome: Show = (told) => {
  if (told.isError) return undefined;
  const payload = objectOf(told.payload);
  const said = contentOf(told.content).text;
  if (payload.success === false) return { ...plain({ ...told, isError: true, payload: undefined }) };
  const id = idOf(payload.taskId) ?? idOf(told.input.taskId);
  if (id === undefined || (!isObject(told.payload) && !said.startsWith("Updated task"))) return undefined;
  const known = told.todo.get(id) ?? { id, content: `#${id}`, status: "pending" as const };
  const status = told.input.status;
  if (status === "deleted") told.todo.delete(id);
  else {
    const changed = given({
      content: wordsOf(told.input.subject),
      status: statusOf(status),
      activeForm: wordsOf(told.input.activeForm),
    });
    keep(told.todo, { ...known, ...changed } as TodoItem);
  }
  return wholeList(told);
};

export const taskListOutcome: Show = (told) => {
  if (told.isError) return undefined;
  const tasks = objectOf(told.payload).tasks ?? (told.payload === undefined ? spokenTasks(told) : undefined);
  if (!Array.isArray(tasks)) return undefined;
  const items = (tasks as readonly Json[]).flatMap((value) => itemOf(objectOf(value), ""));
  const before = new Map(told.todo);
  told.todo.clear();
  for (const item of items) {
    const activeForm = item.activeForm ?? before.get(item.id)?.activeForm;
    keep(told.todo, activeForm === undefined ? item : { ...item, activeForm });
  }
  return wholeList(told);
};

/** `#1 [in_progress] Add multiply [blocked by #2]` */
function spokenTasks(told: Told): Json {
  const lines = contentOf(told.content).text.split("\n");
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
  if (todo.size <= MOST_TASKS) return;
  for (const id of todo.keys()) {
    todo.delete(id);
    return;
  }
}

function wholeList(told: Told): Outcome {
  return listOutcome([...told.todo.values()]);
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
