/**
 * The model and the effort that Codex uses where none is chosen: those of its configuration, else its own. A thread keeps what was
 * chosen for the turn before, also in its file, so going back to the defaults has to be said.
 */

import type { Json, JsonObject } from "@blockyard/kernel";
import { isObject } from "@blockyard/providers";

export interface Usual {
  readonly model: string | undefined;
  /** By model. */
  readonly effort: (model: string | undefined) => string | undefined;
}

/** From the answers to `config/read` and `model/list`. */
export function usualIn(read: JsonObject, listed: JsonObject): Usual {
  const config = objectOf(read["config"]);
  const models = Array.isArray(listed["data"]) ? listed["data"].map(objectOf) : [];
  const first = models.find(({ isDefault }) => isDefault === true);
  const effort = textOf(config["model_reasoning_effort"]);
  return {
    model: textOf(config["model"]) ?? textOf(first?.["model"]),
    effort: (model) =>
      effort ?? textOf(models.find((each) => each["model"] === model)?.["defaultReasoningEffort"]),
  };
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function objectOf(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}
