/**
 * The agent's plan: one to-do list per turn. Each `plan` replaces the list; entries have no ids and are matched by their
 * position. A call of the agent's own to-do tool has the same list: then the plan adds nothing.
 */

import type { Json, JsonObject } from "@blockyard/kernel";
import { checklist, type TodoItem, todoStatus } from "../outcome.ts";
import { given, listOf, objectOf, textOf } from "../read.ts";
import { nextKey, type Out, type Session, type State } from "./state.ts";
import { closeText } from "./text.ts";
import { currentTurn } from "./turn-state.ts";

export function showPlan(state: State, out: Out, session: Session, entries: readonly Json[]): void {
  if ([...session.calls.values()].some(({ input }) => todosIn(input) !== undefined)) return;
  const items = entries.map((entry) => todoItem(objectOf(entry)));
  const turn = session.replay === undefined ? currentTurn(state, out, session) : undefined;
  if (turn !== undefined) turn.isEmpty = false;
  const metadata = { items: items.map((item) => ({ ...item })) };
  session.todoItems = metadata.items;
  if (session.todo !== undefined) {
    out.push({ type: "block-meta", key: session.todo, metadata });
    return;
  }
  closeText(out, session);
  session.todo = nextKey(state, session, "plan");
  const place = given({ parent: session.parent });
  out.push({
    type: "block-start",
    key: session.todo,
    ...place,
    kind: "todo",
    role: "model",
    metadata,
    text: checklist(items),
  });
}

export function closeTodo(out: Out, session: Session): void {
  if (session.todo === undefined) return;
  const items = listOf(session.todoItems).map((item) => todoItem(objectOf(item)));
  out.push({ type: "block-end", key: session.todo, status: "done", text: checklist(items) });
  session.todo = undefined;
}

/** The list in a to-do tool's input. */
export function todosIn(input: JsonObject | undefined): readonly TodoItem[] | undefined {
  const list = input?.["todos"];
  if (!Array.isArray(list)) return undefined;
  return listOf(list).map((item) => todoItem(objectOf(item)));
}

function todoItem(item: JsonObject): TodoItem {
  const status = item.status === "done" ? "completed" : item.status;
  return {
    content: textOf(item.content) ?? textOf(item.title) ?? "",
    status: todoStatus(status),
  };
}
