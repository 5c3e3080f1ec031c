/**
 * The command palette: every command that can do something here, and every conversation, by a few letters.
 */
import { type ReactNode, useMemo, useState } from "react";
import { archive } from "../actions/actions.ts";
import { shortcutsFor } from "../actions/shortcuts.ts";
import type { Conversations } from "../sidebar/conversations.ts";
import { useCell } from "../state/cell.ts";
import { setAll } from "../state/disclosure.ts";
import { focused, isSidebarOpen, overlay, sidebarTab } from "../state/page-state.ts";
import { prefer, preferences } from "../state/preferences.ts";
import { go, linkTo, useRoute } from "../state/route.ts";
import { useSession } from "../state/session.tsx";
import { Chooser } from "../ui/chooser.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { best } from "../ui/fits.ts";

const SHOWN = 60;

interface Command {
  readonly key: string;
  readonly name: string;
  readonly hint: string;
  readonly run: () => void;
}

export function Palette({ conversations }: { conversations: Conversations }): ReactNode {
  const commands = useCommands(conversations);
  const [query, setQuery] = useState("");
  const shown = useMemo(() => best(commands, ({ name }) => name, query).slice(0, SHOWN), [commands, query]);
  return (
    <Dialog label="Commands">
      <Chooser
        label="Commands"
        placeholder="Type a command or a conversation"
        query={query}
        onQuery={setQuery}
        items={shown}
        keyOf={(command) => command.key}
        onChoose={(command) => {
          overlay.set(undefined);
          command.run();
        }}
        render={(command) => (
          <>
            <span>{command.name}</span>
            <span className="dim">{command.hint}</span>
          </>
        )}
        empty="Nothing with these letters"
      />
    </Dialog>
  );
}

function useCommands(conversations: Conversations): readonly Command[] {
  const session = useSession();
  const { conversation } = useRoute();
  const hasBlock = useCell(focused) !== undefined && conversation !== undefined;
  const listing = useCell(conversations.listing);
  const { thinking, tools, results, system, diff } = useCell(preferences);
  return useMemo(() => {
    const view: readonly Omit<Command, "key">[] = [
      {
        name: `${thinking ? "Hide" : "Show"} thinking`,
        hint: "view",
        run: () => prefer({ thinking: !thinking }),
      },
      { name: `${tools ? "Hide" : "Show"} tool calls`, hint: "view", run: () => prefer({ tools: !tools }) },
      {
        name: `${results ? "Hide" : "Show"} results`,
        hint: "view",
        run: () => prefer({ results: !results }),
      },
      {
        name: `${system ? "Hide" : "Show"} system notes`,
        hint: "view",
        run: () => prefer({ system: !system }),
      },
      {
        name: diff === "split" ? "Diffs in one column" : "Diffs side by side",
        hint: "view",
        run: () => prefer({ diff: diff === "split" ? "unified" : "split" }),
      },
      { name: "Open all", hint: "view", run: () => setAll(true) },
      { name: "Close all", hint: "view", run: () => setAll(false) },
      { name: "Light theme", hint: "theme", run: () => prefer({ theme: "light" }) },
      { name: "Dark theme", hint: "theme", run: () => prefer({ theme: "dark" }) },
      { name: "Theme of the system", hint: "theme", run: () => prefer({ theme: "system" }) },
      {
        name: "Choose the editor that opens files",
        hint: "files",
        run: () => overlay.set({ type: "editor", path: undefined, line: 1 }),
      },
      ...(session.isOwner
        ? [{ name: "Audit log", hint: "access", run: () => overlay.set({ type: "audit" }) }]
        : []),
      ...(session.isViewer
        ? []
        : [
            { name: "Show the files", hint: "files", run: () => showFiles() },
            { name: "New conversation", hint: "go", run: () => go("/") },
          ]),
      ...(conversation === undefined || session.isViewer
        ? []
        : [
            {
              name: "Archive the conversation",
              hint: "conversation",
              run: () => void archive(session, conversation, true),
            },
          ]),
    ];
    const keys = shortcutsFor(session)
      .filter(({ key, ctrl }) => key !== "Escape" && !(ctrl && key === "k"))
      .filter(
        ({ needs }) => needs === undefined || (needs === "block" ? hasBlock : conversation !== undefined),
      )
      .map((shortcut) => ({
        name: shortcut.label,
        hint: `${shortcut.ctrl ? "ctrl " : ""}${shortcut.key}`,
        run: () => shortcut.run(session),
      }));
    const named = new Map<string, Omit<Command, "key">>();
    // A command that has two keys is one command, with the first of them.
    for (const command of [...keys, ...view]) if (!named.has(command.name)) named.set(command.name, command);
    const places = listing.state !== "here" ? [] : listing.conversations;
    return [
      ...[...named].map(([name, command]) => ({ ...command, key: `command ${name}` })),
      ...places.map(({ id, title, provider }) => ({
        key: id,
        name: title || "Untitled",
        hint: provider ?? "conversation",
        run: () => go(linkTo(id)),
      })),
    ];
  }, [session, conversation, hasBlock, listing, thinking, tools, results, system, diff]);
}

function showFiles(): void {
  sidebarTab.set("files");
  isSidebarOpen.set(true);
}
