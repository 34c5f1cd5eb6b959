import { h } from "../dom/dom.ts";

export interface Outlet {
  readonly connector_id: string;
  readonly weight?: number;
}

export interface OutletsInput {
  readonly element: HTMLElement;
  readonly read: () => readonly object[];
}

type Choices = readonly (readonly [id: string, name: string])[];

/** The connectors of a route, in the order they are tried: a line for each, and always an empty one after them. */
export function outletsInput(id: string, choices: Choices, outlets: readonly Outlet[]): OutletsInput {
  const element = h("div", { class: "outlets" });
  const addLine = (outlet?: Outlet) => {
    const line = outletLine(choices, outlet, element.childElementCount + 1);
    if (element.childElementCount === 0) line.querySelector("select")?.setAttribute("id", id);
    element.append(line);
  };
  for (const outlet of outlets) addLine(outlet);
  addLine();
  element.addEventListener("change", () => {
    if (element.lastElementChild?.querySelector("select")?.value) addLine();
  });
  return { element, read: () => [...element.children].flatMap(readLine) };
}

function outletLine(choices: Choices, outlet: Outlet | undefined, position: number): HTMLElement {
  const options = choices.map(([value, name]) =>
    h("option", { value, selected: value === outlet?.connector_id }, name),
  );
  // One beyond those that are listed stays what it is.
  const other = outlet?.connector_id;
  if (other !== undefined && !choices.some(([value]) => value === other))
    options.push(h("option", { value: other, selected: true }, other));
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
