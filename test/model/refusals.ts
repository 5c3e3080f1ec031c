/**
 * What the real APIs refuse about a request's messages, refused here too: calls without results, results without calls,
 * texts without words, reasoning that is not what was said. So a test that gets an answer has sent something valid, by
 * other eyes than those that built it.
 */
import type { Asked, Body } from "./script.ts";
import { isRedacted, sealOf, signatureOf } from "./seal.ts";

/** The sentence of the error; undefined for a request that is taken. */
export function refusalOf({ api, body }: Pick<Asked, "api" | "body">): string | undefined {
  if (api === "messages") return refuseMessages(list(body["messages"]));
  if (api === "responses") return refuseItems(list(body["input"]));
  return refuseChat(list(body["messages"]));
}

function list(value: unknown): readonly Body[] {
  return Array.isArray(value) ? (value as Body[]) : [];
}

function contentOf(message: Body | undefined): readonly Body[] {
  const content = message?.["content"];
  return typeof content === "string" ? [{ type: "text", text: content }] : list(content);
}

// ---------------------------------------------------------------------------------------------------------------------
// Messages

function refuseMessages(given: readonly Body[]): string | undefined {
  // Neighbours of one role count as one message.
  const messages: { readonly role: unknown; readonly content: Body[] }[] = [];
  for (const message of given.filter(({ role }) => role !== "system")) {
    const last = messages.at(-1);
    if (last !== undefined && last.role === message["role"]) last.content.push(...contentOf(message));
    else messages.push({ role: message["role"], content: [...contentOf(message)] });
  }
  if (messages[0]?.role !== "user") return "messages: first message must use the user role";
  const ids = new Set<unknown>();
  for (const [i, { role, content }] of messages.entries()) {
    if (content.length === 0) return `messages.${i}: content is empty`;
    const wrong = role === "assistant" ? refuseAssistant(content) : undefined;
    const blank = content.some(({ type, text }) => type === "text" && String(text).trim() === "");
    if (blank) return `messages.${i}: text content blocks must contain non-whitespace text`;
    if (wrong) return `messages.${i}: ${wrong}`;
    const calls = content.filter(({ type }) => type === "tool_use").map(({ id }) => id);
    for (const id of calls) {
      if (ids.has(id)) return `messages.${i}: tool_use ids must be unique, ${String(id)} is not`;
      ids.add(id);
    }
    const results = resultsOf(messages[i + 1]?.content ?? []);
    if (calls.length !== results.length || calls.some((id) => !results.includes(id)))
      return `messages.${i}: tool_use ids were found without tool_result blocks immediately after, or the other way round`;
    if (i === 0 && resultsOf(content).length > 0) return "messages.0: a tool_result without a tool_use";
  }
  return undefined;
}

function resultsOf(content: readonly Body[]): readonly unknown[] {
  return content.filter(({ type }) => type === "tool_result").map((part) => part["tool_use_id"]);
}

function refuseAssistant(content: readonly Body[]): string | undefined {
  const last = content.at(-1)?.["type"];
  if (last === "thinking" || last === "redacted_thinking") return "the final block cannot be thinking";
  for (const part of content) {
    if (part["type"] === "thinking" && part["signature"] !== signatureOf(String(part["thinking"])))
      return "Invalid `signature` in `thinking` block";
    if (part["type"] === "redacted_thinking" && !isRedacted(String(part["data"])))
      return "Invalid `data` in `redacted_thinking` block";
    if (part["type"] === "tool_use" && typeof part["input"] !== "object")
      return "tool_use.input: Input should be a valid dictionary";
  }
  return undefined;
}

// ---------------------------------------------------------------------------------------------------------------------
// Responses

function refuseItems(items: readonly Body[]): string | undefined {
  const open = new Set<unknown>();
  const answered = new Set<unknown>();
  for (const [i, item] of items.entries()) {
    if (item["type"] === "function_call") {
      if (open.has(item["call_id"])) return `Duplicate call_id ${String(item["call_id"])}`;
      open.add(item["call_id"]);
    }
    if (item["type"] === "function_call_output") {
      const id = item["call_id"];
      if (!open.has(id) || answered.has(id))
        return `No tool call found for output with call_id ${String(id)}`;
      answered.add(id);
    }
    if (item["type"] !== "reasoning") continue;
    const next = items[i + 1];
    const goesOn = next?.["type"] === "function_call" || next?.["type"] === "reasoning";
    if (!goesOn && next?.["role"] !== "assistant")
      return `Item ${String(item["id"])} of type reasoning was provided without its required following item`;
    if (item["encrypted_content"] !== sealOf(String(item["id"])))
      return `The encrypted content of ${String(item["id"])} could not be verified`;
  }
  const missing = [...open].find((id) => !answered.has(id));
  return missing === undefined ? undefined : `No tool output found for function call ${String(missing)}`;
}

// ---------------------------------------------------------------------------------------------------------------------
// Chat

function refuseChat(messages: readonly Body[]): string | undefined {
  let open: unknown[] = [];
  for (const [i, message] of messages.entries()) {
    if (message["role"] === "tool") {
      if (!open.includes(message["tool_call_id"]))
        return `messages.[${i}]: 'tool' must follow a message with its 'tool_calls'`;
      open = open.filter((id) => id !== message["tool_call_id"]);
      continue;
    }
    if (open.length > 0) return `messages.[${i}]: tool_call_ids did not have response messages`;
    open = list(message["tool_calls"]).map(({ id }) => id);
  }
  return open.length === 0 ? undefined : "tool_call_ids did not have response messages at the end";
}
