/**
 * A guarded file's lock: why it is guarded, who may read and edit it besides the owner, and the buttons that allow it and
 * take it back. Only the owner has it.
 */
import type { ToolAnswer } from "@blockyard/client";
import { isProblem } from "@blockyard/kernel";
import { type ReactNode, useCallback, useEffect, useState } from "react";
import { notify } from "../state/page-state.ts";
import { useSession } from "../state/session.tsx";
import { Icon } from "../ui/icons.tsx";

type Answer = ToolAnswer<"file.grants">;
type Grant = Answer["grants"][number];

interface Guard {
  readonly grants: readonly Grant[];
  /** Allows the file, or takes that back; without a name: for all. */
  change(tool: "file.grant" | "file.revoke", agent: string | undefined): Promise<void>;
}

function useGuard(path: string): Guard {
  const session = useSession();
  const [grants, setGrants] = useState<readonly Grant[]>([]);
  const take = useCallback(
    (answer: Answer) => setGrants(answer.grants.filter((grant) => grant.path === path)),
    [path],
  );
  useEffect(() => {
    void session.ask("file.grants", {}).then((answer) => {
      if (!isProblem(answer)) take(answer);
    });
  }, [session, take]);
  return {
    grants,
    async change(tool, agent) {
      const answer = await session.write(tool, { path, ...(agent === undefined ? {} : { agent }) });
      if (isProblem(answer)) notify(`Couldn't change: ${answer.message}`, true);
      else take(answer);
    },
  };
}

export function Guarded({ path, reason }: { path: string; reason: string }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const { grants, change } = useGuard(path);
  const label = grants.length === 0 ? "Guarded: only you can read this" : `Guarded, open to ${named(grants)}`;
  return (
    <>
      <button
        type="button"
        className="icon-button"
        title={label}
        aria-label={label}
        aria-expanded={isOpen}
        onClick={() => setOpen((open) => !open)}
      >
        <Icon name={grants.length === 0 ? "lock" : "unlock"} />
      </button>
      {isOpen && <Grants reason={reason} grants={grants} change={change} />}
    </>
  );
}

function Grants({ reason, grants, change }: { reason: string } & Guard): ReactNode {
  const [agent, setAgent] = useState("");
  const allow = () => {
    void change("file.grant", agent.trim() === "" ? undefined : agent.trim());
    setAgent("");
  };
  return (
    <section className="grants" aria-label="Who can read and edit this file">
      <p>Guarded: {reason}. Agents and viewers can't read or edit it unless you allow it.</p>
      {grants.map((grant) => (
        <p key={grant.agent ?? ""}>
          {grant.agent ?? EVERYBODY}{" "}
          <button type="button" onClick={() => void change("file.revoke", grant.agent)}>
            Revoke
          </button>
        </p>
      ))}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          allow();
        }}
      >
        <input
          aria-label="Agent or viewer"
          placeholder={EVERYBODY}
          value={agent}
          onChange={(event) => setAgent(event.target.value)}
        />{" "}
        <button type="submit" className="primary">
          Allow
        </button>
      </form>
    </section>
  );
}

const EVERYBODY = "all agents and viewers";

function named(grants: readonly Grant[]): string {
  return grants.map(({ agent }) => agent ?? EVERYBODY).join(", ");
}
