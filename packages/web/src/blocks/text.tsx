/** Text: what people and models say, as markdown; what the system notes, as one dim line. */
import {
  type Ask,
  askOf,
  type Block,
  citedMarkdown,
  isEnded,
  isNoticeLine,
  type Metadata,
  metadataOf,
  plural,
  type Reason as ReasonName,
  reasonShown,
  Text,
  type ToldMark,
  type Turn,
  type View,
} from "@blockyard/kernel";
import type { ReactNode } from "react";
import { Markdown } from "../markdown/markdown.tsx";
import { isLateAsk } from "../rows/late-asks.ts";
import { treeOf } from "../rows/view-tree.ts";
import { useText, useView, useViewPart } from "../state/session.tsx";
import { AskView } from "./ask.tsx";
import { Citations } from "./citations.tsx";
import { Notice } from "./notice.tsx";
import { Reason } from "./reason.tsx";
import type { RendererProps } from "./renderer.ts";

export function TextBlock({ block }: RendererProps): ReactNode {
  const text = useText(block.id);
  const { citations, notice, label, reason, told } = metadataOf(block, "text");
  const isWaiting = block.role === "user" && block.status === "pending";
  const isGrowing = !isEnded(block.status) && !isWaiting;
  // Only then: what streams is long, and not read whole for every frame.
  const noted = notice !== undefined || block.role === "system" ? (text?.toString() ?? "") : undefined;
  const ask = askOf(block.metadata);
  if (ask) return <AskedText block={block} ask={ask} text={noted ?? ""} />;
  if (noted !== undefined && isNoticeLine(block, noted))
    return <Notice block={block} icon="info" text={noted} />;
  return (
    <div className={`said said-${block.role}`}>
      {label && <div className="label">{label}</div>}
      {text ? (
        <Markdown
          text={isGrowing || block.promoted ? text : withNumbers(text, citations)}
          isGrowing={isGrowing}
          isAppendOnly={!block.promoted}
        />
      ) : (
        <Waiting chars={block.chars} />
      )}
      {citations && citations.length > 0 && <Citations citations={citations} />}
      {isWaiting && <span className="reason">Queued</span>}
      {told && told.blocks > 0 && <span className="told">{toldText(told)}</span>}
      {reason && <TextReason block={block} reason={reason} />}
    </div>
  );
}

function TextReason({ block, reason }: RendererProps & { reason: ReasonName }): ReactNode {
  const view = useView();
  const shown = useViewPart(view, () => reasonShown(reason, footOf(view, block)));
  return <Reason reason={shown} />;
}

/** The turn whose foot comes below a block. */
function footOf(view: View, { id, metadata: { turn } }: Block): Turn | undefined {
  const isLast = treeOf(view)
    .nexts(id)
    .every((next) => view.blocks.get(next)?.metadata.turn !== turn);
  return turn === undefined || !isLast ? undefined : view.turns.get(turn);
}

/** An ask without a call, such as the form of an agent's server. Its text is part of it until it is answered. */
function AskedText({ block, ask, text }: { block: Block; ask: Ask; text: string }): ReactNode {
  const view = useView();
  const isLate = useViewPart(view, () => isLateAsk(view, block));
  return (
    <div className="tool">
      {ask.state !== "asked" && !isLate && <Notice block={block} icon="list" text={text} />}
      <AskView block={block} ask={ask} />
    </div>
  );
}

/** Texts with the numbers of their sources, cached as long as the texts are. */
const numbered = new WeakMap<Text, Text>();

function withNumbers(text: Text, citations: Metadata<"text">["citations"]): Text {
  if (!citations?.some(({ end }) => end !== undefined)) return text;
  const known = numbered.get(text) ?? Text.of(citedMarkdown(text.toString(), citations));
  numbered.set(text, known);
  return known;
}

/** Shows that more than this was sent to the agent: it did not know the conversation, or not all of it. */
function toldText({ blocks, leftOut }: ToldMark): string {
  const some = plural(blocks, "earlier message");
  const rest = leftOut === 0 ? "" : `; no room for ${leftOut.toLocaleString("en-US")} more`;
  return `+ ${some} shared with the agent${rest}`;
}

/** A text that is not loaded yet takes about the room that it will need. */
export function Waiting({ chars }: { chars: number }): ReactNode {
  const lines = Math.min(12, Math.max(1, Math.round(chars / 90)));
  return <div className="waiting" role="img" aria-label="loading" style={{ height: `${lines * 1.5}em` }} />;
}
