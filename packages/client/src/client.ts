/**
 * A server as another program sees it: calls, live copies of conversations, the progress of tool calls. It uses one connection, which
 * reconnects by itself; missed changes arrive before newer ones, and a pending write is resent and applied once.
 *
 * It has no state of its own: the replica has it.
 */
import {
  type ConversationId,
  isProblem,
  type Json,
  type LlmEvent,
  type LlmMessage,
  type Problem,
  Replica,
  type ToolUpdate,
  type View,
  type ViewChange,
} from "@blockyard/kernel";
import type { ToolAnswer, ToolInput, ToolName } from "@blockyard/server/contract";
import { ownEnv } from "./env.ts";
import { CONNECT_MS } from "./limits.ts";
import { Link, type LinkState } from "./link.ts";
import { type LlmOptions, type LlmStream, llmStream } from "./llm-stream.ts";

export interface ClientOptions {
  /** As the server prints it: http://127.0.0.1:4567 */
  readonly url: string;
  /** From `blockyard token create`; without one, a browser's cookie. */
  readonly token?: string;
  /** How many of a conversation's last blocks come at once. */
  readonly windowBlocks?: number;
  /** Told when the connection goes and comes. */
  readonly onState?: (state: LinkState) => void;
}

export interface ConnectOptions extends ClientOptions {
  /** How long a server may take to answer for the first time; half a minute unless told. */
  readonly connectMs?: number;
}

/** What a tool refused, as an error: `problem` has the code and the numbers. */
export class Refusal extends Error {
  override name = "Refusal";
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.message);
    this.problem = problem;
  }
}

export interface CallOptions {
  /** False: it changes nothing, and need not be done once. A cut ends it. */
  readonly write?: boolean;
}

/** How a program's own turn ended; the fields of the tool turn.end. */
export type TurnResult = Omit<ToolInput<"turn.end">, "conversation" | "turn">;

/** A turn that this program has begun. */
export interface OwnTurn {
  readonly id: string;
  /** Once. What is still open of it ends with it. */
  end(result?: TurnResult): Promise<void>;
}

export class Client {
  readonly replica: Replica;
  readonly #link: Link;
  readonly #place: { readonly url: string; readonly headers: Readonly<Record<string, string>> };
  readonly #streams = new Set<LlmStream>();
  readonly #waiting = new Set<(state: LinkState) => void>();

  constructor({ url, token, windowBlocks, onState }: ClientOptions) {
    this.replica = new Replica({ env: ownEnv, ...(windowBlocks === undefined ? {} : { windowBlocks }) });
    this.#place = {
      url: url.replace(/\/$/, ""),
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    };
    const onLinkState = (state: LinkState) => {
      onState?.(state);
      for (const notify of this.#waiting) notify(state);
    };
    this.#link = new Link({
      replica: this.replica,
      url,
      onState: onLinkState,
      ...(token === undefined ? {} : { token }),
    });
  }

  get state(): LinkState {
    return this.#link.state;
  }

  /** Resolves when the server has greeted us; rejects if it never will. */
  open(): Promise<this> {
    return new Promise((resolve, reject) => {
      const notify = (state: LinkState) => {
        if (state.state === "open") resolve(this);
        else if (state.state === "refused") reject(new Error(state.message));
        else if (state.state === "closed") reject(new Error("the connection was closed"));
        else return;
        this.#waiting.delete(notify);
      };
      this.#waiting.add(notify);
      this.#link.start();
    });
  }

  /**
   * Calls a tool and gives its answer; a problem is thrown as a Refusal. A call that writes survives a cut: it is sent
   * again, and done once.
   */
  call<Name extends ToolName>(
    tool: Name,
    input: ToolInput<Name>,
    options?: CallOptions,
  ): Promise<ToolAnswer<Name>> {
    return this.callAny<ToolAnswer<Name>>(tool, input, options);
  }

  /** The same by a name that is only known while the program runs, or that this version does not know. */
  async callAny<T = Json>(tool: string, input: unknown, { write = true }: CallOptions = {}): Promise<T> {
    const answer = await this.replica.call(tool, input, { write });
    if (isProblem(answer)) throw new Refusal(answer);
    return answer as T;
  }

  /**
   * A turn of this program's own: what it creates in the conversation until the turn's end belongs to it. The turn stays
   * open as long as this program is connected or calls.
   */
  async beginTurn(
    conversation: ConversationId,
    options: { readonly model?: string; readonly provider?: string } = {},
  ): Promise<OwnTurn> {
    const { turn } = await this.call("turn.begin", { conversation, ...options });
    return {
      id: turn,
      end: async (result = {}) => {
        await this.call("turn.end", { conversation, turn, ...result });
      },
    };
  }

  /** A live copy of a conversation; resolves when it is here, and tells of every change from then on. */
  follow(conversation: ConversationId, changed: (change: ViewChange, view: View) => void): Promise<View> {
    return new Promise((resolve, reject) => {
      const view = this.replica.subscribe(conversation);
      const stop = this.replica.listen((change) => {
        if (change.conversation !== conversation) return;
        if (view.problem) {
          stop();
          return reject(new Refusal(view.problem));
        }
        if (view.isOpen) resolve(view);
        changed(change, view);
      });
    });
  }

  /** The life of every tool call in what is followed: one start, increments, one end. */
  onTool(listener: (update: ToolUpdate, conversation: ConversationId) => void): () => void {
    return this.replica.listenTools(listener);
  }

  /**
   * A conversation's turns as messages made of content blocks, for programs that want no blocks: told with every event, and
   * kept up over cuts. Stop it when it is not needed any more.
   */
  llm(
    conversation: ConversationId,
    changed: (messages: readonly LlmMessage[], event: LlmEvent) => void,
    options: LlmOptions = {},
  ): LlmStream {
    const stream = llmStream({ ...this.#place, conversation }, changed, options);
    this.#streams.add(stream);
    void stream.ended.then(() => this.#streams.delete(stream));
    return stream;
  }

  close(): void {
    for (const stream of this.#streams) stream.stop();
    this.#link.close();
  }
}

/**
 * Connects, and gives the client once the server has greeted it. A server that is being started is waited for, for `connectMs`; then
 * the error says that nobody answered. Once connected, a client tries for as long as it lives.
 */
export async function connect(options: ConnectOptions): Promise<Client> {
  const { url, connectMs = CONNECT_MS } = options;
  const client = new Client(options);
  const late = setTimeout(() => client.close(), connectMs);
  try {
    return await client.open();
  } catch (error) {
    const isLate = client.state.state === "closed";
    throw isLate ? new Error(`nothing answers at ${url}. Start the server, or check the address`) : error;
  } finally {
    clearTimeout(late);
  }
}
