/**
 * The agents of the matrix: how the scripted model calls the tools of each, and what each lacks, with the reason.
 * Missing abilities are counted as such, never as passed.
 */
import { type Asked, call, type Part, type Script, type Step, say } from "../../model/script.ts";
import type { Cli } from "../clis/lab.ts";

export interface Question {
  readonly question: string;
  readonly header: string;
  readonly multiSelect: boolean;
  readonly options: readonly { readonly label: string; readonly description: string }[];
}

export interface MatrixAgent {
  readonly cli: Cli;
  /** A command for which it asks. */
  readonly shell: (command: string) => Part;
  /** A command for which it does not ask, where that is another call. */
  readonly quiet: (command: string) => Part;
  readonly write: (path: string, content: string) => Part;
  readonly ask?: (questions: readonly Question[]) => Part;
  /** The model writes a plan and asks to carry it out. */
  readonly plan?: (text: string) => Script;
  /** Starts a command that goes on beside the model's work. */
  readonly background?: (command: string) => Part;
  /** A slash command of the agent's own, and what shows that it was done. */
  readonly slash?: { readonly prompt: string; readonly shows: RegExp };
  /** Another mode, and how it differs. */
  readonly modes: { readonly ask: string; readonly free?: string };
  readonly models?: readonly [string, string];
  /** By scenario, why it is not offered. */
  readonly lacks: Readonly<Record<string, string>>;
}

const BASH = (command: string) => call("Bash", { command, description: "Run it" });

const claude: MatrixAgent = {
  cli: "claude",
  shell: BASH,
  quiet: BASH,
  write: (file_path, content) => call("Write", { file_path, content }),
  ask: (questions) => call("AskUserQuestion", { questions }),
  plan: (content) => {
    const steps: Step[] = [{ parts: [call("ExitPlanMode", {})] }, say("Doing it.")];
    let isWritten = false;
    return ({ body }: Asked) => {
      if (isWritten) return steps.shift() ?? say("More.");
      isWritten = true;
      const file_path = /\/[^\s"\\]+\/plans\/[\w-]+\.md/.exec(JSON.stringify(body))?.[0] ?? "";
      return { parts: [call("Write", { file_path, content })] };
    };
  },
  background: (command) => call("Bash", { command, description: "Beside", run_in_background: true }),
  slash: { prompt: "/context", shows: /context|tokens/i },
  modes: { ask: "ask", free: "edits" },
  models: ["sonnet", "opus"],
  lacks: {},
};

const ESCALATED = { sandbox_permissions: "require_escalated", justification: "Need it" };

const codex: MatrixAgent = {
  cli: "codex",
  shell: (cmd) => call("exec_command", { cmd, ...ESCALATED }),
  // Its own sandbox does not work everywhere that this is run: so it asks.
  quiet: (cmd) => call("exec_command", { cmd, ...ESCALATED }),
  write: (path, content) => call("exec_command", { cmd: `printf %s '${content}' > ${path}`, ...ESCALATED }),
  ask: (questions) =>
    call("request_user_input", {
      questions: questions.map(({ question, header, options }, i) => ({
        id: `q${i}`,
        header,
        question,
        options,
      })),
    }),
  background: (cmd) => call("exec_command", { cmd, yield_time_ms: 500, ...ESCALATED }),
  slash: { prompt: "/compact", shows: /compact/i },
  modes: { ask: "ask", free: "full" },
  models: ["gpt-6.1-sol", "gpt-5.5"],
  lacks: {
    "question, several": "its questions take one option each",
    "plan, edited and approved": "its plan is a text; nothing waits for its approval",
    "mode, while it works": "its protocol changes approvals with the next turn",
  },
};

const NO_BACKGROUND = "ACP has no background tasks";
const STEPS = "it reads messages after its turn";
const PLANS = "ACP takes no edited plan";

const qwen: MatrixAgent = {
  cli: "qwen",
  shell: (command) => call("run_shell_command", { command, description: "Run it", is_background: false }),
  quiet: (command) => call("run_shell_command", { command, description: "Run it", is_background: false }),
  write: (file_path, content) => call("write_file", { file_path, content }),
  slash: { prompt: "/status", shows: /./ },
  modes: { ask: "ask", free: "edits" },
  lacks: {
    ...{
      "question, one": "it takes no answer",
      "question, several": "it takes no answer",
      "question, own words": "it takes no answer",
    },
    ...{ "plan, edited and approved": PLANS, "background task, stopped": NO_BACKGROUND },
    model: "it has one model with a key",
  },
};

const kimi: MatrixAgent = {
  cli: "kimi",
  shell: BASH,
  quiet: BASH,
  write: (path, content) => call("Write", { path, content }),
  ask: (questions) =>
    call("AskUserQuestion", {
      questions: questions.map(({ question, header, options, multiSelect }) => ({
        question,
        header,
        options,
        multi_select: multiSelect,
      })),
    }),
  slash: { prompt: "/status", shows: /./ },
  modes: { ask: "ask" },
  lacks: {
    "permission with a rule": "it asks before it says what would run",
    "question, own words": "its form has options only",
    "plan, edited and approved": PLANS,
    steering: STEPS,
    "background task, stopped": NO_BACKGROUND,
    model: "it has one model with a key",
    "mode, while it works": "it has no mode for edits alone",
  },
};

const opencode: MatrixAgent = {
  cli: "opencode",
  shell: (command) => call("bash", { command, description: "Run it" }),
  quiet: (command) => call("bash", { command, description: "Run it" }),
  write: (filePath, content) => call("write", { filePath, content }),
  slash: { prompt: "/init", shows: /./ },
  modes: { ask: "ask" },
  models: ["anthropic/claude-haiku-4-5", "anthropic/claude-sonnet-4-5"],
  lacks: {
    ...{
      "question, one": "it asks none",
      "question, several": "it asks none",
      "question, own words": "it asks none",
    },
    ...{ "plan, edited and approved": PLANS, steering: STEPS, "background task, stopped": NO_BACKGROUND },
    "mode, while it works": "it has no mode for edits alone",
  },
};

const copilot: MatrixAgent = {
  cli: "copilot",
  shell: (command) => call("bash", { command, description: "Run it", mode: "sync", initial_wait: 30 }),
  quiet: (command) => call("bash", { command, description: "Run it", mode: "sync", initial_wait: 30 }),
  write: (path, file_text) => call("create", { path, file_text }),
  slash: { prompt: "/context", shows: /./ },
  modes: { ask: "ask" },
  lacks: {
    ...{
      "question, one": "it asks none",
      "question, several": "it asks none",
      "question, own words": "it asks none",
    },
    ...{ "plan, edited and approved": PLANS, steering: STEPS, "background task, stopped": NO_BACKGROUND },
    "mode, while it works": "it has no mode for edits alone",
    model: "it lets no model be chosen",
  },
};

export const MATRIX_AGENTS: readonly MatrixAgent[] = [claude, codex, qwen, kimi, opencode, copilot];
