/**
 * A lab for one command-line agent: our server as a process, the scripted model server, a workspace, and a home folder that
 * did not exist before. No credentials of anybody, nothing of the environment, no network beyond loopback.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Script } from "../../model/script.ts";
import { ModelServer } from "../../model/server.ts";
import { Server } from "../server.ts";

export type Cli = "claude" | "codex" | "qwen" | "kimi" | "opencode" | "copilot";

export interface LabBlock {
  readonly block_id: string;
  readonly kind: string;
  readonly role: string;
  readonly status: string;
  readonly parent_id: string | null;
  readonly content: string;
  // biome-ignore lint/suspicious/noExplicitAny: metadata is looked at field by field
  readonly metadata: any;
}

export interface LabTurn {
  readonly turn: string;
  readonly status: string;
  readonly reason?: string;
  readonly error?: string;
  readonly session_id?: string;
  readonly usage?: { readonly input: number; readonly output: number };
  readonly cost_usd?: number;
  readonly native?: { readonly total_cost_usd?: number };
  readonly uncounted?: true;
}

const WAIT_MS = 120_000;

/** One red pixel, as a picture. */
const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

export class Lab {
  readonly folder: string;
  readonly work: string;
  readonly cli: Cli;
  readonly model: ModelServer;
  /** What the agents find in their environment. */
  readonly env: Readonly<Record<string, string>>;
  server: Server;

  /** With `other`, a second agent works there too. */
  static async open(
    cli: Cli,
    program: string,
    files: Readonly<Record<string, string>> = {},
    other?: { readonly cli: Cli; readonly program: string },
  ): Promise<Lab> {
    const folder = mkdtempSync(join(tmpdir(), `blockyard-${cli}-`));
    const work = join(folder, "work");
    for (const [name, text] of Object.entries({ "README.md": "# Demo\n", ...files })) {
      mkdirSync(dirname(join(work, name)), { recursive: true });
      writeFileSync(join(work, name), text);
    }
    const model = await ModelServer.start();
    const envOf = (each: Cli, its: string) => ENVIRONMENTS[each](folder, model.url, its);
    const env = { ...envOf(cli, program), ...(other ? envOf(other.cli, other.program) : {}) };
    const server = await Server.start({ home: join(folder, "data"), root: work, env });
    return new Lab(cli, folder, work, model, server, env);
  }

  private constructor(
    cli: Cli,
    folder: string,
    work: string,
    model: ModelServer,
    server: Server,
    env: Readonly<Record<string, string>>,
  ) {
    this.env = env;
    this.cli = cli;
    this.folder = folder;
    this.work = work;
    this.model = model;
    this.server = server;
  }

  get home(): string {
    return join(this.folder, "data");
  }

  /** A server that was killed, or stopped, is started again, at the same address. */
  async startAgain(): Promise<void> {
    const { port } = new URL(this.server.url);
    this.server = await Server.start({ home: this.home, root: this.work, env: this.env, port });
  }

  async close(): Promise<void> {
    await this.server.stop();
    await this.model.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  async conversation(): Promise<string> {
    return (await this.server.do("conversation.create", { title: this.cli })).conversation;
  }

  async start(
    conversation: string,
    prompt: string,
    script?: Script,
    more: object = {},
  ): Promise<{ turn: string; queued: boolean }> {
    if (script !== undefined) this.model.play(script);
    return this.server.do("turn.start", { conversation, provider: this.cli, prompt, ...more });
  }

  /** A turn to its end; every request for permission is answered as `allow` says. */
  async turn(conversation: string, prompt: string, script: Script, allow = true): Promise<LabTurn> {
    const { turn } = await this.start(conversation, prompt, script);
    return this.over(conversation, turn, allow);
  }

  async over(conversation: string, turn: string, allow = true): Promise<LabTurn> {
    return this.wait(`turn ${turn} to end`, async () => {
      await this.answer(conversation, allow);
      const found = (await this.turns(conversation)).find((each) => each.turn === turn);
      return found?.status === "running" ? undefined : found;
    });
  }

  async turns(conversation: string): Promise<readonly LabTurn[]> {
    const { turns } = await this.server.do("turn.list", { conversation });
    return turns as LabTurn[];
  }

  /** The turn that has begun since these. */
  newTurn(conversation: string, before: readonly LabTurn[]): Promise<string> {
    return this.wait("its turn", async () =>
      (await this.turns(conversation))
        .map(({ turn }) => turn)
        .find((id) => !before.some(({ turn }) => turn === id)),
    );
  }

  async answer(conversation: string, allow: boolean): Promise<void> {
    for (const { block_id, metadata } of await this.blocks(conversation)) {
      if (metadata.ask?.state !== "asked") continue;
      const input = { block_id, ask_id: metadata.ask.id, allow };
      await this.server.do("turn.answer", allow ? input : { ...input, message: "Not that, please" });
    }
  }

  /** A turn whose prompt brings a file and a picture along. */
  async turnWithAttached(conversation: string, prompt: string, script: Script): Promise<LabTurn> {
    this.model.play(script);
    const kept = await fetch(`${this.server.url}/v1/blobs`, {
      method: "POST",
      headers: { authorization: `Bearer ${this.server.token}` },
      body: Buffer.from(PIXEL, "base64"),
    });
    const { blob } = (await kept.json()) as { blob: string };
    const { turn } = await this.server.do("turn.start", {
      conversation,
      provider: this.cli,
      prompt,
      attachments: [
        { type: "text", name: "notes.txt", text: "the attached words" },
        { type: "image", name: "pixel.png", blob },
      ],
    });
    return this.over(conversation, turn);
  }

  async blocks(conversation: string): Promise<readonly LabBlock[]> {
    return this.server.blocks(conversation);
  }

  /** Waits for something that the server will tell. */
  async wait<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
    for (const since = Date.now(); ; await sleep(100)) {
      const found = await look();
      if (found !== undefined) return found;
      if (Date.now() - since > WAIT_MS) throw new Error(`waited in vain for ${what}\n${this.server.log}`);
    }
  }
}

