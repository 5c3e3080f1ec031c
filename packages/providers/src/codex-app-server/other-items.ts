/**
 * Items that only the app-server shows: notices without a call (compaction, review, a hook's words), and calls whose result is
 * shown elsewhere or nowhere (a picture that was looked at, a sub-agent's steps, tools that the client offers, a pause).
 */

import type { JsonObject, Kind, Role } from "@blockyard/kernel";
import type { Outcome } from "../call.ts";
import { type CallFace, contentOf } from "../codex/outcome.ts";
import { outputRow } from "../outcome.ts";
import { given, listOf, numberOf, objectOf, textOf, wordsOf } from "../read.ts";
import { compactParams, rowOf } from "../row.ts";
import { pictureOf, statusOf } from "./item.ts";

interface Notice {
  readonly kind: Kind;
  readonly role: Role;
  readonly text: string;
  readonly metadata: JsonObject;
}

export function noticeOf(item: JsonObject): Notice | undefined {
  switch (item.type) {
    case "contextCompaction":
      return systemText("compaction", "");
    case "enteredReviewMode":
      return systemText("review", `Review of ${wordsOf(item.review) ?? "changes"}`);
    case "exitedReviewMode":
      // Its words follow as a message of the agent.
      return systemText("review", "Review finished");
    case "hookPrompt":
      return systemText(
        "hook",
        listOf(item.fragments)
          .map((each) => textOf(objectOf(each).text) ?? "")
          .join("\n"),
      );
    case "subAgentActivity":
      return item.kind === "started"
        ? undefined
        : systemText("agent", `Agent ${textOf(item.agentPath) ?? ""}: ${textOf(item.kind) ?? "active"}`);
    default:
      return undefined;
  }
}

interface OtherCall extends CallFace {
  readonly outcome: Outcome;
}

export function otherCall(item: JsonObject): OtherCall | undefined {
  switch (item.type) {
    case "imageView":
      return viewImage(item);
    case "subAgentActivity":
      return activity(item);
    case "dynamicToolCall":
      return dynamicTool(item);
    case "functionCallOutput":
      return functionOutput(item);
    case "imageGeneration":
      return imageGeneration(item);
    case "sleep":
      return sleep(item);
    default:
      return undefined;
  }
}

function viewImage(item: JsonObject): OtherCall {
  const path = textOf(item.path) ?? "";
  return {
    toolName: "view_image",
    displayName: "View image",
    input: { path },
    compactParams: rowOf(path),
    outcome: { failed: false },
  };
}

/** A sub-agent that was started: its work stands below this call. */
function activity(item: JsonObject): OtherCall {
  const path = textOf(item.agentPath) ?? "";
  return {
    toolName: "spawn_agent",
    input: given({
      agent_path: path,
      agent_thread_id: wordsOf(item.agentThreadId),
      model: wordsOf(item.model),
      reasoning_effort: wordsOf(item.reasoningEffort),
    }),
    compactParams: rowOf(path),
    outcome: { failed: false, shortResult: "1 agent started" },
  };
}

function dynamicTool(item: JsonObject): OtherCall {
  const status = statusOf(item);
  const failed = status === "failed" || status === "denied" || item.success === false;
  const parts = listOf(item.contentItems).map((each) => {
    const { type, text, imageUrl } = objectOf(each);
    if (type === "inputText") return { type: "text", text: textOf(text) ?? "" };
    if (type === "inputImage") {
      const picture = pictureOf(textOf(imageUrl) ?? "");
      return { type: "image", mimeType: picture.mediaType ?? "image/*", ...picture };
    }
    return each;
  });
  const { text, images } = contentOf(parts);
  return {
    toolName: [wordsOf(item.namespace), textOf(item.tool) ?? "tool"]
      .filter((part) => part !== undefined)
      .join("."),
    input:
      typeof item.arguments === "object" ? objectOf(item.arguments) : given({ arguments: item.arguments }),
    compactParams: compactParams(item.arguments),
    outcome: {
      result: {
        kind: "tool_result",
        text,
        metadata: given({
          isError: failed ? true : undefined,
          images: images.length > 0 ? images : undefined,
        }),
      },
      failed,
      reason: status === "denied" ? "denied" : undefined,
      shortResult: failed ? "failed" : outputRow(text),
      error: failed ? (rowOf(text) ?? "failed") : undefined,
      durationMs: numberOf(item.durationMs),
    },
  };
}

/** The output of a call that has no item of its own. */
function functionOutput(item: JsonObject): OtherCall {
  const output = typeof item.output === "string" ? item.output : contentOf(listOf(item.output)).text;
  const name = [wordsOf(item.namespace), textOf(item.name) ?? "function"].filter(
    (part) => part !== undefined,
  );
  return {
    toolName: name.join("."),
    input: {},
    outcome: {
      result: { kind: "tool_result", text: output, metadata: {} },
      failed: false,
      shortResult: outputRow(output),
    },
  };
}

function imageGeneration(item: JsonObject): OtherCall {
  const failure = objectOf(item.failure);
  const failed = item.status === "failed" || Object.keys(failure).length > 0;
  const data = wordsOf(item.result);
  const path = wordsOf(item.savedPath);
  const message = wordsOf(failure.message);
  return {
    toolName: "image_generation",
    displayName: "Image",
    remote: true,
    input: given({ prompt: wordsOf(item.revisedPrompt), path }),
    compactParams: rowOf(textOf(item.revisedPrompt) ?? path ?? ""),
    outcome: {
      result: {
        kind: "tool_result",
        text: message ?? path ?? "",
        metadata: given({
          isError: failed ? true : undefined,
          images: data === undefined ? undefined : [{ data, mediaType: "image/png" }],
        }),
      },
      failed,
      shortResult: failed ? "failed" : "image created",
      error: failed ? (message ?? "failed") : undefined,
    },
  };
}

function sleep(item: JsonObject): OtherCall {
  const ms = numberOf(item.durationMs) ?? 0;
  return {
    toolName: "sleep",
    input: { duration_ms: ms },
    compactParams: `${Math.round(ms / 1_000)} s`,
    outcome: { failed: false, durationMs: ms },
  };
}

function systemText(notice: string, text: string): Notice {
  return { kind: "text", role: "system", text, metadata: { notice } };
}
