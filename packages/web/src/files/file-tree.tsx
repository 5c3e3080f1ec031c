/**
 * The workspace's files in the side pane: a tree that is read folder by folder. Arrow keys walk it, right and left open
 * and close folders, Enter opens a file.
 */
import type { View } from "@blockyard/kernel";
import {
  createContext,
  type KeyboardEvent,
  type ReactNode,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { useCell, useCellPart } from "../state/cell.ts";
import { isOpen, setOpen, useOpen } from "../state/disclosure.ts";
import { go, linkToFile, useRoute } from "../state/route.ts";
import { useSession, useViewPart } from "../state/session.tsx";
import { Icon } from "../ui/icons.tsx";
import { type Entry, type Folder, folders, listFolder, marksIn, workspaceView } from "./workspace.ts";

export default function FileTree(): ReactNode {
  const session = useSession();
  const tree = useRef<HTMLDivElement>(null);
  const [focusedPath, setFocused] = useState<string | undefined>(undefined);
  const top = useCell(folders).get(".");
  const hasItems = top?.state === "here" && top.entries.length > 0;
  const isConnected = useCellPart(session.link.state, ({ state }) => state === "open");
  useEffect(() => {
    if (isConnected) void listFolder(session, ".");
  }, [session, isConnected]);
  const onKey = (event: KeyboardEvent) => {
    const items = [...(tree.current?.querySelectorAll<HTMLElement>("[role=treeitem]") ?? [])];
    const at = items.indexOf(document.activeElement as HTMLElement);
    const to = target(event.key, items, at);
    if (to === undefined) return;
    event.preventDefault();
    if (to === "toggle") items[at]?.click();
    else items[to]?.focus();
  };
  return (
    <div className="file-tree">
      {/* biome-ignore lint/a11y/noStaticElementInteractions: its role is given */}
      {/* biome-ignore lint/a11y/useAriaPropsSupportedByRole: both roles have it */}
      <div
        ref={tree}
        // A tree without items is none.
        role={hasItems ? "tree" : "group"}
        tabIndex={-1}
        aria-label="Workspace files"
        onKeyDown={onKey}
        onFocus={(event) => setFocused(event.target.dataset["path"])}
      >
        <Marks>
          <Level path="." depth={1} focused={focusedPath} />
        </Marks>
      </div>
      <button type="button" className="quiet-button" onClick={() => refresh(session)}>
        <Icon name="redo" /> Refresh
      </button>
    </div>
  );
}

/** The target of a key: an item, or opening and closing the one that has the focus. */
function target(key: string, items: readonly HTMLElement[], at: number): number | "toggle" | undefined {
  const item = items[at];
  const expanded = item?.getAttribute("aria-expanded");
  const level = Number(item?.getAttribute("aria-level"));
  switch (key) {
    case "ArrowDown":
      return Math.min(items.length - 1, at + 1);
    case "ArrowUp":
      return Math.max(0, at - 1);
    case "Home":
      return 0;
    case "End":
      return items.length - 1;
    case "ArrowRight":
      return expanded === "false" ? "toggle" : expanded === "true" ? at + 1 : undefined;
    case "ArrowLeft":
      if (expanded === "true") return "toggle";
      return items.findLastIndex((each, i) => i < at && Number(each.getAttribute("aria-level")) < level);
    case "Enter":
    case " ":
      return "toggle";
    default:
      return undefined;
  }
}

function refresh(session: ReturnType<typeof useSession>): void {
  for (const path of folders.get().keys()) void listFolder(session, path);
}

interface LevelProps {
  readonly path: string;
  readonly depth: number;
  readonly focused: string | undefined;
}

function Level({ path, depth, focused }: LevelProps): ReactNode {
  const folder: Folder = useCell(folders).get(path) ?? { state: "loading" };
  if (folder.state === "loading") return <p className="pane-note">Loading…</p>;
  if (folder.state === "failed") return <p className="pane-note">{folder.message}</p>;
  const { entries, more } = folder;
  return (
    <>
      {entries.map((entry, i) => (
        <Item
          key={entry.path}
          entry={entry}
          depth={depth}
          focused={focused}
          isFirst={depth === 1 && i === 0}
        />
      ))}
      {entries.length === 0 && <p className="pane-note">Empty folder</p>}
      {more && <p className="pane-note">Only the first entries are shown</p>}
    </>
  );
}

interface ItemProps {
  readonly entry: Entry;
  readonly depth: number;
  readonly focused: string | undefined;
  readonly isFirst: boolean;
}

function Item({ entry, depth, focused, isFirst }: ItemProps): ReactNode {
  const session = useSession();
  const { path, name, type } = entry;
  const { file } = useRoute();
  const [isExpanded] = useOpen(nameOf(path), false);
  const isFolder = type === "folder";
  const isTab = focused === undefined ? isFirst : focused === path;
  const isCurrent = file === path;
  const choose = () => {
    if (!isFolder) {
      return go(linkToFile(path));
    }
    const willOpen = !isOpen(nameOf(path), false);
    if (willOpen) void listFolder(session, path);
    setOpen(nameOf(path), willOpen);
  };
  useEffect(() => {
    if (isFolder && isExpanded && !folders.get().has(path)) void listFolder(session, path);
  }, [session, isFolder, isExpanded, path]);
  return (
    <>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the tree around it has the keys */}
      <div
        role="treeitem"
        className={isCurrent ? "tree-item current" : "tree-item"}
        data-path={path}
        data-depth={Math.min(depth, 12)}
        aria-level={depth}
        aria-expanded={isFolder ? isExpanded : undefined}
        aria-selected={isCurrent}
        tabIndex={isTab ? 0 : -1}
        onClick={choose}
      >
        {isFolder ? <Icon name="chevron" className={isExpanded ? "turned" : ""} /> : <Icon name="file" />}
        <span className="tree-name">{name}</span>
        <Mark path={path} />
      </div>
      {isFolder && isExpanded && <Level path={path} depth={depth + 1} focused={focused} />}
    </>
  );
}

function Mark({ path }: { path: string }): ReactNode {
  const marks = useContext(MarksContext);
  if (marks.has(`!${path}`))
    return <span className="mark bad" role="img" aria-label="conflicts with the file on disk" />;
  return marks.has(`*${path}`) ? <span className="mark" role="img" aria-label="not saved yet" /> : null;
}

const NO_MARKS: ReadonlySet<string> = new Set();
const MarksContext = createContext(NO_MARKS);

/** Unsaved and conflicting files, found once for the whole tree. */
function Marks({ children }: { children: ReactNode }): ReactNode {
  const view = useCell(workspaceView);
  return view ? <LiveMarks view={view}>{children}</LiveMarks> : children;
}

function LiveMarks({ view, children }: { view: View; children: ReactNode }): ReactNode {
  const marks = useViewPart(view, marksIn);
  const lines = useMemo(() => new Set(marks.split("\n")), [marks]);
  return <MarksContext.Provider value={lines}>{children}</MarksContext.Provider>;
}

/** Its key in the set of open and closed parts. */
function nameOf(path: string): string {
  return `folder:${path}`;
}
