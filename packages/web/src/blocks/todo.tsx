/**
 * A to-do list, ticking off as the agent goes: the first of its turn shows the latest.
 */
import { metadataOf, todoLine } from "@blockyard/kernel";
import type { ReactNode } from "react";
import { useBlock } from "../state/session.tsx";
import { Icon } from "../ui/icons.tsx";
import { breakable } from "../ui/long-words.tsx";
import { Collapse } from "./collapse.tsx";
import { useFirstEntries } from "./first-entries.tsx";
import { useLivingTodo } from "./form.ts";
import type { RendererProps } from "./renderer.ts";

interface Item {
  readonly content: string;
  readonly status: "pending" | "in_progress" | "completed";
  readonly activeForm?: string | undefined;
}

const ICONS = { pending: "circle", in_progress: "circleDot", completed: "circleCheck" } as const;
const WORDS = { pending: "to do", in_progress: "in progress", completed: "done" } as const;

export function TodoBlock({ block }: RendererProps): ReactNode {
  const latest = useBlock(useLivingTodo() ?? block.id);
  const { items } = metadataOf(latest?.kind === "todo" ? latest : block, "todo");
  return (
    <div className="result todo-result">
      <Collapse block={block} lines={items.length} chars={0} source={items.map(todoLine)}>
        {() => <TodoList items={items} />}
      </Collapse>
    </div>
  );
}

export function TodoList({ items }: { items: readonly Item[] }): ReactNode {
  const { first, more } = useFirstEntries(items);
  return (
    <ul className="todo">
      {first.map((item, i) => (
        <li key={i} className={`todo-${item.status}`}>
          <Icon name={ICONS[item.status]} />
          <span className="sr-only">{WORDS[item.status]}: </span>
          <span>
            {breakable(item.status === "in_progress" ? (item.activeForm ?? item.content) : item.content)}
          </span>
        </li>
      ))}
      {more && <li>{more}</li>}
    </ul>
  );
}
