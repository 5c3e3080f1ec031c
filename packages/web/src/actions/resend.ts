/**
 * Sends an earlier prompt again, or one that continues a turn that was cut off. The composer sends it, with its current
 * agent and settings. Sent from its old place, what followed it stays on another branch.
 */
import { type Block, type BlockId, type ConversationId, isProblem, type View } from "@blockyard/kernel";
import { Cell } from "../state/cell.ts";
import { invite } from "../state/invitation.ts";
import { notify } from "../state/page-state.ts";
import type { Session } from "../state/session.tsx";

/** As turn.start takes it. */
export type Attachment =
  | { readonly type: "text"; readonly name: string; readonly text: string }
  | { readonly type: "image"; readonly name: string; readonly blob: string };

export interface Resent {
  readonly conversation: ConversationId;
  readonly text: string;
  readonly attachments: readonly Attachment[];
  /** Behind what it stands; null: it is the first; absent: at the end. */
  readonly parent?: BlockId | null;
  /** Taken into the field, or sent as it is; or what is in the field goes there when it is sent. */
  readonly how: "edit" | "send" | "fork";
}

/** What the composer of its conversation takes next. */
export const resent = new Cell<Resent | undefined>(undefined);

/** What an agent is told that was cut off. */
const CONTINUE = "Continue from where you stopped.";

/** Takes a prompt into the composer; sent, it begins another branch. */
export async function editAndResend(session: Session, view: View, turn: string): Promise<void> {
  invite("prompt");
  const sent = await promptOf(session, view, turn);
  if (sent) resent.set({ ...sent, how: "edit" });
}

/** The same prompt once more, on a branch of its own. */
export async function retryTurn(session: Session, view: View, turn: string): Promise<void> {
  invite("prompt");
  const sent = await promptOf(session, view, turn);
  if (sent) resent.set({ ...sent, how: "send" });
}

/** What is written next goes behind a block, while the agent works on elsewhere. */
export function forkNext({ conversation, id }: Block): void {
  resent.set({ conversation, text: "", attachments: [], parent: id, how: "fork" });
}

export function continueTurn({ conversation }: View): void {
  invite("prompt");
  resent.set({ conversation, text: CONTINUE, attachments: [], how: "send" });
}

/** At that time, by itself: the server remembers it, and any other message here cancels it. */
export async function continueLater(session: Session, { conversation }: View, at: number): Promise<boolean> {
  const answer = await session.write("turn.later", { conversation, at });
  if (isProblem(answer)) notify(`Couldn't schedule: ${answer.message}`, true);
  return !isProblem(answer);
}

/** Whether it continues by itself, as the server knows: it was asked for in another window, or before the page was loaded. */
export async function isKeptForLater(session: Session, { conversation }: View): Promise<boolean | undefined> {
  const answer = await session.ask("turn.later", { conversation, cancel: false });
  return isProblem(answer) ? undefined : answer.at !== null;
}

export async function cancelLater(session: Session, { conversation }: View): Promise<boolean> {
  const answer = await session.write("turn.later", { conversation, cancel: true });
  if (isProblem(answer)) notify(`Couldn't cancel: ${answer.message}`, true);
  return !isProblem(answer);
}

/** What of a view says whether a turn has a prompt. */
export interface Loaded {
  readonly order: readonly BlockId[];
  readonly blocks: ReadonlyMap<BlockId, Pick<Block, "role" | "side" | "metadata">>;
  /** There are older blocks. */
  readonly more: boolean;
}

/** Whether a turn has a prompt, or may have one that is not loaded. One that an agent began by itself has none. */
export function hasPrompt({ order, blocks, more }: Loaded, turn: string): boolean {
  const isOf = (id: BlockId) => blocks.get(id)?.metadata.turn === turn;
  const [first] = order;
  if (more && (first === undefined || isOf(first))) return true;
  return order.some((id) => {
    const block = blocks.get(id);
    return block?.role === "user" && !block.side && isOf(id);
  });
}

/** Undefined where it cannot be read; then that is said. */
async function promptOf(
  session: Session,
  view: View,
  turn: string,
): Promise<Omit<Resent, "how"> | undefined> {
  const own = view.order.flatMap((id) => {
    const block = view.blocks.get(id);
    const isOwn = block?.role === "user" && block.metadata.turn === turn && !block.side;
    return isOwn ? [block] : [];
  });
  const [first] = own;
  const prompt = own.find(({ kind }) => kind === "text");
  const text = prompt && (await session.text(view, prompt.id));
  if (first === undefined || text === undefined) {
    notify("This prompt is not loaded yet. Scroll up to it, then try again.", true);
    return undefined;
  }
  const attachments: Attachment[] = [];
  for (const block of own) {
    const attached = await attachmentOf(session, view, block);
    if (attached) attachments.push(attached);
  }
  return { conversation: view.conversation, text, attachments, parent: first.parent };
}

async function attachmentOf(session: Session, view: View, block: Block): Promise<Attachment | undefined> {
  const { filename, blob } = block.metadata;
  const text = block.kind === "text" ? undefined : await session.text(view, block.id);
  if (text === undefined) return undefined;
  if (block.kind === "image" && typeof blob === "string")
    return { type: "image", name: text || "picture", blob };
  return block.kind === "code"
    ? { type: "text", name: typeof filename === "string" ? filename : "file", text }
    : undefined;
}
