/**
 * Which model is asked, and how much it thinks: the agent's own list, narrowed by typing. A name that is not in it can be asked for
 * as it is typed; the agent's default is the first.
 */
import { type KeyboardEvent, type ReactNode, useId, useState } from "react";
import { isComposing } from "../ui/composing.ts";
import { best } from "../ui/fits.ts";
import { Icon } from "../ui/icons.tsx";
import type { AgentModel, Offers } from "./agents.ts";
import { Picker } from "./picker.tsx";

interface ModelPickerProps {
  readonly offers: Offers;
  readonly model: string | undefined;
  readonly effort: string | undefined;
  readonly onModel: (model: string | undefined) => void;
  readonly onEffort: (effort: string | undefined) => void;
  readonly onOpen: () => void;
}

export function ModelPicker(props: ModelPickerProps): ReactNode {
  const { offers, model, effort, onOpen } = props;
  const chosen = modelOf(offers, model);
  return (
    <Picker
      label="Model"
      icon="spark"
      role="dialog"
      text={model === undefined ? "Default model" : (chosen?.name ?? model)}
      detail={effort}
      isUsual={model === undefined && effort === undefined}
      onOpen={onOpen}
    >
      {(close) => <Models {...props} close={close} />}
    </Picker>
  );
}

interface Choice {
  readonly id: string | undefined;
  readonly name: string;
  readonly description?: string | undefined;
}

function Models(props: ModelPickerProps & { readonly close: () => void }): ReactNode {
  const { offers, model, effort, onModel, onEffort, close } = props;
  const [query, setQuery] = useState("");
  const [at, setAt] = useState(0);
  const id = useId();
  const shown = choicesOf(offers, model, query);
  const walked = Math.min(at, shown.length - 1);
  const choose = (choice: Choice | undefined) => {
    if (choice === undefined) return;
    onModel(choice.id);
    close();
  };
  const onKey = (event: KeyboardEvent) => {
    if (isComposing(event.nativeEvent)) return;
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step === 0 && event.key !== "Enter") return;
    event.preventDefault();
    if (step === 0) choose(shown[walked]);
    else setAt(Math.max(0, Math.min(shown.length - 1, walked + step)));
  };
  const efforts = modelOf(offers, model)?.efforts ?? [];
  return (
    <>
      <input
        className="picker-field"
        role="combobox"
        aria-label="Find or enter a model"
        aria-expanded
        aria-controls={id}
        aria-activedescendant={shown.length > 0 ? `${id}-${walked}` : undefined}
        placeholder="Find or enter a model"
        spellCheck={false}
        maxLength={200}
        value={query}
        onChange={(event) => {
          setQuery(event.target.value);
          setAt(0);
        }}
        onKeyDown={onKey}
      />
      <Options {...{ id, shown, walked, model }} onChoose={choose} />
      {efforts.length > 0 && (
        <Efforts name={`${id}-effort`} efforts={efforts} chosen={effort} onChoose={onEffort} close={close} />
      )}
    </>
  );
}

interface OptionsProps {
  readonly id: string;
  readonly shown: readonly Choice[];
  readonly walked: number;
  readonly model: string | undefined;
  readonly onChoose: (choice: Choice) => void;
}

function Options({ id, shown, walked, model, onChoose }: OptionsProps): ReactNode {
  return (
    <div id={id} className="picker-options" role="listbox" aria-label="Models">
      {shown.map((choice, i) => (
        // biome-ignore lint/a11y/useFocusableInteractive: the field above keeps the focus
        // biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the keys
        <div
          key={choice.id ?? ""}
          id={`${id}-${i}`}
          role="option"
          aria-selected={i === walked}
          className="picker-item"
          onClick={() => onChoose(choice)}
        >
          <span className="picker-item-main">
            <span className="picker-item-name">{choice.name}</span>
            {choice.description && <span className="picker-item-more">{choice.description}</span>}
          </span>
          <Icon name="check" className={choice.id === model ? "" : "unseen"} />
        </div>
      ))}
    </div>
  );
}

interface EffortsProps {
  readonly name: string;
  readonly efforts: readonly string[];
  readonly chosen: string | undefined;
  readonly onChoose: (effort: string | undefined) => void;
  readonly close: () => void;
}

function Efforts({ name, efforts, chosen, onChoose, close }: EffortsProps): ReactNode {
  return (
    <fieldset className="efforts">
      <legend>Effort</legend>
      {[undefined, ...efforts].map((each) => (
        <label key={each ?? ""} className={each === chosen ? "effort chosen" : "effort"}>
          <input
            type="radio"
            name={name}
            checked={each === chosen}
            onChange={() => onChoose(each)}
            onKeyDown={(event) => {
              if (event.key === "Enter") close();
            }}
          />
          {each ?? "default"}
        </label>
      ))}
    </fieldset>
  );
}

/** The effective model: the chosen one, or the agent's default. */
function modelOf({ models = [] }: Offers, model: string | undefined): AgentModel | undefined {
  if (model !== undefined) return models.find(({ id }) => id === model);
  return models.find(({ isDefault, id }) => isDefault === true || id === "default");
}

/** The default, the agent's models, and the typed text if no model has that name. */
function choicesOf(offers: Offers, model: string | undefined, query: string): readonly Choice[] {
  const usual = modelOf(offers, undefined);
  const named = (offers.models ?? []).filter(({ id }) => id !== "default");
  const isUnknown = model !== undefined && !named.some(({ id }) => id === model);
  const all: readonly Choice[] = [
    { id: undefined, name: "Default model", description: usual && defaultWords(usual) },
    ...named,
    ...(isUnknown ? [{ id: model, name: model, description: "Entered by you" }] : []),
  ];
  const found = best(all, ({ name, id }) => `${name} ${id ?? ""}`, query);
  const typed = query.trim();
  const isNamed = typed === "" || all.some(({ id, name }) => id === typed || name === typed);
  return isNamed ? found : [...found, { id: typed, name: `Use “${typed}”` }];
}

function defaultWords({ id, name, description }: AgentModel): string {
  if (id === "default") return description ?? name;
  return description === undefined ? name : `${name}: ${description}`;
}
