/** Small parts that all pages use. */
import { type Query, toHash } from "../place.ts";
import { type Child, h } from "./dom.ts";
import { agoText, timeText } from "./times.ts";

export function link(path: readonly string[], text: Child, query: Query = {}): HTMLElement {
  return h("a", { href: toHash(path, query) }, text);
}

/** A description of the API: what is in backquotes is code. */
export function prose(text: string): Child {
  return text.split("`").map((part, index) => (index % 2 === 0 ? part : h("code", {}, part)));
}

/** What has structure, as it is. */
export function json(value: unknown): Child {
  if (value === undefined) return undefined;
  const short = JSON.stringify(value);
  return short.length <= 80 ? h("code", {}, short) : h("pre", {}, JSON.stringify(value, null, 2));
}

/** A time, with all of it on hovering. */
export function time(iso: string | undefined): Child {
  return iso === undefined ? undefined : h("time", { datetime: iso, title: iso }, timeText(iso, new Date()));
}

export function ago(iso: string | undefined): Child {
  const props = { datetime: iso, title: iso, "data-ago": true };
  return iso === undefined ? undefined : h("time", props, agoText(iso, new Date()));
}

const MINUTE_MS = 60_000;

/** What was written today is of yesterday soon: a page may stay open for days. */
export function keepTimesTrue(): void {
  setInterval(() => {
    const now = new Date();
    for (const each of document.querySelectorAll("time")) {
      const text = (each.hasAttribute("data-ago") ? agoText : timeText)(each.dateTime, now);
      if (each.textContent !== text) each.textContent = text;
    }
  }, MINUTE_MS);
}

const GOOD = ["delivered", "done", "up", "verified", "approved", "ok", "live"];
const BAD = [
  "failed",
  "undelivered",
  "bounced",
  "expired",
  "down",
  "failing",
  "lapsed",
  "rejected",
  "blacklisted",
  "wrong",
  "incomplete",
];
const UNSURE = [
  "sending",
  "running",
  "connecting",
  "pending",
  "waiting",
  "unknown",
  "missing",
  "stopped",
  "held",
];

/** A word about a state. The colour only repeats what the word says. */
export function badge(state: string | undefined): Child {
  if (state === undefined) return undefined;
  const tone = GOOD.includes(state)
    ? "good"
    : BAD.includes(state)
      ? "bad"
      : UNSURE.includes(state)
        ? "unsure"
        : "plain";
  return h("span", { class: `badge ${tone}` }, state);
}

/** A text of strangers within a line. It may be written from right to left: it must not turn what is beside it. */
export function isolated(text: string): HTMLElement {
  return h("bdi", {}, text);
}

/** What one is called; a phone number stays on one line, however narrow its column. */
export function called(name: string): Child {
  return /^\+\d+$/.test(name) ? h("span", { class: "unbroken" }, name) : name;
}

/** Several in a row; nothing if there are none. */
export function joined(parts: readonly Child[], between: string): Child {
  return parts.length === 0 ? undefined : parts.map((part, index) => [index > 0 && between, part]);
}

/** An id, which one compares and copies rather than reads. */
export function id(text: string): Child {
  return h("code", { class: "id" }, text);
}

export function section(title: string, ...content: readonly Child[]): HTMLElement {
  return h("section", {}, h("h2", {}, title), content);
}

/** What a list says in place of rows. */
export function none(text: Child): HTMLElement {
  return h("p", { class: "none" }, text);
}

export interface Column<Row> {
  readonly head: string;
  readonly of: (row: Row) => Child;
  /**
   * `text` breaks lines; `line` only what is longer than an address usually is; `wide` breaks them too, and takes what room
   * there is, but only a few lines of it; `whole` shows all of them, where no other page does.
   */
  readonly kind?: "number" | "text" | "line" | "wide" | "whole";
}

/** A table in a box of its own, which scrolls where the window is narrow. */
export function table<Row>(
  label: string,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
): HTMLElement {
  const head = h(
    "tr",
    {},
    columns.map(({ head: text, kind }) => h("th", { scope: "col", class: kind }, text)),
  );
  const body = rows.map((row) =>
    h(
      "tr",
      {},
      columns.map(({ of, kind }) => h("td", { class: kind }, cell(of(row), kind))),
    ),
  );
  return h(
    "div",
    { class: "table", tabindex: 0, role: "region", "aria-label": label },
    h("table", {}, h("thead", {}, head), h("tbody", {}, body)),
  );
}

/** A long text takes a few lines of its row, not all of the page. A cell has no limit to its width, what is in it can have one. */
function cell(content: Child, kind: string | undefined): Child {
  if (kind === "wide") return h("div", { class: "clamp" }, content);
  return kind === "line" ? h("div", { class: "one-line" }, content) : content;
}

/** Names and values. What has no value is left out. */
export function facts(rows: readonly (readonly [string, Child])[]): HTMLElement {
  const given = rows.filter(([, value]) => value !== undefined && value !== false && value !== "");
  return h(
    "dl",
    { class: "facts" },
    given.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))),
  );
}
