/**
 * The pane on the right: changes, files, session settings, the outline; and a block's details on request. In a narrow
 * window it is a sheet over the page.
 */
import type { View } from "@blockyard/kernel";
import { type ReactNode, useEffect, useLayoutEffect, useRef } from "react";
import FileTree from "../files/file-tree.tsx";
import Inspector from "../inspector/inspector.tsx";
import { capabilities } from "../state/capabilities.ts";
import { useCell } from "../state/cell.ts";
import { focusPrompt } from "../state/invitation.ts";
import { inspected } from "../state/page-state.ts";
import {
  hidePane,
  isPaneVisited,
  type PaneTab,
  showPane,
  useIsWide,
  usePaneTab,
  usePaneWidth,
} from "../state/pane.ts";
import { prefer } from "../state/preferences.ts";
import { useRoute } from "../state/route.ts";
import { useIsViewer, useSession } from "../state/session.tsx";
import { Icon } from "../ui/icons.tsx";
import { Resizer } from "../ui/resizer.tsx";
import { Tabs } from "../ui/tabs.tsx";
import { Changes } from "./changes.tsx";
import { Outline } from "./outline.tsx";
import { SessionTab } from "./session-tab.tsx";

const WIDTH = { least: 300, most: 900 };

export default function Pane(): ReactNode {
  const isWide = useIsWide();
  const { width, usual } = usePaneWidth();
  const pane = useRef<HTMLElement>(null);
  const block = useCell(inspected);
  useEffect(() => {
    // A sheet has the keys as long as it is there.
    if (!isWide) focusTab(pane.current);
  }, [isWide]);
  useVisits(pane);
  return (
    <>
      {!isWide && (
        <button type="button" className="cover" aria-label="Close the side pane" onClick={hidePane} />
      )}
      <aside
        ref={pane}
        className={isWide ? "pane" : "pane sheet"}
        aria-label={block === undefined ? "Side pane" : "Block details"}
        onKeyDown={(event) => {
          if (event.key !== "Escape" || event.defaultPrevented) return;
          event.preventDefault();
          hidePane();
        }}
      >
        {isWide && (
          <Resizer
            label="Width of the side pane"
            side="after"
            width={width}
            usual={usual}
            {...WIDTH}
            onResize={(wanted) => prefer({ paneWidth: wanted === usual ? 0 : wanted })}
          />
        )}
        <Body />
      </aside>
    </>
  );
}

/** Who comes by key or command is at the tab, and back where they were when the pane is gone. */
function useVisits(pane: { readonly current: HTMLElement | null }): void {
  const isVisited = useCell(isPaneVisited);
  useEffect(() => {
    if (!isVisited) return;
    isPaneVisited.set(false);
    // The palette gives the focus back first.
    setTimeout(() => focusTab(pane.current));
  }, [isVisited, pane]);
  useLayoutEffect(() => {
    const element = pane.current;
    return () => {
      if (element?.contains(document.activeElement)) focusPrompt();
    };
  }, [pane]);
}

function focusTab(pane: HTMLElement | null): void {
  pane?.querySelector<HTMLElement>("[role=tab][aria-selected=true]")?.focus();
}

const LABELS: Readonly<Record<PaneTab | "block", string>> = {
  changes: "Changes",
  files: "Files",
  session: "Session",
  outline: "Outline",
  block: "Block",
};

function Body(): ReactNode {
  const session = useSession();
  const { conversation } = useRoute();
  const chosen = usePaneTab();
  const block = useCell(inspected);
  const isViewer = useIsViewer();
  // To open a file is to write: it becomes a block.
  const hasFiles = (useCell(capabilities)?.tools.has("file.list") ?? false) && !isViewer;
  const view = [...session.replica.views.values()].find((known) => known.conversation === conversation);
  const tabs = [
    ...(block === undefined ? [] : (["block"] as const)),
    ...(view ? (["changes"] as const) : []),
    ...(hasFiles ? (["files"] as const) : []),
    ...(view ? (["session", "outline"] as const) : []),
  ];
  const shown = block !== undefined ? "block" : (tabs.find((tab) => tab === chosen) ?? tabs[0]);
  const close = (
    <button
      type="button"
      className="icon-button"
      title="Close (Esc)"
      aria-label={block === undefined ? "Close the side pane" : "Close the details"}
      onClick={block === undefined ? hidePane : () => inspected.set(undefined)}
    >
      <Icon name="cross" />
    </button>
  );
  if (shown === undefined) return <p className="pane-note">Open a conversation to see its changes.{close}</p>;
  return (
    <Tabs
      label="Side pane"
      tabs={tabs.map((tab) => ({ tab, label: LABELS[tab] }))}
      shown={shown}
      onChoose={(tab) => tab !== "block" && showPane(tab)}
      end={close}
    >
      <Shown tab={shown} view={view} block={block} />
    </Tabs>
  );
}

interface ShownProps {
  readonly tab: PaneTab | "block";
  readonly view: View | undefined;
  readonly block: string | undefined;
}

function Shown({ tab, view, block }: ShownProps): ReactNode {
  if (tab === "block") return block === undefined ? null : <Inspector key={block} id={block} />;
  if (tab === "files") return <FileTree />;
  if (!view) return null;
  if (tab === "changes") return <Changes key={view.sub} view={view} />;
  return tab === "session" ? <SessionTab view={view} /> : <Outline key={view.sub} view={view} />;
}
