/**
 * The page: conversations on the left, the open one in the middle, a block's details on the right when asked for.
 */
import { lazy, type ReactNode, Suspense } from "react";
import { useCell } from "./cell.ts";
import { ConnectionNote } from "./connection-note.tsx";
import { ConversationPane } from "./conversation/conversation.tsx";
import { Home } from "./home.tsx";
import { inspected, isSidebarOpen, notices, overlay } from "./page-state.ts";
import { useRoute } from "./route.ts";
import { useShortcuts } from "./shortcuts.ts";
import type { Conversations } from "./sidebar/conversations.ts";
import { Sidebar } from "./sidebar/sidebar.tsx";

const FilePane = lazy(() => import("./files/file-pane.tsx"));
const Inspector = lazy(() => import("./inspector/inspector.tsx"));
const Overlays = lazy(() => import("./palette/overlays.tsx"));

export function App({ conversations }: { conversations: Conversations }): ReactNode {
  const { conversation, block, file } = useRoute();
  const inspectedBlock = useCell(inspected);
  const isCovered = useCell(isSidebarOpen);
  const shown = useCell(overlay);
  useShortcuts();
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
        <Suspense fallback={<main className="blank">Opening…</main>}>
          <FilePane key={file} path={file} />
        </Suspense>
      ) : conversation === undefined ? (
        <Home conversations={conversations} />
      ) : (
        <ConversationPane key={conversation} conversation={conversation} block={block} />
      )}
      <Suspense fallback={null}>
        {inspectedBlock !== undefined && <Inspector key={inspectedBlock} id={inspectedBlock} />}
        {shown !== undefined && <Overlays shown={shown} conversations={conversations} />}
      </Suspense>
      <ConnectionNote />
      <Notices />
    </div>
  );
}

function Notices(): ReactNode {
  const shown = useCell(notices);
  return (
    <div className="notices" role="status">
      {shown.map(({ id, text, isBad }) => (
        <div key={id} className={isBad ? "note bad" : "note"}>
          {text}
        </div>
      ))}
    </div>
  );
}
