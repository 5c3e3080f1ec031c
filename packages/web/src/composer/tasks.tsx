/**
 * What the agent runs in the background, above the field, in its turn and between turns: each can be stopped. The server is asked when
 * something has happened in the conversation, at most once a second, and every few seconds while something runs; the agent says it
 * without asking its model.
 */

import { type ConversationId, isProblem, type View } from "@blockyard/kernel";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { refused } from "../actions/actions.ts";
import { takes } from "../state/capabilities.ts";
import { useSession, useViewPart } from "../state/session.tsx";
import { Icon } from "../ui/icons.tsx";
import { TASK_CHARS, TASKS_PAUSE_MS, TASKS_QUIET_MS } from "./limits.ts";

interface Task {
  readonly id: string;
  readonly description: string;
}

interface TasksProps {
  readonly conversation: ConversationId;
  readonly view: View;
  /** A turn runs. */
  readonly isRunning: boolean;
}

export function Tasks({ conversation, view, isRunning }: TasksProps): ReactNode {
  const session = useSession();
  const { tasks, look } = useTasks(conversation, view, isRunning);
  const stop = async (task: Task) => {
    const answer = await session.write("agent.change", { conversation, stop_task: task.id });
    if (isProblem(answer)) refused("Couldn't stop", answer);
    look();
  };
  if (tasks.length === 0) return null;
  return (
    <ul className="queue" aria-label="Background tasks">
      {tasks.map((task) => (
        <li key={task.id}>
          <span className="spinner" aria-hidden="true" />
          <span className="queue-text" title={task.description.slice(0, TASK_CHARS)}>
            {task.description.slice(0, TASK_CHARS)}
          </span>
          <span className="dim" title={isRunning ? undefined : LIVES_ON}>
            In the background
          </span>
          <button type="button" className="quiet-button" onClick={() => void stop(task)}>
            <Icon name="stop" /> Stop task
          </button>
        </li>
      ))}
    </ul>
  );
}

const LIVES_ON = "Runs until you stop it, at most an hour after the agent's last turn";

function useTasks(conversation: ConversationId, view: View, isRunning: boolean) {
  const session = useSession();
  const seq = useViewPart(view, ({ record }) => record?.seq ?? 0);
  const [tasks, setTasks] = useState<readonly Task[]>([]);
  const [looks, setLooks] = useState(0);
  const lookedAt = useRef(0);
  const isLively = isRunning || tasks.length > 0;
  useEffect(() => {
    if (!isLively) return;
    const timer = setInterval(() => setLooks((count) => count + 1), TASKS_QUIET_MS);
    return () => clearInterval(timer);
  }, [isLively]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: whenever something has happened, or somebody wants to know
  useEffect(() => {
    if (!session.isOwner || !takes("agent.offers", "only")) return;
    const timer = setTimeout(
      async () => {
        lookedAt.current = Date.now();
        const answer = await session.ask("agent.offers", { conversation, only: "tasks" });
        // Also where something has happened meanwhile: in a lively turn that is always so.
        if (!isProblem(answer)) setTasks(answer.tasks ?? []);
      },
      Math.max(0, lookedAt.current + TASKS_PAUSE_MS - Date.now()),
    );
    return () => clearTimeout(timer);
  }, [session, conversation, seq, looks]);
  return { tasks, look: () => setLooks((count) => count + 1) };
}
