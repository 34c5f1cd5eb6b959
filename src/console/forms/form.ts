import { Failure } from "../client.ts";
import { type Child, fill, h } from "../dom/dom.ts";
import { failureText } from "../dom/failure-text.ts";
import { prose } from "../dom/pieces.ts";
import { showWorking } from "../dom/waiting.ts";
import { type Field, type Parsed, parseText, type Row, toText } from "./fields.ts";
import { finder, nameChosen, offerIn, optionsOf } from "./finder.ts";
import { type Outlet, outletsInput } from "./outlets-input.ts";

export interface FormPlan {
  readonly fields: readonly Field[];
  /** Fields that few need: behind a line that opens them. */
  readonly rarely?: readonly Field[];
  readonly values: Row;
  readonly submit: string;
  /** Where Cancel leads, if there is one. */
  readonly back?: string;
  /**
   * `given` is what the form holds, `changes` what is other than at first, where `null` clears. A failure with details is
   * shown beside the fields that it names.
   */
  readonly save: (given: Row, changes: Row) => Promise<void>;
}

/** A form whose fields stay as they were typed until `save` has gone well. Until then its page is not left unasked. */
export function recordForm({ fields, rarely = [], values, submit, back, save }: FormPlan): HTMLElement {
  const marksOptional = fields.some(({ isRequired }) => isRequired);
  const inputs = [...fields, ...rarely].map((field) => createInput(field, values[field.name], marksOptional));
  // As the page holds it: an input keeps no line break, and a text area writes all of them alike.
  const held = () => inputs.map(({ read }) => JSON.stringify(read()));
  const before = held();
  let sent: readonly string[] = before;
  const failure = h("p", { class: "problem", role: "alert" });
  const button = h("button", { class: "primary" }, submit);
  const send = async () => {
    const parsed = inputs.map(({ name, read }) => [name, read()] as const);
    if (showProblems(inputs, problemsOf(parsed))) return;
    const values = parsed.map(([name, one]) => [name, "value" in one ? one.value : undefined] as const);
    const given = values.filter(([, value]) => value !== undefined);
    const sending = held();
    const changed = values.filter((_, index) => JSON.stringify(parsed[index]?.[1]) !== before[index]);
    const changes = changed.map(([name, value]) => [name, value ?? null] as const);
    try {
      await showWorking(button, () => save(Object.fromEntries(given), Object.fromEntries(changes)));
      sent = sending;
    } catch (error) {
      fill(failure, summaryOf(error, inputs));
      if (error instanceof Failure) showProblems(inputs, error.details);
    }
  };
  const onsubmit = (event: Event) => {
    event.preventDefault();
    fill(failure);
    void send();
  };
  const onleave = (event: Event) => {
    const isUnsent = held().some((text, index) => text !== sent[index]);
    if (isUnsent) event.preventDefault();
  };
  const giveUp = () => {
    sent = held();
  };
  const cancel = back !== undefined && h("a", { class: "button", href: back, onclick: giveUp }, "Cancel");
  return h(
    "form",
    { class: "record", novalidate: true, onsubmit, onleave },
    boxesOf(inputs, fields.length),
    failure,
    h("div", { class: "actions" }, button, cancel),
  );
}

/** The first ones, and a line that opens the others. */
function boxesOf(inputs: readonly Input[], first: number): Child {
  const boxes = inputs.map(({ box }) => box);
  const more = boxes.slice(first);
  return [
    boxes.slice(0, first),
    more.length > 0 && h("details", {}, h("summary", {}, `More settings (${more.length})`), more),
  ];
}

interface Input {
  readonly name: string;
  readonly box: HTMLElement;
  readonly read: () => Parsed;
  readonly showProblem: (text: string) => void;
  readonly focus: () => void;
}

function createInput(field: Field, value: unknown, marksOptional: boolean): Input {
  const { name, label, hint, isRequired } = field;
  const { element, target = element, read } = controlOf(field, value);
  const problem = h("p", { id: `problem-${name}`, class: "problem" });
  const asks = isRequired || !marksOptional ? label : [label, h("span", { class: "hint" }, " optional")];
  return {
    name,
    read,
    box: h(
      "div",
      { class: "field" },
      h("label", { for: `field-${name}` }, asks),
      element,
      problem,
      hint !== undefined && h("p", { id: `hint-${name}`, class: "hint" }, prose(hint)),
    ),
    showProblem(text) {
      problem.textContent = text;
      if (text === "") target.removeAttribute("aria-invalid");
      else target.setAttribute("aria-invalid", "true");
    },
    focus: () => {
      element.closest("details")?.setAttribute("open", "");
      target.focus();
    },
  };
}

