/** Choices among records, and the way to those that are too many to be offered. */
import { type Child, fill, h } from "../dom/dom.ts";
import { failureText } from "../dom/failure-text.ts";
import type { Choices, FindChoices, Found } from "./choices.ts";

/** One that was chosen before, and is not among those that are offered, stays what it is. */
export function optionsOf(choices: Choices, chosen: string): readonly HTMLOptionElement[] {
  const isOffered = chosen === "" || choices.some(([value]) => value === chosen);
  const all: Choices = isOffered ? choices : [...choices, [chosen, chosen]];
  return all.map(([value, text]) => h("option", { value, selected: value === chosen }, text));
}

/** Offers other choices. What is chosen stays so, and the one for nothing stays first. */
export function offerIn(select: HTMLSelectElement, choices: Choices): void {
  const { value: chosen } = select;
  const kept = [...select.options].filter(({ value }) => value === "" || value === chosen);
  const others = choices.filter(([value]) => kept.every((option) => option.value !== value));
  fill(select, kept, optionsOf(others, ""));
  select.value = chosen;
}

/** Calls what is chosen by its name instead of its id. Without an answer it stays as it is. */
export function nameChosen(select: HTMLSelectElement, find: FindChoices): void {
  const [option] = select.selectedOptions;
  if (!option || option.value === "" || option.text !== option.value) return;
  const name = ({ choices }: Found) => {
    const text = choices.find(([value]) => value === option.value)?.[1];
    if (text !== undefined) option.text = text;
  };
  find(option.value).then(name, () => undefined);
}

interface Finder {
  readonly id: string;
  /** The field that it is for: `account_id`, `connectors`. */
  readonly name: string;
  readonly find: FindChoices;
  /** Is given what was found; `undefined` for no text: what was offered at first. */
  readonly offer: (choices: Choices | undefined) => void;
}

/** A field for a part of a name, beside choices of which there are more than are offered. */
export function finder({ id, name, find, offer }: Finder): HTMLElement {
  const said = h("span", { class: "hint", role: "status" });
  const look = async (text: string) => {
    const found = text === "" ? undefined : await find(text);
    offer(found?.choices);
    fill(said, found && countOf(found));
  };
  const input = h("input", {
    id,
    type: "search",
    placeholder: "part of its name",
    autocomplete: "off",
    spellcheck: "false",
    oninput: () => void lookAgain(),
    // It would send the form, before the choice.
    onkeydown: (event) => event instanceof KeyboardEvent && event.key === "Enter" && event.preventDefault(),
  });
  let isLooking = false;
  /** One request at a time: what is typed while it is answered is looked for after it. */
  const lookAgain = async () => {
    if (isLooking) return;
    isLooking = true;
    let text: string;
    do {
      text = input.value.trim();
      await look(text).catch((error: unknown) => fill(said, failureText(error)));
    } while (input.value.trim() !== text);
    isLooking = false;
  };
  return h(
    "div",
    { class: "finder" },
    h("label", {}, `Find another ${name.replace(/_id$|s$/, "")}`, input),
    said,
  );
}

/** Of those that there are beyond the first, any number may be meant. */
function countOf({ choices: { length }, hasMore }: Found): Child {
  const count = length === 0 ? "none" : length;
  return hasMore ? `${count} so far: type more` : `${count} found`;
}
