/**
 * Redacts the events of one stream on their way from the adapter to the kernel. A block's text is checked as it grows,
 * so that a secret that comes in pieces is found; a provider's final text is checked as a whole.
 *
 * The owner approves what a call would do, so nothing that a shell could interpret is removed from a call or an ask:
 * there only plain words are removed, without quotes, signs and line ends. A call's input is passed on when it is
 * complete.
 */

import { type Ask, askOf, type BlockEvent, type BlockKey, type JsonObject } from "@blockyard/kernel";
import { redactText, type Seen } from "../system/redact.ts";
import { TextRedactor } from "../system/text-redactor.ts";
import { HELD_INPUT_CHARS } from "./limits.ts";
import { redactJson, redactRaw } from "./redact-body.ts";

/** Words without any meaning to a shell, and no path that leads out of a folder. */
const PLAIN = /^(?![/~.])(?!.*\.\.)[\w .,~+/=@:%-]+$/;

type Start = BlockEvent & { readonly type: "block-start" };
type End = BlockEvent & { readonly type: "block-end" };

interface Growing {
  readonly found: Seen;
  readonly text: TextRedactor;
  /** Of a call: its input, until it is whole. */
  input: string | undefined;
  isChanged: boolean;
}

export class EventRedactor {
  readonly #growing = new Map<BlockKey, Growing>();
  readonly #onAsk: (ask: Ask) => void;

  /** `onAsk` is told what is asked, as it came, where something of it is taken out. */
  constructor(onAsk: (ask: Ask) => void = () => undefined) {
    this.#onAsk = onAsk;
  }

  take(events: readonly BlockEvent[]): readonly BlockEvent[] {
    return events.flatMap((event) => this.#one(event));
  }

  /** What is left of blocks that nobody has ended: given once, also where they go on. */
  end(): readonly BlockEvent[] {
    return [...this.#growing].flatMap(([key, growing]) => {
      const left = rest(key, growing);
      growing.input = undefined;
      return left;
    });
  }

  #one(event: BlockEvent): readonly BlockEvent[] {
    switch (event.type) {
      case "block-start":
        return [this.#start(event)];
      case "block-append": {
        const text = grow(this.#of(event.key), event.text);
        return text === "" ? [] : [{ ...event, text }];
      }
      case "block-meta":
        return [{ ...event, metadata: this.#metadata(this.#of(event.key), event.metadata) }];
      case "block-end":
        return this.#end(event);
      case "session": {
        const { title, details } = event;
        return [
          {
            ...event,
            ...(title && { title: clean(title) }),
            ...(details && { details: redactJson(details) }),
          },
        ];
      }
      case "turn-end": {
        const { error, native } = event;
        return [
          { ...event, ...(error && { error: clean(error) }), ...(native && { native: redactJson(native) }) },
        ];
      }
      case "message-usage":
      case "turn-start":
        return [event];
    }
  }

  #start(event: Start): BlockEvent {
    const growing = this.#of(event.key, event.kind === "tool_call");
    const text = event.text === undefined ? {} : { text: grow(growing, event.text) };
    return { ...event, ...text, metadata: this.#metadata(growing, event.metadata) };
  }

  #end(event: End): readonly BlockEvent[] {
    const growing = this.#of(event.key);
    this.#growing.delete(event.key);
    const before = event.text === undefined ? rest(event.key, growing) : [];
    const text = event.text === undefined ? {} : { text: whole(growing, event.text) };
    const metadata = event.metadata && { metadata: this.#metadata(growing, event.metadata) };
    return [...before, { ...event, ...text, ...metadata }];
  }

  #of(key: BlockKey, isCall = false): Growing {
    const known = this.#growing.get(key);
    if (known) return known;
    const found: Seen = (_, secret) => {
      if (isCall && !PLAIN.test(secret)) return false;
      made.isChanged = true;
      return true;
    };
    const made: Growing = {
      found,
      text: new TextRedactor(found),
      input: isCall ? "" : undefined,
      isChanged: false,
    };
    this.#growing.set(key, made);
    return made;
  }

  #metadata({ found, isChanged }: Growing, metadata: JsonObject): JsonObject {
    const { ask, ...others } = metadata;
    const said = redactJson(others, found);
    // A signature is for the thought as it was: with another one, providers refuse it.
    const { signature: _, ...unsigned } = said;
    const kept = isChanged ? unsigned : said;
    if (ask === undefined) return kept;
    const asked = redactJson(ask, (_name, secret) => PLAIN.test(secret));
    const came = asked === ask ? undefined : askOf(metadata);
    if (came?.state === "asked") this.#onAsk(came);
    // The plan is the key of a block, and no text.
    const plan = askOf(metadata)?.plan;
    return { ...kept, ask: plan === undefined ? asked : { ...(asked as JsonObject), plan } };
  }
}

/** What can be given of a block that grows. */
function grow(growing: Growing, text: string): string {
  if (growing.input === undefined) return growing.text.push(text);
  growing.input += text;
  if (growing.input.length < HELD_INPUT_CHARS) return "";
  const { input } = growing;
  growing.input = undefined;
  return growing.text.push(input);
}

function rest(key: BlockKey, growing: Growing): readonly BlockEvent[] {
  const { input, found } = growing;
  const text = input === undefined ? growing.text.end() : redactRaw(input, found);
  return text === "" ? [] : [{ type: "block-append", key, text }];
}

function whole({ input, found }: Growing, text: string): string {
  return input === undefined ? redactText(text, found) : redactRaw(text, found);
}

function clean(text: string): string {
  return redactText(text, () => undefined);
}
