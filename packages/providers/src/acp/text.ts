/**
 * The text of a session: the model's messages and thoughts in chunks, prompts, messages of the program.
 *
 * A chunk continues the open text, or opens the next one: if its message id or kind is another, or if something else
 * came between. Empty chunks are ignored.
 */

import type { BlockEvent, Json, JsonObject, Reason } from "@blockyard/kernel";
import { wholeBlock } from "../call.ts";
import { languageOf } from "../language.ts";
import { given, objectOf, textOf, wordsOf } from "../read.ts";
import { nextKey, type OpenText, type Out, type Session, type State } from "./state.ts";
import { currentTurn } from "./turn-state.ts";

type Said = OpenText["kind"];

export function sayChunk(state: State, out: Out, session: Session, said: Said, update: JsonObject): void {
  const content = objectOf(update.content);
  // Gemini CLI puts a heading in front of every thought, though it may have none.
  const text = said === "thinking" ? textOf(content.text)?.replace(/^\*{4}\n/, "") : textOf(content.text);
  if (content.type !== "text" || text === undefined) {
    if (content.type !== "text") showContent(state, out, session, said, content);
    return;
  }
  if (text === "") return;
  const messageId = wordsOf(update.messageId);
  if (said === "text" && sayOfProgram(state, out, session, update, text, messageId)) return;
  const turn = session.replay === undefined ? currentTurn(state, out, session) : undefined;
  if (turn !== undefined) turn.isEmpty = false;
  const open = session.text;
  if (open === undefined || open.kind !== said || open.messageId !== messageId) {
    closeText(out, session);
    openText(state, out, session, said, messageId);
  }
  if (session.text !== undefined) out.push({ type: "block-append", key: session.text.key, text });
}

function openText(state: State, out: Out, session: Session, said: Said, messageId: string | undefined): void {
  const key = nextKey(state, session, said);
  session.text = { key, kind: said, messageId };
  out.push({
    type: "block-start",
    key,
    ...given({ parent: session.parent }),
    kind: said === "user" ? "text" : said,
    role: said === "user" ? "user" : "model",
    metadata: given({ messageId, extra: session.replay === undefined ? undefined : { replayed: true } }),
  });
}

export function closeText(out: Out, session: Session, reason?: Reason): void {
  if (session.text === undefined) return;
  const key = session.text.key;
  session.text = undefined;
  if (reason === undefined) out.push({ type: "block-end", key, status: "done" });
  else out.push({ type: "block-end", key, status: "error", reason });
}

/** The program's own words among the model's: an error, a remark, the end of a background task. */
function sayOfProgram(
  state: State,
  out: Out,
  session: Session,
  update: JsonObject,
  text: string,
  messageId: string | undefined,
): boolean {
  const { failure, remark, namesMessages } = state.quirks;
  const source = wordsOf(objectOf(update._meta).source);
  const isFirst = session.text === undefined;
  if ((isFirst && failure?.test(text)) || (session.hasFailed && messageId === undefined)) {
    session.hasFailed = false;
    sayError(state, out, session, text.trim().replace(failure ?? /^$/, ""));
    return true;
  }
  const isNotice = source !== undefined && /^background_(task|notification)/.test(source);
  const isAnswer = source === "background_notification_response";
  if (isNotice && !isAnswer) {
    if (source !== "background_notification") sayNotice(state, out, session, "background_task", text);
    return true;
  }
  if (isFirst && remark?.test(text)) {
    sayNotice(state, out, session, "remark", text.trim());
    return true;
  }
  if (namesMessages && messageId === undefined && session.replay === undefined && !isAnswer) {
    sayNotice(state, out, session, "remark", text);
    return true;
  }
  return false;
}

/** The turn's program has failed at something, in its own words. */
export function sayError(
  state: State,
  out: Out,
  session: Session | undefined,
  text: string,
  metadata: JsonObject = {},
): void {
  if (session !== undefined) closeText(out, session);
  const turn = session === undefined || session.replay !== undefined ? undefined : session.turn;
  if (turn !== undefined) {
    turn.isEmpty = false;
    turn.failure ??= text;
  }
  const place = given({ parent: session?.parent });
  const key = nextKey(state, session, "error");
  const block = { key, ...place, kind: "error", role: "system", metadata, text } as const;
  out.push(...wholeBlock(block, { status: "error", reason: "failed" }));
}

export function sayNotice(
  state: State,
  out: Out,
  session: Session,
  notice: string,
  text: string,
  extra?: JsonObject,
): void {
  closeText(out, session);
  if (session.turn !== undefined && session.replay === undefined) session.turn.isEmpty = false;
  const key = nextKey(state, session, "notice");
  const place = given({ parent: session.parent });
  const metadata = given({ notice, extra });
  out.push(...wholeBlock({ key, ...place, kind: "text", role: "system", metadata, text }));
}

/** A prompt as the client sent it: its texts are one block, pictures and files are blocks of their own. */
export function sayPrompt(state: State, out: Out, session: Session, prompt: readonly Json[]): void {
  const texts: string[] = [];
  for (const part of prompt) {
    const content = objectOf(part);
    const text = textOf(content.text);
    if (content.type === "text" && text !== undefined) texts.push(text);
    else showContent(state, out, session, "user", content);
  }
  if (texts.length === 0) return;
  const key = nextKey(state, session, "user");
  const place = given({ parent: session.parent });
  out.push(
    ...wholeBlock({ key, ...place, kind: "text", role: "user", metadata: {}, text: texts.join("\n\n") }),
  );
}

/** Content that is no text: a picture, a file, a link, a sound. */
function showContent(state: State, out: Out, session: Session, said: Said, content: JsonObject): void {
  closeText(out, session);
  if (session.turn !== undefined && session.replay === undefined) session.turn.isEmpty = false;
  const role = said === "user" ? "user" : "model";
  const key = nextKey(state, session, said);
  const place = { key, role, ...given({ parent: session.parent }) } as const;
  out.push(...wholeBlock({ ...place, ...contentBlock(content) }));
}

type Shown = Pick<Extract<BlockEvent, { type: "block-start" }>, "kind" | "metadata" | "text">;

function contentBlock(content: JsonObject): Shown {
  const mediaType = wordsOf(content.mimeType);
  if (content.type === "image") {
    const metadata = given({ data: wordsOf(content.data), mediaType, url: wordsOf(content.uri) });
    return { kind: "image", metadata, text: "" };
  }
  if (content.type === "resource") {
    const resource = objectOf(content.resource);
    const filename = fileOf(textOf(resource.uri) ?? "");
    const metadata = given({ filename, language: languageOf(filename) });
    return { kind: "code", metadata, text: textOf(resource.text) ?? "" };
  }
  if (content.type === "resource_link") {
    const uri = textOf(content.uri) ?? "";
    return { kind: "text", metadata: {}, text: `[${wordsOf(content.name) ?? fileOf(uri)}](${uri})` };
  }
  const what = wordsOf(content.type) ?? "content";
  return { kind: "text", metadata: {}, text: `[${what}${mediaType === undefined ? "" : ` ${mediaType}`}]` };
}

function fileOf(uri: string): string {
  return uri.startsWith("file://") ? uri.slice("file://".length) : uri;
}
