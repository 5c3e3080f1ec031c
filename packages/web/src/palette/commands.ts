/** The palette's entries: actions for the current place, every conversation, settings and views. */

import { openAsks, type View } from "@blockyard/kernel";
import { useMemo } from "react";
import { archive, forkAway, stopTurn } from "../actions/actions.ts";
import { exportConversation, exportFormats } from "../actions/export.ts";
import { shortcutsFor } from "../actions/shortcuts.ts";
import { seekAsk } from "../rows/sought.ts";
import type { ListedConversation, Listing } from "../sidebar/conversations.ts";
import { capabilities } from "../state/capabilities.ts";
import { useCell } from "../state/cell.ts";
import { setAll } from "../state/disclosure.ts";
import { focused, overlay } from "../state/page-state.ts";
import { visitPane } from "../state/pane.ts";
import { prefer, preferences } from "../state/preferences.ts";
import { go, linkTo, useRoute } from "../state/route.ts";
import { type Session, useSession } from "../state/session.tsx";
import { agentIcon, agentName } from "../ui/agent-icon.tsx";
import { copyAndTell } from "../ui/copy.tsx";
import type { IconName } from "../ui/icons.tsx";
import { keysOf } from "../ui/keys.tsx";
import { GOTO_MS, PALETTE_CLOSED_MS } from "./limits.ts";

export type CommandGroup = "Actions" | "Conversations" | "View and settings";

export interface Command {
  readonly key: string;
  readonly group: CommandGroup;
  readonly icon: IconName;
  readonly name: string;
  /** What else tells it from others. */
  readonly hint: string;
  /** The keys that do the same. */
  readonly keys?: string;
  /** Offered only when searched for. */
  readonly isStep?: true;
  readonly run: () => void;
}

type Offer = Omit<Command, "key" | "group" | "hint"> & { readonly hint?: string };

export function useCommands(listing: Listing): readonly Command[] {
  const session = useSession();
  const { conversation } = useRoute();
  const hasBlock = useCell(focused) !== undefined && conversation !== undefined;
  const chosen = useCell(preferences);
  const tools = useCell(capabilities)?.tools;
  return useMemo(() => {
    const listed = listing.state === "here" ? listing.conversations : [];
    const open = listed.find(({ id }) => id === conversation);
    const view = [...session.replica.views.values()].find((known) => known.conversation === conversation);
    const settings = [...viewCommands(chosen), ...settingCommands(session, tools ?? new Set())];
    const named = new Map<string, Command>();
    const add = (group: CommandGroup, offers: readonly Offer[]) => {
      // A command that has two keys is one command, with the first of them.
      for (const offer of offers)
        if (!named.has(offer.name))
          named.set(offer.name, { hint: "", ...offer, group, key: `command ${offer.name}` });
    };
    add("Actions", [
      ...(open && view ? verbs(session, open, view, tools ?? new Set()) : []),
      ...(session.isViewer ? [] : [{ name: "New task", icon: "plus" as const, run: () => go("/") }]),
      ...keyCommands(session, conversation !== undefined, hasBlock),
    ]);
    add("View and settings", settings);
    return [...named.values(), ...places(listed)];
  }, [session, conversation, hasBlock, listing, chosen, tools]);
}

/** The available actions for the open conversation. */
function verbs(
  session: Session,
  { id, title, isRunning, isAsking, isArchived }: ListedConversation,
  view: View,
  tools: ReadonlySet<string>,
): readonly Offer[] {
  const asked = view.record === undefined ? undefined : openAsks(view.record)[0];
  const head = view.record?.head;
  const last = head == null ? undefined : view.blocks.get(head);
  const writes: readonly Offer[] = [
    ...(isAsking && asked !== undefined
      ? [{ name: "Answer the agent's request", icon: "hand" as const, run: () => answer(asked) }]
      : []),
    ...(isRunning ? [{ name: "Stop", icon: "stop" as const, run: () => void stopTurn(session, id) }] : []),
    {
      name: "Switch agent",
      icon: "agent",
      run: () => setTimeout(chooseAgent, PALETTE_CLOSED_MS),
    },
    ...(last
      ? [
          {
            name: "Fork into a new conversation",
            icon: "fork" as const,
            run: () => void forkAway(session, last),
          },
        ]
      : []),
  ];
  const ends: readonly Offer[] = [
    {
      name: isArchived ? "Unarchive the conversation" : "Archive the conversation",
      icon: "archive",
      run: () => void archive(session, id, !isArchived),
    },
    ...(tools.has("conversation.delete") && session.isOwner
      ? [
          {
            name: "Delete the conversation…",
            icon: "trash" as const,
            run: () => overlay.set({ type: "delete", conversation: id, title: title || "Untitled" }),
          },
        ]
      : []),
  ];
  return [
    ...(session.isViewer ? [] : writes),
    { name: "Review changes", icon: "diff", run: () => visitPane("changes") },
    ...exportFormats.map(({ format, label }) => ({
      name: `Export as ${label}`,
      icon: "download" as const,
      run: () => void exportConversation(id, format),
    })),
    { name: "Copy conversation id", icon: "copy", run: () => void copyAndTell(id) },
    ...(session.isViewer ? [] : ends),
  ];
}

