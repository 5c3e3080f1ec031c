/**
 * The command palette: what can be done here and now first, then conversations, then what is set and where to look; by a few letters.
 */

import { type ReactNode, useMemo, useState } from "react";
import type { Conversations } from "../sidebar/conversations.ts";
import { useCell } from "../state/cell.ts";
import { overlay } from "../state/page-state.ts";
import { Chooser } from "../ui/chooser.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { best } from "../ui/fits.ts";
import { Icon } from "../ui/icons.tsx";
import { Keys } from "../ui/keys.tsx";
import { type Command, type CommandGroup, useCommands } from "./commands.ts";
import { SHOWN_COMMANDS } from "./limits.ts";

const GROUPS: readonly CommandGroup[] = ["Actions", "Conversations", "View and settings"];

export function Palette({ conversations }: { conversations: Conversations }): ReactNode {
  const listing = useCell(conversations.listing);
  const commands = useCommands(listing);
  const [query, setQuery] = useState("");
  const shown = useMemo(
    () => inGroups(best(commands, wordsOf, query).slice(0, SHOWN_COMMANDS), query),
    [commands, query],
  );
  return (
    <Dialog label="Commands" className="palette">
      <Chooser
        label="Commands"
        placeholder="Type a command or a conversation"
        query={query}
        onQuery={setQuery}
        items={shown}
        keyOf={(command) => command.key}
        groupOf={query.trim() === "" ? (command) => command.group : undefined}
        onChoose={(command) => {
          overlay.set(undefined);
          command.run();
        }}
        render={(command) => (
          <>
            <span className="chooser-name">
              <Icon name={command.icon} /> {command.name}
            </span>
            {command.keys !== undefined && <Keys keys={command.keys} />}
            {command.hint !== "" && <span className="dim">{command.hint}</span>}
          </>
        )}
        empty="No matches"
      />
    </Dialog>
  );
}

/** What a command is found by. A conversation's hint is its agent, which many have. */
function wordsOf({ name, hint, group }: Command): string {
  return group === "Conversations" || hint === "" ? name : `${name}: ${hint}`;
}

/** Without words they are in their groups; with words the best come first. */
function inGroups(commands: readonly Command[], query: string): readonly Command[] {
  if (query.trim() !== "") return commands;
  return GROUPS.flatMap((group) => commands.filter((command) => command.group === group && !command.isStep));
}
