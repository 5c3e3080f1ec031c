/**
 * The agents that can be used here: what each can do, and what it offers (models, commands). As the server reports;
 * requested when somebody opens a menu, and again when it may have changed.
 */
import type { ToolAnswer } from "@blockyard/client";
import { type ConversationId, isProblem } from "@blockyard/kernel";
import { useEffect } from "react";
import { Cell, useCell } from "../state/cell.ts";
import { type Session, useSession } from "../state/session.tsx";

type Listed = ToolAnswer<"agent.list">["agents"][number];
type Offered = ToolAnswer<"agent.offers">;

export type Mode = Listed["abilities"]["modes"][number];
type Abilities = Pick<
  Listed["abilities"],
  "modes" | "sandboxes" | "steering" | "midTurn" | "stopsTasks" | "commands" | "models"
>;

export interface AgentFacts extends Pick<Listed, "provider" | "problem"> {
  readonly abilities: Abilities;
}

export type AgentCommand = NonNullable<Offered["commands"]>[number];

type OfferedModel = NonNullable<Offered["models"]>[number];

export interface AgentModel extends OfferedModel {
  /** The one that is asked where none is chosen. */
  readonly isDefault?: boolean;
}

export interface Offers extends Pick<Offered, "mode" | "model" | "commands"> {
  readonly models?: readonly AgentModel[];
}

const agents = new Cell<readonly AgentFacts[]>([]);

export function useAgents(): readonly AgentFacts[] {
  const session = useSession();
  useEffect(() => {
    if (agents.get().length === 0) void refreshAgents(session);
  }, [session]);
  return useCell(agents);
}

/** An agent that was installed meanwhile is ready now. */
export async function refreshAgents(session: Session): Promise<void> {
  // Sent when the connection is there, which it may not be yet.
  const answer = await session.write("agent.list", {});
  if (!isProblem(answer)) agents.set(answer.agents);
}

const offered = new Cell<ReadonlyMap<string, Offers>>(new Map());
const underWay = new Set<string>();
const NOTHING: Offers = {};

/** What an agent offers in a conversation, as it was last told; nothing until it is. */
export function useOffers(provider: string, conversation: ConversationId | undefined): Offers {
  const all = useCell(offered);
  return all.get(nameOf(provider, conversation)) ?? all.get(nameOf(provider, undefined)) ?? NOTHING;
}

export async function readOffers(
  session: Session,
  provider: string,
  conversation: ConversationId | undefined,
): Promise<void> {
  const name = nameOf(provider, conversation);
  if (underWay.has(name) || !session.isOwner) return;
  underWay.add(name);
  const place = conversation === undefined ? {} : { conversation };
  const answer = await session.ask("agent.offers", { provider, ...place });
  underWay.delete(name);
  if (!isProblem(answer)) offered.change((all) => new Map(all).set(name, answer));
}

function nameOf(provider: string, conversation: ConversationId | undefined): string {
  return `${provider} ${conversation ?? ""}`;
}
