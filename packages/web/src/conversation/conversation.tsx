/**
 * One conversation: its head (title, totals, toolbar), its blocks, its composer.
 */
import type { BlockId, ConversationId, View } from "@blockyard/kernel";
import { type ReactNode, useEffect, useMemo, useSyncExternalStore } from "react";
import { Composer } from "../composer/composer.tsx";
import { askingIn, foldRows, isLeftOver, type Row } from "../rows/rows.ts";
import { headOf, treeOf } from "../rows/view-tree.ts";
import { useCell } from "../state/cell.ts";
import { disclosureVersion, isOpen, listenDisclosure } from "../state/disclosure.ts";
import { heads, isFinding } from "../state/page-state.ts";
import { preferences } from "../state/preferences.ts";
import { useOrder, useRecord, useSession, useViewState, ViewProvider } from "../state/session.tsx";
import { Announcer } from "./announcer.tsx";
import { Find } from "./find.tsx";
import { Head } from "./head.tsx";
import { BlockList } from "./list.tsx";

interface ConversationProps {
  readonly conversation: ConversationId;
  readonly block: BlockId | undefined;
}

export function ConversationPane({ conversation, block }: ConversationProps): ReactNode {
  const session = useSession();
  const view = useMemo(() => session.replica.subscribe(conversation), [session, conversation]);
  useEffect(() => () => session.replica.unsubscribe(view), [session, view]);
  const { isOpen: isHere, problem } = useViewState(view);
  return (
    <ViewProvider value={view}>
      <main className="conversation" aria-label="Conversation">
        <Head view={view} />
        {isHere && problem?.problem !== "not_found" ? (
          <Blocks key={view.sub} view={view} target={block} />
        ) : (
          <div className="blank">
            {!problem
              ? "Opening…"
              : problem.problem === "not_found"
                ? "There is no such conversation here."
                : `This conversation cannot be shown: ${problem.message}`}
          </div>
        )}
        {problem?.problem !== "not_found" && <Composer conversation={conversation} view={view} />}
      </main>
    </ViewProvider>
  );
}

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

/** The rows, folded anew when blocks come or go, something is opened, or the reader shows and hides kinds. */
function useRows(view: View): readonly Row[] {
  const order = useOrder(view);
  const record = useRecord(view);
  const { thinking, tools, system } = useCell(preferences);
  const chosen = useCell(heads).get(view.conversation);
  const asking = record?.asking?.join(" ") ?? "";
  const opened = useSyncExternalStore(listenDisclosure, disclosureVersion);
  const head = headOf(view, chosen);
  const inPlace = useChangedInPlace(view, order, record?.seq ?? 0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: order, opened, inPlace and asking stand for what the fold reads
  return useMemo(
    () =>
      foldRows(view, treeOf(view), {
        head,
        shown: { thinking, tools, system },
        isOpen,
        asking: askingIn(view, view.record?.asking ?? []),
      }),
    [view, order, head, thinking, tools, system, opened, inPlace, asking],
  );
}

/**
 * What comes or goes without a change of order: what is pruned, and messages that waited and never ran. They are counted,
 * when anything has changed at all.
 */
function useChangedInPlace(view: View, order: readonly BlockId[], seq: number): string {
  // biome-ignore lint/correctness/useExhaustiveDependencies: seq says that something changed
  return useMemo(() => {
    const pruned = order.filter((id) => view.blocks.get(id)?.pruned);
    const left = order.filter((id) => isLeftOver(view.blocks.get(id)));
    return `${pruned.length}:${pruned[0] ?? ""}:${pruned.at(-1) ?? ""}:${left.length}`;
  }, [view, order, seq]);
}
