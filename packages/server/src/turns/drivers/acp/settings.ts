/**
 * Modes and models of a session: their names in the agent, and how they are set. Agents have them in three forms
 * (modes, config options, the older `models`); our names are matched with what the agent offers, never sent unchanged.
 */

import { type Json, type JsonObject, jsonText } from "@blockyard/kernel";
import { isObject } from "@blockyard/providers";
import { MODES, type Mode } from "../../mode.ts";

/** A request that sets something. */
export interface Setting {
  readonly method: string;
  readonly params: JsonObject;
}

export interface Choice {
  readonly id: string;
  readonly name: string;
}

/** The best match first; ids may be URLs that end with the word. */
const NAMES: Readonly<Record<Mode, readonly RegExp[]>> = {
  plan: [/(^|[/#:_-])plan$/i],
  ask: [/(^|[/#:_-])(default|ask|manual)$/i, /(^|[/#:_-])(agent|build|code)$/i],
  edits: [/(^|[/#:_-])(accept-?edits|auto-?edit|edits|workspace-write)$/i],
  full: [/(^|[/#:_-])(yolo|bypass-?permissions|full-?access|agent-full-access|autopilot)$/i],
};

/** How to set a mode; undefined if the agent has none like it, or already works in it. */
export function modeSetting(session: JsonObject, sessionId: string, mode: Mode): Setting | undefined {
  const { choices, current, option } = modesOf(session);
  const found = NAMES[mode].map((name) => choices.find(({ id }) => name.test(id))).find((each) => each);
  if (found === undefined || found.id === current) return undefined;
  if (option === undefined) return { method: "session/set_mode", params: { sessionId, modeId: found.id } };
  return optionSetting(sessionId, option, found.id);
}

/** Whether the agent has such a mode at all. */
export function hasMode(session: JsonObject, mode: Mode): boolean {
  const { choices } = modesOf(session);
  return NAMES[mode].some((name) => choices.some(({ id }) => name.test(id)));
}

/** The mode in which it works, in our terms; undefined if it is none of ours. */
export function currentMode(session: JsonObject): Mode | undefined {
  const { choices, current } = modesOf(session);
  const isIt = (mode: Mode) => {
    const found = NAMES[mode].map((name) => choices.find(({ id }) => name.test(id))).find((each) => each);
    return found !== undefined && found.id === current;
  };
  return MODES.find(isIt);
}

/** The models that it lets one choose. */
export function modelsIn(session: JsonObject): readonly Choice[] {
  const option = optionOf(session, "model");
  if (option !== undefined) return choicesIn(option["options"], "value");
  return choicesIn(object(session["models"])["availableModels"], "modelId");
}

export function currentModel(session: JsonObject): string | undefined {
  const value = optionOf(session, "model")?.["currentValue"] ?? object(session["models"])["currentModelId"];
  return typeof value === "string" ? value : undefined;
}

/** How hard it may think, and does. */
export function effortsIn(session: JsonObject): {
  readonly efforts: readonly string[];
  readonly current?: string;
} {
  const option = optionOf(session, "thought_level");
  const current = option?.["currentValue"];
  const efforts = choicesIn(option?.["options"], "value").map(({ id }) => id);
  return { efforts, ...(typeof current === "string" ? { current } : {}) };
}

/** How an effort is set; a text: why it cannot be. */
export function effortSetting(
  session: JsonObject,
  sessionId: string,
  effort: string,
): Setting | string | undefined {
  const { efforts, current } = effortsIn(session);
  if (efforts.length === 0) return "You cannot choose this agent's effort.";
  if (!efforts.includes(effort)) return `This agent has no effort ${effort}: ${efforts.join(", ")}`;
  const option = optionOf(session, "thought_level");
  return effort === current ? undefined : optionSetting(sessionId, jsonText(option?.["id"]), effort);
}

/** The session after a setting was accepted, if the answer does not contain it. */
export function settled(session: JsonObject, { method, params }: Setting, answer: Json): JsonObject {
  const told = object(answer)["configOptions"];
  if (Array.isArray(told)) return { ...session, configOptions: told as Json };
  if (method === "session/set_mode") return inMode(session, jsonText(params["modeId"]));
  if (method === "session/set_model")
    return {
      ...session,
      models: { ...object(session["models"]), currentModelId: params["modelId"] ?? null },
    };
  const configOptions = list(session["configOptions"]).map((each) =>
    object(each)["id"] === params["configId"]
      ? { ...object(each), currentValue: params["value"] ?? null }
      : each,
  );
  return { ...session, configOptions };
}

/** How a model is set; a text: why it cannot be. */
export function modelSetting(
  session: JsonObject,
  sessionId: string,
  model: string,
): Setting | string | undefined {
  const option = optionOf(session, "model");
  const choices = modelsIn(session);
  if (choices.length === 0) return "You cannot choose this agent's model.";
  const found = choices.find(({ id }) => id === model) ?? choices.find(({ name }) => name === model);
  if (found === undefined) {
    const known = choices.slice(0, 20).map(({ id }) => id);
    return `This agent has no model ${model}: ${known.join(", ")}${choices.length > 20 ? ", …" : ""}`;
  }
  if (found.id === currentModel(session)) return undefined;
  if (option !== undefined) return optionSetting(sessionId, jsonText(option["id"]), found.id);
  return { method: "session/set_model", params: { sessionId, modelId: found.id } };
}

/** What is chosen for a turn. Empty: the agent's own. */
export interface Wish {
  readonly model?: string | undefined;
  readonly effort?: string | undefined;
}

/** The model and the effort that differ. */
export function changed(before: JsonObject, after: JsonObject): Wish {
  const model = currentModel(after);
  const { current: effort } = effortsIn(after);
  return {
    ...(model === currentModel(before) ? {} : { model }),
    ...(effort === effortsIn(before).current ? {} : { effort }),
  };
}

/** With the agent's own, as its session had them at `first`, for what was `set` since and is not chosen now. */
export function withUsual({ model, effort }: Wish, set: Wish, first: JsonObject, session: JsonObject): Wish {
  const own = set.model === undefined ? undefined : currentModel(first);
  const { current: usual = "" } = effortsIn(first);
  const isKept = set.effort === undefined || model !== undefined;
  return {
    model: model ?? (modelsIn(session).some(({ id }) => id === own) ? own : undefined),
    effort: effort ?? (isKept || !effortsIn(session).efforts.includes(usual) ? undefined : usual),
  };
}

/** Some agents have their modes twice: as modes, and as an option. */
export function inMode(session: JsonObject, mode: string): JsonObject {
  const configOptions = list(session["configOptions"]).map((each) =>
    object(each)["category"] === "mode" ? { ...object(each), currentValue: mode } : each,
  );
  return {
    ...session,
    ...(session["modes"] === undefined
      ? {}
      : { modes: { ...object(session["modes"]), currentModeId: mode } }),
    ...(session["configOptions"] === undefined ? {} : { configOptions }),
  };
}

function optionSetting(sessionId: string, configId: string, value: string): Setting {
  return { method: "session/set_config_option", params: { sessionId, configId, value } };
}

function modesOf(session: JsonObject): {
  readonly choices: readonly Choice[];
  readonly current: Json | undefined;
  readonly option: string | undefined;
} {
  const modes = object(session["modes"]);
  const own = choicesIn(modes["availableModes"], "id");
  if (own.length > 0) return { choices: own, current: modes["currentModeId"], option: undefined };
  const option = optionOf(session, "mode");
  const id = option === undefined ? undefined : jsonText(option["id"]);
  return { choices: choicesIn(option?.["options"], "value"), current: option?.["currentValue"], option: id };
}

function optionOf(session: JsonObject, category: string): JsonObject | undefined {
  return list(session["configOptions"])
    .map(object)
    .find((each) => each["category"] === category);
}

/** Choices may come in groups. */
function choicesIn(value: Json | undefined, key: string): readonly Choice[] {
  return list(value)
    .map(object)
    .flatMap((each) => [each, ...list(each["options"]).map(object)])
    .flatMap((each) => {
      const id = each[key];
      return typeof id === "string" ? [{ id, name: jsonText(each["name"] ?? id) }] : [];
    });
}

function object(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}

function list(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}