function claudeEnv(folder: string, url: string, program: string): Record<string, string> {
  const config = join(folder, "claude");
  mkdirSync(config);
  return {
    HOME: folder,
    CLAUDE_CONFIG_DIR: config,
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: "no-real-key",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
    DISABLE_TELEMETRY: "1",
    DISABLE_ERROR_REPORTING: "1",
    BLOCKYARD_CLAUDE: program,
  };
}

export function codexEnv(folder: string, url: string, program: string): Record<string, string> {
  const config = join(folder, "codex");
  mkdirSync(config);
  writeFileSync(
    join(config, "config.toml"),
    `model = "gpt-5.5"
model_provider = "scripted"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false

[analytics]
enabled = false

[features]
plugins = false
apps = false

[model_providers.scripted]
name = "scripted"
base_url = "${url}/v1"
env_key = "SCRIPTED_KEY"
wire_api = "responses"
supports_websockets = false
`,
  );
  return { HOME: folder, CODEX_HOME: config, SCRIPTED_KEY: "no-real-key", BLOCKYARD_CODEX: program };
}

/** Agents that speak ACP are started by a line of the settings. */
function qwenEnv(folder: string, url: string, program: string): Record<string, string> {
  // After a turn it asks the model, with tools, what to remember and what to suggest: that used up steps of the next turn's script.
  const quiet = {
    memory: { enableManagedAutoMemory: false, enableManagedAutoDream: false, enableAutoSkill: false },
    ui: { enableFollowupSuggestions: false },
  };
  mkdirSync(join(folder, ".qwen"));
  writeFileSync(join(folder, ".qwen", "settings.json"), JSON.stringify(quiet));
  return {
    HOME: folder,
    BLOCKYARD_ACP_QWEN: `${process.execPath} ${program} --acp --auth-type openai`,
    OPENAI_API_KEY: "no-real-key",
    OPENAI_BASE_URL: `${url}/v1`,
    OPENAI_MODEL: "qwen3-coder-plus",
  };
}

function kimiEnv(folder: string, url: string, program: string): Record<string, string> {
  return {
    HOME: folder,
    BLOCKYARD_ACP_KIMI: `${process.execPath} ${program} acp`,
    KIMI_MODEL_NAME: "claude-sonnet-4-5",
    KIMI_MODEL_API_KEY: "no-real-key",
    KIMI_MODEL_PROVIDER_TYPE: "anthropic",
    KIMI_MODEL_BASE_URL: url,
  };
}

/** It asks for everything: by default it asks for nothing. */
function opencodeEnv(folder: string, url: string, program: string): Record<string, string> {
  const config = join(folder, "opencode.json");
  const options = { baseURL: `${url}/v1`, apiKey: "no-real-key" };
  writeFileSync(
    config,
    JSON.stringify({
      model: "anthropic/claude-sonnet-4-5",
      small_model: "anthropic/claude-sonnet-4-5",
      permission: { bash: "ask", edit: "ask" },
      provider: { anthropic: { options } },
    }),
  );
  return {
    HOME: folder,
    BLOCKYARD_ACP_OPENCODE: `${program} acp`,
    OPENCODE_CONFIG: config,
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
    OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
  };
}

function copilotEnv(folder: string, url: string, program: string): Record<string, string> {
  return {
    HOME: folder,
    BLOCKYARD_ACP_COPILOT: `${program} --acp`,
    COPILOT_OFFLINE: "true",
    COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
    COPILOT_PROVIDER_TYPE: "openai",
    COPILOT_PROVIDER_API_KEY: "no-real-key",
    COPILOT_MODEL: "gpt-5.5",
  };
}

const ENVIRONMENTS = {
  ...{ claude: claudeEnv, codex: codexEnv, qwen: qwenEnv, kimi: kimiEnv },
  ...{ opencode: opencodeEnv, copilot: copilotEnv },
};
