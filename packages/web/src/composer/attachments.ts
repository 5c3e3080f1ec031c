/**
 * What is attached to a prompt before it is sent: text files are read here, pictures are sent to the server at once, so
 * that the prompt itself goes out without waiting. What cannot be attached stays in the list and says why.
 */

import type { QueuedMark } from "@blockyard/kernel";
import { useCallback, useEffect, useRef, useState } from "react";
import type { Attachment } from "../actions/resend.ts";
import { pictureUrl } from "../state/pictures.ts";
import { request, ticketHeader } from "../state/proof.ts";
import { ATTACHED_CHARS, ATTACHED_FILE_CHARS, ATTACHED_FILES } from "./limits.ts";
import { shrunk } from "./shrink.ts";

const PICTURES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

export interface Attached {
  readonly id: number;
  readonly name: string;
  readonly isPicture: boolean;
  readonly state: "loading" | "ready" | "failed";
  /** Of a picture that is on its way: 0 to 1. */
  readonly progress: number;
  readonly why?: string;
  readonly text?: string;
  readonly blob?: string;
  /** Where the browser shows the picture from. */
  readonly preview?: string;
}

/** As the server keeps it with a message that waits. */
type KeptFile = NonNullable<QueuedMark["attachments"]>[number];

export interface Attachments {
  readonly items: readonly Attached[];
  /** Something is still being read or sent. */
  readonly isLoading: boolean;
  add(files: Iterable<File>): void;
  remove(id: number): void;
  /** Files of an already sent message that is taken back: the server has them. */
  restore(files: readonly KeptFile[]): void;
  /** Files of a message that is being rewritten. */
  bring(files: readonly Attachment[]): void;
  /** The attachments to send; the list is empty then. `back` restores them, `drop` discards them. */
  take(): { readonly attachments: readonly Attachment[]; back(): void; drop(): void };
}

let lastId = 0;

type Change = (id: number, more: Partial<Attached>) => void;

export function useAttachments(): Attachments {
  const [items, setItems] = useState<readonly Attached[]>([]);
  const now = useRef(items);
  now.current = items;
  useEffect(() => () => now.current.forEach(release), []);
  const change: Change = useCallback((id, more) => {
    setItems((all) => all.map((item) => (item.id === id ? { ...item, ...more } : item)));
  }, []);
  const put = useCallback((item: Attached) => setItems((all) => [...all, item]), []);
  const add = useCallback(
    (files: Iterable<File>) => {
      for (const file of files) {
        const item = begun(file);
        setItems((all) => [
          ...all,
          all.length < ATTACHED_FILES ? item : failedItem(item, `at most ${ATTACHED_FILES} files`),
        ]);
        if (now.current.length >= ATTACHED_FILES) continue;
        const charsBefore = now.current.reduce((sum, { text }) => sum + (text?.length ?? 0), 0);
        void load(file, charsBefore, (progress) => change(item.id, { progress })).then(
          (loaded) => change(item.id, { state: "ready", ...loaded }),
          (error: Error) => change(item.id, { state: "failed", why: error.message }),
        );
      }
    },
    [change],
  );
  const remove = useCallback((id: number) => {
    for (const item of now.current) if (item.id === id) release(item);
    setItems((all) => all.filter((item) => item.id !== id));
  }, []);
  const restore = useCallback(
    (files: readonly KeptFile[]) => {
      for (const file of files) put(kept(file, change));
    },
    [put, change],
  );
  const bring = useCallback(
    (files: readonly Attachment[]) => {
      for (const file of files) {
        if (file.type === "text") put({ ...blank(file.name), state: "ready", text: file.text });
        else put(kept(file, change));
      }
    },
    [put, change],
  );
  const take = useCallback(() => {
    const taken = now.current;
    setItems([]);
    const drop = () => taken.forEach(release);
    return { attachments: taken.flatMap(sendable), back: () => setItems((all) => [...taken, ...all]), drop };
  }, []);
  return {
    items,
    isLoading: items.some(({ state }) => state === "loading"),
    add,
    remove,
    restore,
    bring,
    take,
  };
}

/** A file that the server has: a picture is ready, and shown once it is loaded; a text is fetched. */
function kept({ type, name, blob }: Pick<KeptFile, "type" | "name" | "blob">, change: Change): Attached {
  const item = blank(name);
  if (type === "image") {
    void pictureUrl(blob).then((preview) => preview && change(item.id, { preview }));
    return { ...item, isPicture: true, state: "ready", blob };
  }
  void keptText(blob).then(
    (text) => change(item.id, { state: "ready", text }),
    (error: Error) => change(item.id, { state: "failed", why: error.message }),
  );
  return item;
}

function blank(name: string): Attached {
  return { id: ++lastId, name, isPicture: false, state: "loading", progress: 0 };
}

function begun(file: File): Attached {
  const isPicture = PICTURES.has(file.type);
  const preview = isPicture ? { preview: URL.createObjectURL(file) } : {};
  return { ...blank(file.name || "pasted"), isPicture, ...preview };
}

async function keptText(blob: string): Promise<string> {
  const answer = await request(`/v1/blobs/${blob}`).catch(() => undefined);
  if (!answer?.ok) throw new Error("the server no longer has it");
  return answer.text();
}

function failedItem(item: Attached, why: string): Attached {
  return { ...item, state: "failed", why };
}

function release({ preview }: Attached): void {
  if (preview !== undefined) URL.revokeObjectURL(preview);
}

function sendable({ name, text, blob }: Attached): Attachment[] {
  if (text !== undefined) return [{ type: "text", name, text }];
  return blob === undefined ? [] : [{ type: "image", name, blob }];
}

async function load(
  file: File,
  charsBefore: number,
  onProgress: (share: number) => void,
): Promise<Pick<Attached, "text" | "blob">> {
  if (PICTURES.has(file.type)) return { blob: await upload(await shrunk(file), onProgress) };
  if (file.size > ATTACHED_FILE_CHARS * 4)
    throw new Error(`too long: at most ${ATTACHED_FILE_CHARS / 1024} KB of text`);
  const text = await textOf(file);
  if (text === "") throw new Error("empty");
  if (text.length > ATTACHED_FILE_CHARS)
    throw new Error(`too long: at most ${ATTACHED_FILE_CHARS / 1024} KB of text`);
  if (charsBefore + text.length > ATTACHED_CHARS) throw new Error("too much for one message");
  return { text };
}

async function textOf(file: File): Promise<string> {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
    if (!text.includes("\0")) return text;
  } catch {
    // reported below
  }
  throw new Error("not a text file or a PNG, JPEG, GIF or WebP picture");
}

/** Sends a picture to the server; the name of its blob. By XMLHttpRequest, because it alone tells how far it is. */
async function upload(picture: Blob, onProgress: (share: number) => void): Promise<string> {
  const headers = await ticketHeader();
  return new Promise((resolve, reject) => {
    const sent = new XMLHttpRequest();
    sent.open("POST", "/v1/blobs");
    for (const [name, value] of Object.entries(headers)) sent.setRequestHeader(name, value);
    sent.responseType = "json";
    sent.upload.onprogress = ({ loaded, total }) => onProgress(total === 0 ? 0 : loaded / total);
    sent.onload = () => {
      const answer = sent.response as { blob?: string; message?: string } | null;
      if (sent.status === 200 && answer?.blob !== undefined) resolve(answer.blob);
      else reject(new Error(answer?.message ?? `the server answered ${sent.status}`));
    };
    sent.onerror = () => reject(new Error("the server did not answer"));
    sent.send(picture);
  });
}
