/** What is said of an error beside its message: what can be done about it, and what its details are called. Pure. */
import { type Json, knownCode } from "@blockyard/kernel";

/** By a word in the code or the message; the first that fits is shown. */
const ADVICE: readonly (readonly [RegExp, string])[] = [
  [/usage.?limit|hit your .*limit/i, "You can continue once the limit has reset."],
  [
    /auth|api.?key|401|credential|login/i,
    "Sign in to the provider again or check your API key, then resend the prompt.",
  ],
  [/rate.?limit|429/i, "Rate limited. Wait a moment, then resend the prompt."],
  [/overload|529|503|server.?error|500/i, "Provider error. Try again later."],
  [/model.?not.?found|404|model/i, "Choose another model in the composer and resend the prompt."],
  [
    /budget|max_turns|max_budget/i,
    "This run reached a limit. Continue with a new prompt, or raise the limit.",
  ],
  [
    /too.?long|context|max_tokens|output_tokens|too_large/i,
    "The conversation is too long for the model. Exclude blocks from the context or fork earlier, then continue.",
  ],
  [
    /network|connect|timeout|timed out|econn/i,
    "Couldn't reach the provider. Check the network and try again.",
  ],
  [/by signal|exit code/i, "The agent's process exited. Retry to start it again."],
];

interface Failure {
  readonly code?: string | undefined;
  readonly details?: Json | undefined;
  readonly retryable?: boolean | undefined;
}

interface ErrorWords {
  readonly advice: string;
  /** What stands beside "Details": the code, else the status that the provider answered with. */
  readonly name: string | undefined;
  /** Undefined: there is nothing to be shown but what the message says. */
  readonly details: Json | undefined;
}

export function errorWords(message: string, { code, details, retryable }: Failure): ErrorWords {
  const known = knownCode(code);
  const status = (details as { readonly status?: unknown } | null | undefined)?.status;
  const shown = details ?? (known === undefined ? undefined : { code: known });
  const advice = ADVICE.find(([pattern]) => pattern.test(`${known ?? ""} ${message}`))?.[1];
  const other = shown === undefined ? "Try again, or edit the prompt and resend it." : undefined;
  return {
    advice:
      advice ?? (retryable ? "Trying again may help." : (other ?? "Copy the details if you report this.")),
    name: known ?? (typeof status === "number" ? `HTTP ${status}` : undefined),
    details: shown,
  };
}
