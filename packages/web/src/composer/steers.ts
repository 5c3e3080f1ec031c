/**
 * Which agents take messages while they work: as the server says, asked once.
 */
import { isProblem, type Json } from "@blockyard/kernel";
import { useEffect, useState } from "react";
import { useSession } from "../state/session.tsx";

let known: Promise<ReadonlySet<string>> | undefined;

export function useSteers(provider: string): boolean {
  const session = useSession();
  const [steered, setSteered] = useState<ReadonlySet<string>>(new Set());
  useEffect(() => {
    known ??= session.write("agent.list", {}).then((answer) => {
      if (isProblem(answer)) known = undefined; // asked again when somebody looks again
      return isProblem(answer) ? new Set<string>() : steeredIn(answer);
    });
    let isGone = false;
    void known.then((found) => isGone || setSteered(found));
    return () => {
      isGone = true;
    };
  }, [session]);
  return steered.has(provider);
}

function steeredIn(answer: Json): ReadonlySet<string> {
  const { agents } = answer as { agents: { provider: string; abilities: { steering: string } }[] };
  return new Set(
    agents.filter(({ abilities }) => abilities.steering === "step").map((each) => each.provider),
  );
}
