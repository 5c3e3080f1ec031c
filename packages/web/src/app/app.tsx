/**
 * The page: conversations on the left, the open one in the middle, a block's details on the right when asked for.
 */
import { type ReactNode, useEffect } from "react";
import { useShortcuts } from "../actions/shortcuts.ts";
import { ConversationPane } from "../conversation/conversation.tsx";
import type { Conversations } from "../sidebar/conversations.ts";
import { Sidebar } from "../sidebar/sidebar.tsx";
import { useCell } from "../state/cell.ts";
import { inspected, isSidebarOpen, notices, notify, overlay } from "../state/page-state.ts";
import { useRoute } from "../state/route.ts";
import { useSession } from "../state/session.tsx";
import { later, MISSING } from "../ui/later.tsx";
import { Message } from "../ui/message.tsx";
import { ConnectionNote } from "./connection-note.tsx";
import { Home } from "./home.tsx";
import { usePageTitle } from "./page-title.ts";

const FilePane = later(() => import("../files/file-pane.tsx"));
const Inspector = later(() => import("../inspector/inspector.tsx"));
const Overlays = later(() => import("./overlays.tsx"));

/** When what is first seen has been drawn. What is typed behind a key must not get lost while its dialog loads. */
const PREPARE_MS = 1_000;

export function App({ conversations }: { conversations: Conversations }): ReactNode {
  const route = useRoute();
  const { conversation, block, file } = route;
  const inspectedBlock = useCell(inspected);
  const isCovered = useCell(isSidebarOpen);
  const shown = useCell(overlay);
  const { link } = useSession();
  useShortcuts();
  usePageTitle(conversations, route);
  useEffect(() => {
    const timer = setTimeout(() => {
      if (link.state.get().state === "open") for (const part of [Overlays, Inspector]) part.prepare();
    }, PREPARE_MS);
    return () => clearTimeout(timer);
  }, [link]);
  return (
    <div className={inspectedBlock === undefined ? "page" : "page with-inspector"}>
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
        <ConversationPane key={conversation} conversation={conversation} block={block} />
      )}
      {inspectedBlock !== undefined && (
        <Inspector key={inspectedBlock} id={inspectedBlock} onMissing={leaveInspector} />
      )}
      {shown !== undefined && (
        <Overlays shown={shown} conversations={conversations} onMissing={leaveOverlay} />
      )}
      <ConnectionNote />
      <Notices />
    </div>
  );
}

function leaveInspector(): void {
  inspected.set(undefined);
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
      {shown.map(({ id, text, isBad }) => (
        <div key={id} className={isBad ? "note bad" : "note"}>
          <Message text={text} />
        </div>
      ))}
    </div>
  );
}
