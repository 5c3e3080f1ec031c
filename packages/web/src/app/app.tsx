/**
 * The page: conversations on the left, the open one in the middle, the side pane on the right when asked for.
 */

import { type CSSProperties, type ReactNode, useEffect } from "react";
import { useShortcuts } from "../actions/shortcuts.ts";
import { Editor } from "../conversation/block-row.tsx";
import { ConversationPane } from "../conversation/conversation.tsx";
import type { Conversations } from "../sidebar/conversations.ts";
import { Sidebar } from "../sidebar/sidebar.tsx";
import { useCell, useCellPart } from "../state/cell.ts";
import {
  dismiss,
  editing,
  isSidebarOpen,
  leavePlace,
  notices,
  notify,
  overlay,
} from "../state/page-state.ts";
import { hidePane, putSheetAway, useIsPaneShown, usePaneWidth } from "../state/pane.ts";
import { preferences } from "../state/preferences.ts";
import { useRoute } from "../state/route.ts";
import { useSession } from "../state/session.tsx";
import { later, MISSING } from "../ui/later.tsx";
import { Message } from "../ui/message.tsx";
import { ConnectionNote } from "./connection-note.tsx";
import { Home } from "./home.tsx";
import { PREPARE_MS } from "./limits.ts";
import { usePageTitle } from "./page-title.ts";

const FilePane = later(() => import("../files/file-pane.tsx"));
const Pane = later(() => import("../pane/pane.tsx"));
const Overlays = later(() => import("./overlays.tsx"));

export function App({ conversations }: { conversations: Conversations }): ReactNode {
  const route = useRoute();
  const { conversation, block, file } = route;
  const isCovered = useCell(isSidebarOpen);
  const isPaneShown = useIsPaneShown();
  const shown = useCell(overlay);
  const isEditing = useCellPart(editing, (now) => now !== undefined);
  const { sidebar, sidebarWidth } = useCell(preferences);
  const pane = usePaneWidth();
  const { link } = useSession();
  const isDeleted = useCellPart(conversations.deleted, (ids) => ids.has(conversation ?? ""));
  useShortcuts();
  usePageTitle(conversations, route);
  useEffect(() => {
    const timer = setTimeout(() => {
      if (link.state.get().state === "open") for (const part of [Overlays, Pane, Editor]) part.prepare();
    }, PREPARE_MS);
    return () => clearTimeout(timer);
  }, [link]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: whenever the page goes elsewhere
  useEffect(() => {
    putSheetAway();
    return leavePlace;
  }, [conversation, file]);
  const widths = { "--sidebar": `${sidebarWidth}px`, "--pane": `${pane.width}px` } as CSSProperties;
  const names = [
    "page",
    ...(sidebar ? [] : ["no-sidebar"]),
    ...(isPaneShown ? ["with-pane"] : []),
    ...(isEditing ? ["editing"] : []),
  ];
  return (
    <div className={names.join(" ")} style={widths}>
      <Sidebar conversations={conversations} />
      {isCovered && (
        <button
          type="button"
          className="cover"
          aria-label="Close the list"
          onClick={() => isSidebarOpen.set(false)}
        />
      )}
      {file !== undefined ? (
        <FilePane key={file} path={file} meanwhile={<main className="blank">Opening…</main>} />
      ) : conversation === undefined ? (
        <Home conversations={conversations} />
      ) : (
        <ConversationPane key={conversation} {...{ conversation, block, isDeleted }} />
      )}
      {isPaneShown && <Pane onMissing={leavePane} meanwhile={<aside className="pane" />} />}
      {shown !== undefined && (
        <Overlays shown={shown} conversations={conversations} onMissing={leaveOverlay} />
      )}
      <ConnectionNote />
      <Notices />
    </div>
  );
}

function leavePane(): void {
  hidePane();
  notify(MISSING, true);
}

function leaveOverlay(): void {
  overlay.set(undefined);
  notify(MISSING, true);
}

function Notices(): ReactNode {
  const shown = useCell(notices);
  return (
    <div className="notices" role="status">
      {shown.map(({ id, text, isBad, action }) => (
        <div key={id} className={isBad ? "note bad" : "note"}>
          <Message text={text} />
          {action && (
            <button
              type="button"
              onClick={() => {
                dismiss(id);
                action.run();
              }}
            >
              {action.label}
            </button>
          )}
        </div>
      ))}
    </div>
  );
}
