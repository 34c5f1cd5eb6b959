import { Failure, type Page } from "../client.ts";
import { type Child, h } from "../dom/dom.ts";
import { failureText } from "../dom/failure-text.ts";
import { isoOfLocal, localOfIso } from "../dom/times.ts";
import { goTo } from "../go-to.ts";
import { type Place, type Query, toHash } from "../place.ts";
import type { Choice, Choices, FindChoices } from "./choices.ts";
import { finder, offerIn, optionsOf } from "./finder.ts";

/** A field above a list. `choices`: value and text; the empty value is "all". */
export interface Filter {
  readonly name: string;
  readonly label: string;
  readonly choices?: Choices;
  /** Finds others; absent: there are none. */
  readonly find?: FindChoices;
  /** Offered after the choices, and after those that were found. */
  readonly last?: Choice;
  readonly isTime?: boolean;
  /** Shown in the field as long as it is empty. */
  readonly placeholder?: string;
  /** What is chosen if the place says nothing. */
  readonly otherwise?: string;
}

/** What a list is narrowed by. It all stays in the address, so that Back, reload and bookmarks work. */
export function filterForm({ path, query }: Place, filters: readonly Filter[]): HTMLElement {
  const hasText = filters.some(({ choices }) => choices === undefined);
  const go = (form: HTMLFormElement) => {
    goTo(toHash(path, readFilters(form, filters, query)));
  };
  const form = h(
    "form",
    {
      class: "filters",
      onsubmit: (event) => {
        event.preventDefault();
        go(form);
      },
      onchange: ({ target }) => target instanceof HTMLSelectElement && go(form),
    },
    filters.map((filter) => fieldOf(filter, query[filter.name] ?? filter.otherwise)),
    hasText && h("button", { id: "filter-apply" }, "Show"),
  );
  return form;
}

/** What is typed above a list while its rows are read again. The function puts it into the fields that have come since. */
export function holdTyped(page: Element): () => void {
  const fields = [...page.querySelectorAll<HTMLInputElement>("form.filters input")];
  const typed = fields.filter((field) => meantBy(field, field.value) !== meantBy(field, field.defaultValue));
  return () => {
    for (const { id, value } of typed) {
      const field = page.querySelector<HTMLInputElement>(`#${id}`);
      if (!field) continue;
      field.value = value;
      field.dispatchEvent(new Event("input"));
    }
  };
}

/** Blanks at the ends mean nothing, and seconds that are zero are dropped by the browser: neither makes a field typed in. */
function meantBy({ type }: HTMLInputElement, text: string): string {
  return type === "datetime-local" ? isoOfLocal(text) : text.trim();
}

function fieldOf(filter: Filter, value: string | undefined): Child {
  const { name, label, choices = [], find, last } = filter;
  const input = inputOf(filter, value);
  const offer = (found = choices) =>
    input instanceof HTMLSelectElement && offerIn(input, withLast(found, last));
  return [h("label", {}, label, input), find && finder({ id: `filter-${name}-find`, name, find, offer })];
}

function inputOf({ name, choices, last, isTime, placeholder }: Filter, value = ""): HTMLElement {
  const id = `filter-${name}`;
  if (choices) return h("select", { id, name }, optionsOf(withLast(choices, last), value));
  if (isTime) return h("input", { id, name, type: "datetime-local", step: 1, value: localOfIso(value) });
  return h("input", { id, name, value, placeholder, autocomplete: "off", spellcheck: "false" });
}

function withLast(choices: Choices, last: Choice | undefined): Choices {
  return last ? [...choices, last] : choices;
}

/** Finds records by a part of what they are called, which `calledBy` says in words. */
export function searchFilter(calledBy: string): Filter {
  return { name: "search", label: "Search", placeholder: `part of its ${calledBy}` };
}

function readFilters(form: HTMLFormElement, filters: readonly Filter[], before: Query): Query {
  const given = new FormData(form);
  return Object.fromEntries(
    filters.map(({ name, isTime }) => {
      const text = String(given.get(name) ?? "").trim();
      return [name, isTime ? isoOfField(text, before[name]) : text];
    }),
  );
}

/** Whoever leaves a time as it is means the same time, also where a clock shows that twice, and to the millisecond. */
function isoOfField(text: string, before = ""): string {
  const iso = isoOfLocal(text);
  return iso !== "" && iso === isoOfLocal(localOfIso(before)) ? before : iso;
}

/** A filter that the service refuses makes an empty list that says why: the filters stay, to be mended. */
export async function readFiltered<Row>(
  reading: Promise<Page<Row>>,
): Promise<Page<Row> & { readonly said: string; readonly problem?: Child }> {
  try {
    const page = await reading;
    return { ...page, said: saidOf(page) };
  } catch (error) {
    if (!(error instanceof Failure) || error.status !== 400) throw error;
    return { data: [], said: "", problem: h("p", { class: "problem", role: "alert" }, failureText(error)) };
  }
}

/** How many there are, for those who do not see a list change. */
function saidOf({ data: { length }, next }: Page<unknown>): string {
  const count = length === 0 ? "None" : length.toLocaleString("en");
  return next === undefined ? `${count} shown` : `${count} shown, and there is another page`;
}

/** Links to the first and the following page of a list. `name`: the parameter that takes a page's `next`. */
export function pager({ path, query }: Place, name: string, next: string | undefined): Child {
  const { [name]: cursor, ...rest } = query;
  if (cursor === undefined && next === undefined) return undefined;
  return h(
    "p",
    { class: "pager" },
    cursor !== undefined && h("a", { class: "button", href: toHash(path, rest) }, "First page"),
    next !== undefined &&
      h("a", { class: "button", href: toHash(path, { ...rest, [name]: next }) }, "Next page"),
  );
}
