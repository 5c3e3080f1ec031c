/**
 * The known state of a session: its agent, folder, mode, models, options and commands, from answers and updates. A
 * change is emitted as a `session` event with everything that is known; repeated values emit nothing.
 */

import type { Json, JsonObject } from "@blockyard/kernel";
import { bounds } from "../limits.ts";
import { given, listOf, objectOf, textOf, wordsOf } from "../read.ts";
import { cutRow } from "../row.ts";
import type { Out, Session, State } from "./state.ts";

/** The answer of `initialize`: who the agent is and what it can. */
export function agentDetails(result: JsonObject): JsonObject {
  const { name, title, version } = objectOf(result.agentInfo);
  const logins = listOf(result.authMethods).map(objectOf).map(loginOf);
  return given({
    name: wordsOf(name),
    title: wordsOf(title),
    version: wordsOf(version),
    protocol: typeof result.protocolVersion === "number" ? result.protocolVersion : undefined,
    logins: logins.length === 0 ? undefined : logins.slice(0, bounds.sessionNames),
  }) as JsonObject;
}

function loginOf(method: JsonObject): JsonObject {
  return given({
    id: wordsOf(method.id),
    name: wordsOf(method.name),
    description: wordsOf(method.description),
  }) as JsonObject;
}

/** The answer of session/new, load or resume. */
export function nameSession(
  state: State,
  out: Out,
  session: Session,
  params: JsonObject,
  result: JsonObject,
): void {
  session.details = { ...session.details, ...given({ cwd: wordsOf(params.cwd) }), ...settingsIn(result) };
  tellSession(state, out, session);
}

export function changeSession(state: State, out: Out, session: Session, details: JsonObject): void {
  const before = JSON.stringify(session.details);
  session.details = { ...session.details, ...details };
  if (JSON.stringify(session.details) !== before) tellSession(state, out, session);
}

/** Modes, models and options, in whichever of the three fields an agent has them. */
export function settingsIn(source: JsonObject): JsonObject {
  const options = listOf(source.configOptions).map(objectOf);
  const modes = objectOf(source.modes);
  const models = objectOf(source.models);
  const modeOption = options.find((option) => option.category === "mode");
  const modelOption = options.find((option) => option.category === "model");
  return given({
    mode: wordsOf(modes.currentModeId) ?? wordsOf(modeOption?.currentValue),
    modes: choices(modes.availableModes, "id") ?? choices(modeOption?.options, "value"),
    model: wordsOf(models.currentModelId) ?? wordsOf(modelOption?.currentValue),
    models: choices(models.availableModels, "modelId") ?? choices(modelOption?.options, "value"),
    options: optionsIn(options),
  }) as JsonObject;
}

function optionsIn(options: readonly JsonObject[]): Json | undefined {
  const others = options.filter(({ category }) => category !== "mode" && category !== "model");
  if (others.length === 0) return undefined;
  return others.slice(0, bounds.sessionNames).map(
    (option) =>
      given({
        id: wordsOf(option.id),
        name: wordsOf(option.name),
        value: option.currentValue ?? undefined,
        values: choices(option.options, "value"),
      }) as JsonObject,
  );
}

function choices(list: Json | undefined, key: string): Json | undefined {
  if (!Array.isArray(list)) return undefined;
  return listOf(list)
    .slice(0, bounds.sessionNames)
    .map(objectOf)
    .flatMap((each) => [each, ...listOf(each.options).map(objectOf)]) // options may come in groups
    .flatMap((each) => {
      const id = wordsOf(each[key]);
      return id === undefined ? [] : [given({ id, name: wordsOf(each.name) }) as JsonObject];
    });
}

export function commandsIn(update: JsonObject): JsonObject {
  const commands = listOf(update.availableCommands)
    .slice(0, bounds.sessionNames)
    .map(objectOf)
    .flatMap(({ name, description }) => {
      const said = textOf(name);
      if (said === undefined) return [];
      const what = wordsOf(description);
      return [
        given({
          name: cutRow(said, bounds.sessionNameChars),
          description: what === undefined ? undefined : cutRow(what),
        }) as JsonObject,
      ];
    });
  return { commands };
}

function tellSession(state: State, out: Out, session: Session): void {
  if (session.parent !== undefined) return;
  const { cwd, model, title, costUsd: _, ...details } = session.details;
  out.push({
    type: "session",
    provider: state.options.provider,
    sessionId: session.id,
    ...given({
      cwd: wordsOf(cwd),
      model: modelOf(wordsOf(model), details.models),
      title: wordsOf(title),
      version: wordsOf(state.agent.version),
    }),
    details: { ...details, ...given({ agent: wordsOf(state.agent.title) ?? wordsOf(state.agent.name) }) },
  });
}

/** A model's id; the name of one that the agent only has a placeholder for, such as Kimi's from its environment. */
function modelOf(id: string | undefined, models: Json | undefined): string | undefined {
  if (id === undefined || !/^__\w+__$/.test(id)) return id;
  const found = listOf(models)
    .map(objectOf)
    .find((model) => model.id === id);
  return wordsOf(found?.name) ?? id;
}
