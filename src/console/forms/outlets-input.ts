import { h } from "../dom/dom.ts";
import type { Choices, FindChoices } from "./choices.ts";
import { finder, nameChosen, offerIn, optionsOf } from "./finder.ts";

export interface Outlet {
  readonly connector_id: string;
  readonly weight?: number;
}

export interface OutletsInput {
  readonly element: HTMLElement;
  readonly read: () => readonly object[];
}

interface Offered {
  readonly choices: Choices;
  /** Finds others, for all lines at once. */
  readonly find?: FindChoices | undefined;
}

/** The connectors of a route, in the order they are tried: a line for each, and always an empty one after them. */
export function outletsInput(
  id: string,
  { choices, find }: Offered,
  outlets: readonly Outlet[],
): OutletsInput {
  const lines = h("div", { class: "outlets" });
  let offered = choices;
  const addLine = (outlet?: Outlet) => {
    const line = outletLine(offered, outlet, lines.childElementCount + 1);
    if (lines.childElementCount === 0) line.querySelector("select")?.setAttribute("id", id);
    lines.append(line);
  };
  for (const outlet of outlets) addLine(outlet);
  addLine();
  lines.addEventListener("change", () => {
    if (lines.lastElementChild?.querySelector("select")?.value) addLine();
  });
  const offer = (found = choices) => {
    offered = found;
    for (const select of lines.querySelectorAll("select")) offerIn(select, found);
  };
  if (find) for (const select of lines.querySelectorAll("select")) nameChosen(select, find);
  const element = find
    ? h("div", {}, lines, finder({ id: `${id}-find`, name: "connectors", find, offer }))
    : lines;
  return { element, read: () => [...lines.children].flatMap(readLine) };
}

function outletLine(choices: Choices, outlet: Outlet | undefined, position: number): HTMLElement {
  const options = optionsOf(choices, outlet?.connector_id ?? "");
  return h(
    "div",
    {},
    h("select", { "aria-label": `Connector ${position}` }, h("option", { value: "" }, "–"), options),
    h("input", {
      inputmode: "numeric",
      placeholder: "weight",
      "aria-label": `Weight of connector ${position}`,
      value: outlet?.weight,
    }),
  );
}

/** What cannot be right is read as it is: the service says what is wrong with it. */
function readLine(line: Element): readonly object[] {
  const connector_id = line.querySelector("select")?.value ?? "";
  const text = line.querySelector("input")?.value.trim() ?? "";
  if (connector_id === "" && text === "") return [];
  const weight = Number.isNaN(Number(text)) ? text : Number(text);
  return [{ connector_id, ...(text !== "" && { weight }) }];
}
