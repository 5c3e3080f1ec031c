/** One conversation: its head (title, totals, toolbar), its blocks, its composer. */
import { askOf, type Block, type BlockId, type ConversationId, type View } from "@blockyard/kernel";
import { type ReactNode, useEffect, useMemo, useSyncExternalStore } from "react";
import { FolderProvider } from "../blocks/folder.ts";
import { Composer } from "../composer/composer.tsx";
import { lateAsks } from "../rows/late-asks.ts";
import { askingIn, isLeftOver, makeRows, type Row } from "../rows/rows.ts";
import { headOf, treeOf } from "../rows/view-tree.ts";
import { useCell } from "../state/cell.ts";
import { disclosureVersion, enter, isOpen, listenDisclosure } from "../state/disclosure.ts";
import { editing, heads, isFinding } from "../state/page-state.ts";
import { preferences } from "../state/preferences.ts";
import { go } from "../state/route.ts";
import {
  useOrder,
  useRecord,
  useSession,
  useViewPart,
  useViewState,
  ViewProvider,
} from "../state/session.tsx";
import { SidebarToggle } from "../ui/sidebar-toggle.tsx";
import { Announcer } from "./announcer.tsx";
import { Find } from "./find.tsx";
import { Head } from "./head.tsx";
import { BlockList } from "./list.tsx";
import { whoSpeaks } from "./speaker-row.tsx";

interface ConversationProps {
  readonly conversation: ConversationId;
  readonly block: BlockId | undefined;
}

/** One that is deleted while it is open is released, and opened again if it comes back. */
export function ConversationPane({
  isDeleted,
  ...props
}: ConversationProps & { readonly isDeleted: boolean }): ReactNode {
  if (!isDeleted) return <Opened {...props} />;
  return <Missing words={DELETED} />;
}

/** It has no name, and no actions. */
function Missing({ words }: { words: string }): ReactNode {
  return (
    <main className="conversation" aria-label="Conversation">
      <header className="head">
        <SidebarToggle />
      </header>
      <div className="blank">
        <h1>{words}</h1>
        <a
          href="/"
          className="home-link"
          onClick={(event) => {
            if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
            event.preventDefault();
            go("/");
          }}
        >
          Home page
        </a>
      </div>
    </main>
  );
}

const DELETED = "This conversation was deleted.";

function Opened({ conversation, block }: ConversationProps): ReactNode {
  const session = useSession();
  const view = useMemo(() => {
    enter(conversation);
    return session.replica.subscribe(conversation);
  }, [session, conversation]);
  useEffect(() => session.keep(view), [session, view]);
  const { isOpen: isHere, problem } = useViewState(view);
  const folder = useViewPart(view, ({ record }) => record?.metadata.cwd);
  const missing = MISSING[problem?.problem ?? ""];
  if (missing !== undefined) return <Missing words={missing} />;
  return (
    <ViewProvider value={view}>
      <main className="conversation" aria-label="Conversation">
        <Head view={view} />
        {isHere ? (
          <FolderProvider value={folder}>
            <Blocks key={view.sub} view={view} target={block} />
          </FolderProvider>
        ) : (
          <div className="blank">
            {problem ? `Couldn't open this conversation: ${problem.message}` : "Opening…"}
          </div>
        )}
        <Composer conversation={conversation} view={view} />
      </main>
    </ViewProvider>
  );
}

const MISSING: Readonly<Record<string, string>> = {
  not_found: "Conversation not found.",
  gone: DELETED,
};

function Blocks({ view, target }: { view: View; target: BlockId | undefined }): ReactNode {
  const rows = useRows(view);
  const isSearching = useCell(isFinding);
  return (
    <>
      {isSearching && <Find view={view} />}
      <BlockList view={view} rows={rows} target={target} />
      <Announcer view={view} />
    </>
  );
}

/** The rows, rebuilt when blocks come or go, something is opened, or the user shows and hides kinds. */
function useRows(view: View): readonly Row[] {
  const order = useOrder(view);
  const record = useRecord(view);
  const { thinking, tools, system } = useCell(preferences);
  const chosen = useCell(heads).get(view.conversation);
  const asking = record?.asking?.join(" ") ?? "";
  const opened = useSyncExternalStore(listenDisclosure, disclosureVersion);
  const head = headOf(view, chosen);
  const inPlace = useChangedInPlace(view, order, record?.seq ?? 0);
  const session = useSession();
  const edited = useCell(editing);
  const told = `${record?.createdBy} ${record?.provider}`;
  // biome-ignore lint/correctness/useExhaustiveDependencies: order, opened, inPlace, told and asking stand for what making the rows reads
  return useMemo(
    () =>
      makeRows(view, treeOf(view), {
        head,
        shown: { thinking, tools, system },
        isOpen,
        asking: askingIn(view, [...(view.record?.asking ?? []), ...lateAsks(view)]),
        speaker: (block) => {
          const speaker = whoSpeaks(session, view, block);
          return speaker && `${speaker.side} ${speaker.id}`;
        },
        edited,
      }),
    [session, view, order, head, thinking, tools, system, opened, inPlace, asking, edited, told],
  );
}

/**
 * Changes without a change of order: pruned blocks, queued messages that never ran, and blocks that have become quiet
 * since they ended. They are counted only if anything has changed at all.
 */
function useChangedInPlace(view: View, order: readonly BlockId[], seq: number): string {
  // biome-ignore lint/correctness/useExhaustiveDependencies: seq says that something changed
  return useMemo(() => {
    const pruned = order.filter((id) => view.blocks.get(id)?.pruned);
    const left = order.filter((id) => isLeftOver(view.blocks.get(id)));
    const ends = order.reduce((sum, id) => (sum * 31 + endOf(view.blocks.get(id))) | 0, 0);
    return `${pruned.length}:${pruned[0] ?? ""}:${pruned.at(-1) ?? ""}:${left.length}:${ends}`;
  }, [view, order, seq]);
}

const ends = new WeakMap<Block, number>();

/** A number for how a call or a result has ended, cached as long as the block is the same. */
function endOf(block: Block | undefined): number {
  if (!block || block.kind === "text") return 0;
  const known = ends.get(block);
  if (known !== undefined) return known;
  const { reason, exitCode, success } = block.metadata;
  const said = `${block.status} ${reason} ${exitCode} ${success} ${askOf(block.metadata)?.state}`;
  let sum = 7;
  for (let i = 0; i < said.length; i++) sum = (sum * 31 + said.charCodeAt(i)) | 0;
  ends.set(block, sum);
  return sum;
}
