/** A choice among a few values in a form: a button that shows the current one, and a menu of the others. */
import type { ReactNode } from "react";
import { Icon } from "./icons.tsx";
import { Menu, MenuChoice } from "./menu.tsx";

interface ChoiceProps<T extends string> {
  readonly label: string;
  readonly value: T;
  readonly options: readonly { readonly value: T; readonly name: string }[];
  /** Shown while none of them is chosen. */
  readonly placeholder?: string;
  /** The id of its description. */
  readonly describedBy?: string | undefined;
  readonly onChange: (value: T) => void;
}

export function Choice<T extends string>(props: ChoiceProps<T>): ReactNode {
  const { label, value, options, placeholder, describedBy, onChange } = props;
  const text = (
    <>
      <span className="sr-only">{label}: </span>
      {options.find((option) => option.value === value)?.name ?? placeholder}
      <Icon name="chevron" className="turned" />
    </>
  );
  return (
    <Menu label={label} text={text} className="choice" describedBy={describedBy}>
      {options.map((option) => (
        <MenuChoice
          key={option.value}
          type="radio"
          isOn={option.value === value}
          onChange={() => {
            onChange(option.value);
            // It is one question, and it is answered.
            document.activeElement?.closest<HTMLElement>("[popover]")?.hidePopover();
          }}
        >
          {option.name}
        </MenuChoice>
      ))}
    </Menu>
  );
}