function chooseAgent(): void {
  document.querySelector<HTMLElement>('.composer .picker[aria-label^="Agent"]')?.click();
}

/** Goes to an open ask, and gives it the focus. */
function answer(asked: string): void {
  seekAsk(asked);
  setTimeout(() => {
    const ask = document.querySelector(`[data-asks="${CSS.escape(asked)}"]`);
    ask?.querySelector<HTMLElement>("button, input")?.focus();
  }, GOTO_MS);
}

function keyCommands(session: Session, hasConversation: boolean, hasBlock: boolean): readonly Offer[] {
  return shortcutsFor(session)
    .filter(({ key, ctrl }) => key !== "Escape" && !(ctrl && key === "k"))
    .filter(({ needs }) => needs === undefined || (needs === "block" ? hasBlock : hasConversation))
    .map((shortcut) => ({
      name: shortcut.label,
      icon: shortcut.icon ?? "command",
      keys: keysOf(shortcut),
      ...(shortcut.isStep ? { isStep: true } : {}),
      run: () => shortcut.run(session),
    }));
}

function viewCommands({
  thinking,
  tools,
  results,
  system,
  diff,
}: ReturnType<typeof preferences.get>): readonly Offer[] {
  const toggle = (isShown: boolean, what: string, change: Parameters<typeof prefer>[0]): Offer => ({
    name: `${isShown ? "Hide" : "Show"} ${what}`,
    icon: "eye",
    run: () => prefer(change),
  });
  return [
    toggle(thinking, "thinking", { thinking: !thinking }),
    toggle(tools, "tool calls", { tools: !tools }),
    toggle(results, "results", { results: !results }),
    toggle(system, "system notes", { system: !system }),
    {
      name: diff === "split" ? "Diffs in one column" : "Diffs side by side",
      icon: "panel",
      run: () => prefer({ diff: diff === "split" ? "unified" : "split" }),
    },
    { name: "Expand all", icon: "expand", run: () => setAll(true) },
    { name: "Collapse all", icon: "collapse", run: () => setAll(false) },
    { name: "Conversation outline", icon: "turns", run: () => visitPane("outline") },
    { name: "Session: model, tools, MCP servers", icon: "plug", run: () => visitPane("session") },
  ];
}

function settingCommands(session: Session, tools: ReadonlySet<string>): readonly Offer[] {
  return [
    {
      name: "Settings",
      hint: "Theme, editor, notifications",
      icon: "gear",
      run: () => overlay.set({ type: "settings" }),
    },
    { name: "Light theme", icon: "sun", run: () => prefer({ theme: "light" }) },
    { name: "Dark theme", icon: "moon", run: () => prefer({ theme: "dark" }) },
    { name: "System theme", icon: "contrast", run: () => prefer({ theme: "system" }) },
    {
      name: "Choose the editor that opens files",
      icon: "edit",
      run: () => overlay.set({ type: "editor", path: undefined, line: 1 }),
    },
    ...(tools.has("cost.report")
      ? [{ name: "Costs", icon: "chart" as const, run: () => overlay.set({ type: "costs" }) }]
      : []),
    ...(session.isOwner
      ? [
          { name: "Audit log", icon: "list" as const, run: () => overlay.set({ type: "audit" }) },
          { name: "Rules for agents", icon: "lock" as const, run: () => overlay.set({ type: "rules" }) },
        ]
      : []),
    ...(session.isViewer
      ? []
      : [{ name: "Show files", icon: "files" as const, run: () => visitPane("files") }]),
  ];
}

function places(listed: readonly ListedConversation[]): readonly Command[] {
  return listed.map(({ id, title, provider }) => ({
    key: id,
    group: "Conversations" as const,
    icon: provider === undefined ? "turns" : agentIcon(provider),
    name: title || "Untitled",
    hint: provider === undefined ? "" : agentName(provider),
    run: () => go(linkTo(id)),
  }));
}
