/**
 * An ask: what an agent wants to do or to know, exactly, and the answers that it takes. Bound to this one request. The buttons do not
 * work for the first half second after they appear, so that a click or key that was meant for something else allows nothing.
 *
 * Number keys choose an answer, here and wherever no field has the focus, once it is on the screen; Escape begins to deny. An ask that somebody else has
 * answered first shows who.
 */
import {
  type Ask,
  askWords,
  type Block,
  type BlockId,
  exactName,
  isProblem,
  type JsonObject,
  lateAsk,
  leftOfAsk,
  shownAsk,
  waitsFor,
} from "@blockyard/kernel";
import {
  type KeyboardEvent,
  type ReactNode,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { isLateAsk } from "../rows/late-asks.ts";
import { soughtFirst, useShownAsk } from "../rows/shown-asks.ts";
import { askHeading } from "../state/ask-heading.ts";
import { Cell } from "../state/cell.ts";
import { isField } from "../state/invitation.ts";
import { dropLateKeys } from "../state/late-keys.ts";
import { notify, overlay } from "../state/page-state.ts";
import { useBlock, useIsViewer, useSession, useView, useViewPart } from "../state/session.tsx";
import { Icon, type IconName } from "../ui/icons.tsx";
import { Message } from "../ui/message.tsx";
import { useSettled } from "../ui/wait.ts";
import type { GiveAnswer } from "./ask-answer.ts";
import { Answers, forgetReason } from "./ask-answers.tsx";
import { ElicitedForm } from "./ask-form.tsx";
import { EditPlan, PlanText } from "./ask-plan.tsx";
import { Questions } from "./ask-questions.tsx";
import { ledTo, useBeginning } from "./ask-sight.ts";
import { AskedSubject } from "./ask-subject.tsx";
import { Exact } from "./exact-words.tsx";
import { useFolder } from "./folder.ts";
import { HEADING_CHARS } from "./limits.ts";
import { Took } from "./tool-line.tsx";

export function AskView({ block, ask }: { block: Block; ask: Ask }): ReactNode {
  const session = useSession();
  const view = useView();
  const isLate = useViewPart(view, () => isLateAsk(view, block));
  if (ask.state !== "asked" && !isLate)
    return (
      <div className={`agent-ask answered ${ask.state}`}>
        <Message text={askWords(ask, session.replica.self?.agent, block.metadata.reason)} />
      </div>
    );
  return <OpenAsk key={ask.id} block={block} ask={ask} isLate={isLate} />;
}

const ICONS: Readonly<Record<Ask["kind"], IconName>> = {
  permission: "lock",
  question: "question",
  plan: "todo",
  elicitation: "list",
};

interface OpenAskProps {
  readonly block: Block;
  readonly ask: Ask;
  /** The server stopped while it was open. */
  readonly isLate: boolean;
}

function OpenAsk({ block, ask: asked, isLate }: OpenAskProps): ReactNode {
  const ask = useMemo(() => shownAsk(isLate ? lateAsk(asked) : asked), [asked, isLate]);
  const left = useMemo(() => leftOfAsk(asked), [asked]);
  const isViewer = useIsViewer();
  const folder = useFolder();
  // Agents number their requests: another conversation's may have the same id.
  const draft = `${block.id} ${ask.id}`;
  const isSettled = useSettled(draft);
  const panel = useRef<HTMLElement>(null);
  const onAnswered = useBeginning(panel, ask);
  const { answer, isAnswering, failure } = useAnswer({ panel, block, ask, draft, onAnswered });
  const isReady = isSettled && !isAnswering;
  useFocusKept(panel, block.id);
  useNumberKeys(panel, block.id);
  const isFirst = useIsFirst(panel);
  const heading = exactName(askHeading(ask, block, folder));
  const needs = waitsFor(ask) === "answer" ? "Needs an answer" : "Needs approval";
  return (
    <section
      ref={panel}
      className={`agent-ask open kind-${ask.kind}${isFirst ? " has-keys" : ""}`}
      aria-label={needs}
      data-asks={block.id}
      tabIndex={-1}
      onKeyDown={escapeToDeny}
    >
      <header className="agent-ask-title">
        <Icon name={ICONS[ask.kind]} />
        <span className="agent-ask-words">
          <Message text={heading.length > HEADING_CHARS ? `${heading.slice(0, HEADING_CHARS)}…` : heading} />
        </span>
        <Took block={block} />
        <span className="agent-asks">{needs}</span>
      </header>
      {isLate && (
        <p className="dim">
          The turn was interrupted. The agent gets {isViewer ? "the" : "your"} answer as its next message.
        </p>
      )}
      {heading.length > HEADING_CHARS && <Exact text={askHeading(ask, block, folder)} />}
      {left !== "" && <p className="dim">{left}</p>}
      {ask.kind === "permission" && <AskedSubject ask={ask} block={block} />}
      {ask.kind === "plan" && <PlanText ask={ask} />}
      {isViewer ? (
        <p className="dim">Waiting for the owner's answer.</p>
      ) : ask.kind === "question" ? (
        <Questions ask={ask} draft={draft} isReady={isReady} onAnswer={answer} />
      ) : ask.kind === "elicitation" ? (
        <ElicitedForm ask={ask} draft={draft} isReady={isReady} onAnswer={answer} />
      ) : (
        <Answers
          {...{ ask, draft, isReady }}
          onAnswer={answer}
          more={ask.kind === "plan" && <EditPlan ask={ask} />}
        />
      )}
      {failure && (
        <p className="bad" role="alert">
          <Message text={failure} />
        </p>
      )}
    </section>
  );
}

interface Answering {
  readonly panel: { readonly current: HTMLElement | null };
  readonly block: Block;
  readonly ask: Ask;
  readonly draft: string;
  readonly onAnswered: () => void;
}

/** Sends an answer, once; a plan is approved as it is shown here. */
function useAnswer({ panel, block, ask, draft, onAnswered }: Answering) {
  const session = useSession();
  const [isAnswering, setAnswering] = useState(false);
  const [failure, setFailure] = useState("");
  const planVersion = useBlock(ask.plan ?? "")?.version;
  const answer: GiveAnswer = async (allow, message = "", given) => {
    // A button that is disabled loses the focus.
    if (panel.current?.contains(document.activeElement)) panel.current.focus({ preventScroll: true });
    setAnswering(true);
    const said = await session.write("turn.answer", {
      ...{ block_id: block.id, ask_id: ask.id, allow },
      ...(message === "" ? {} : { message }),
      ...(given === undefined ? {} : { answer: given as JsonObject }),
      ...(planVersion === undefined ? {} : { plan_version: planVersion }),
    });
    if (!isProblem(said)) {
      onAnswered();
      return forgetReason(draft);
    }
    // Somebody else was faster, and their answer is shown here now.
    if (panel.current === null) return notify(`Your answer was not sent: ${said.message}`, true);
    setFailure(said.message);
    setAnswering(false);
  };
  return { answer, isAnswering, failure };
}

/**
 * After answering, the focus stays at the call, not at the page's beginning. A user who was still typing is told, and
 * their text goes nowhere else.
 */
function useFocusKept(panel: { readonly current: HTMLElement | null }, call: string): void {
  const view = useView();
  useLayoutEffect(() => {
    const element = panel.current;
    return () => {
      const focused = document.activeElement;
      if (!element?.contains(focused)) return;
      const isWriting = focused instanceof HTMLElement && isWritten(focused);
      const row = document.querySelector<HTMLElement>(`article[data-block="${CSS.escape(call)}"]`);
      row?.focus({ preventScroll: true });
      if (!isWriting || view.blocks.get(call)?.metadata.ask?.state === "asked") return;
      dropLateKeys();
      notify("This request was closed meanwhile. What you were writing was not sent.", true);
    };
  }, [panel, call, view]);
}

/** Changes when open asks are drawn. */
const drawnAsks = new Cell(0);

/** Whether it is the first that is open: the keys are for that one, unless another has the focus. */
function useIsFirst(panel: { readonly current: HTMLElement | null }): boolean {
  const [isFirst, setFirst] = useState(true);
  useLayoutEffect(() => {
    const look = () => setFirst(document.querySelector(".agent-ask.open") === panel.current);
    const forget = drawnAsks.listen(look);
    drawnAsks.change((count) => count + 1);
    return () => {
      forget();
      // It is still in the document now.
      queueMicrotask(() => drawnAsks.change((count) => count + 1));
    };
  }, [panel]);
  return isFirst;
}

/** A number presses the answer that has it: in the first ask that is open, wherever no field has the focus. */
function useNumberKeys(panel: { readonly current: HTMLElement | null }, id: BlockId): void {
  useShownAsk(panel, id);
  useEffect(() => {
    const onKey = (event: globalThis.KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
      if (!/^[0-9]$/.test(event.key) || overlay.get() !== undefined) return;
      const [target] = event.composedPath();
      if (target instanceof HTMLElement && isWritten(target)) return;
      if (document.querySelector("[popover]:popover-open")) return;
      const meant =
        target instanceof HTMLElement ? target.closest<HTMLElement>(".agent-ask.open") : undefined;
      const first = meant ?? document.querySelector<HTMLElement>(".agent-ask.open");
      if (first !== panel.current) return;
      const button = first?.querySelector<HTMLElement>(`[data-key="${event.key}"]`);
      if (!button) return;
      event.preventDefault();
      // An ask has to be visible to be answered.
      if (soughtFirst(id)) return;
      if (button instanceof HTMLInputElement) {
        if (ledTo(button)) return;
        // Enter, which answers, has to reach the form.
        button.focus({ preventScroll: true });
      }
      button.click();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [panel, id]);
}

/** Radio buttons and checkboxes are fields, but not for typing. */
function isWritten(element: HTMLElement): boolean {
  const isChoice = element instanceof HTMLInputElement && /^(radio|checkbox)$/.test(element.type);
  return isField(element) && !isChoice;
}

function escapeToDeny(event: KeyboardEvent<HTMLElement>): void {
  if (event.key !== "Escape" || event.defaultPrevented || isWritten(event.target as HTMLElement)) return;
  event.preventDefault();
  event.stopPropagation();
  event.currentTarget.querySelector<HTMLElement>("[data-deny]")?.click();
}