interface Control {
  readonly element: HTMLElement;
  /** What gets the focus, and is marked; absent: the element. */
  readonly target?: HTMLElement;
  readonly read: () => Parsed;
}

function controlOf(field: Field, value: unknown): Control {
  if (field.kind !== "outlets") {
    const input = textControl(field, toText(value, field.kind));
    const file = () => (input instanceof HTMLInputElement ? input.files?.[0] : undefined);
    const read = () => ({ ...parseText(field, input.value), ...fileValue(file()) });
    return { element: withFinder(field, input), target: input, read };
  }
  const outlets = (value ?? []) as readonly Outlet[];
  const offered = { choices: field.choices ?? [], find: field.find };
  const { element, read } = outletsInput(`field-${field.name}`, offered, outlets);
  const target = element.querySelector("select") ?? element;
  target.setAttribute("aria-describedby", describedBy(field));
  return { element, target, read: () => ({ value: read() }) };
}

/** Choices that are not all there are, and the way to the others. */
function withFinder({ name, choices = [], find }: Field, input: HTMLElement): HTMLElement {
  if (!find || !(input instanceof HTMLSelectElement)) return input;
  nameChosen(input, find);
  const offer = (found = choices) => offerIn(input, found);
  return h("div", {}, input, finder({ id: `field-${name}-find`, name, find, offer }));
}

function fileValue(file: File | undefined): object {
  return file ? { value: file } : {};
}

function textControl(field: Field, text: string) {
  const { name, kind, choices = [], isRequired, otherwise } = field;
  const props = {
    id: `field-${name}`,
    name,
    autocomplete: "off",
    spellcheck: "false",
    placeholder: otherwise,
    "aria-required": isRequired && "true",
    "aria-describedby": describedBy(field),
  };
  if (kind === "choice") {
    const nothing = isRequired ? "Choose …" : otherwise ? `default: ${otherwise}` : "–";
    const options = optionsOf(choices, text);
    return h("select", props, h("option", { value: "" }, nothing), options);
  }
  if (kind === "long" || kind === "lines" || kind === "json") {
    const rows = Math.min(12, Math.max(3, text.split("\n").length));
    return h("textarea", { ...props, rows }, text);
  }
  if (kind === "file") return h("input", { ...props, type: "file" });
  if (kind === "time") return h("input", { ...props, type: "datetime-local", step: 1, value: text });
  if (kind === "secret") return h("input", { ...props, type: "password", autocomplete: "new-password" });
  return h("input", { ...props, inputmode: kind === "number" && "decimal", value: text });
}

function describedBy({ name, hint }: Field): string {
  return hint === undefined ? `problem-${name}` : `problem-${name} hint-${name}`;
}

function problemsOf(parsed: readonly (readonly [string, Parsed])[]): Readonly<Record<string, string>> {
  return Object.fromEntries(parsed.flatMap(([name, one]) => ("problem" in one ? [[name, one.problem]] : [])));
}

/** Whether there was one to show. A problem of a part (`connectors.0`) belongs to its field. */
function showProblems(inputs: readonly Input[], problems: Readonly<Record<string, string>>): boolean {
  const texts = inputs.map(({ name }) => {
    const parts = Object.entries(problems).filter(([path]) => isOf(path, name));
    return parts
      .map(([path, text]) => (path === name || path === `config.${name}` ? text : `${path}: ${text}`))
      .join("; ");
  });
  inputs.forEach(({ showProblem }, index) => {
    showProblem(texts[index] ?? "");
  });
  const first = texts.findIndex((text) => text !== "");
  inputs[first]?.focus();
  return first >= 0;
}

/** `config.` is where connectors have their fields. */
function isOf(path: string, name: string): boolean {
  const inner = path.replace(/^config\./, "");
  return inner === name || inner.startsWith(`${name}.`);
}

/** Details are told beside their fields; those of no field are told here. */
function summaryOf(error: unknown, inputs: readonly Input[]): string {
  if (!(error instanceof Failure)) return failureText(error);
  const others = Object.entries(error.details).filter(
    ([path]) => !inputs.some(({ name }) => isOf(path, name)),
  );
  const isAllBeside = Object.keys(error.details).length > 0 && others.length === 0;
  const text = failureText(new Failure(error.status, error.message, Object.fromEntries(others)));
  return isAllBeside ? `${text}: see the fields above` : text;
}
