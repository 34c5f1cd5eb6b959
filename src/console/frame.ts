import { type Child, fill, h } from "./dom/dom.ts";
import { link } from "./dom/pieces.ts";
import type { View } from "./visit.ts";

export interface Frame {
  readonly element: HTMLElement;
  readonly main: HTMLElement;
  /** `first` is the first step of the place: the navigation marks it. */
  readonly show: (view: View, first: string) => void;
  /** Has a screen reader say something. */
  readonly say: (text: string) => void;
}

export interface NavigationGroup {
  readonly title?: string;
  readonly links: readonly { readonly name: string; readonly title: string }[];
}

/** Out of the console. */
export interface WayOut {
  readonly text: string;
  readonly leave: () => void;
}

/** The navigation, and the page beside it. */
export function createFrame(groups: readonly NavigationGroup[], ways: readonly WayOut[]): Frame {
  const menu = h(
    "button",
    { type: "button", class: "menu", "aria-expanded": "false", "aria-controls": "side" },
    "Menu",
  );
  const side = h(
    "nav",
    { id: "side", class: "side", "aria-label": "Pages" },
    groups.map(groupOf),
    h("a", { class: "docs", href: "/docs" }, "API documentation"),
    ways.map(({ text, leave }) => h("button", { type: "button", class: "plain", onclick: leave }, text)),
  );
  const open = (isOpen: boolean) => {
    side.classList.toggle("open", isOpen);
    menu.setAttribute("aria-expanded", String(isOpen));
  };
  menu.addEventListener("click", () => open(!side.classList.contains("open")));
  const main = h("main", { id: "main" });
  const skip = h(
    "button",
    { type: "button", class: "skip", onclick: () => focusTitle(main) },
    "Skip to the page",
  );
  // Is in the page before it says anything: otherwise nothing would be read out.
  const said = h("p", { id: "said", role: "status" });
  const bar = h("header", { class: "bar" }, h("a", { class: "brand", href: "#/" }, "Postrider"), menu);
  for (const part of [bar, side]) {
    part.addEventListener("keydown", ({ key }) => {
      if (key !== "Escape" || !side.classList.contains("open")) return;
      open(false);
      menu.focus();
    });
  }
  return {
    element: h("div", { class: "frame" }, skip, bar, side, main, said),
    main,
    show(view, first) {
      fill(main, headOf(view), view.content);
      document.title = `${view.title} · Postrider`;
      for (const each of side.querySelectorAll("a")) markCurrent(each, first);
      open(false);
    },
    say: (text) => fill(said, text),
  };
}

/** A screen reader says where one has come to, and Tab goes on from there. */
export function focusTitle(main: HTMLElement): void {
  main.querySelector("h1")?.focus({ preventScroll: true });
}

function headOf({ title, actions }: View): Child {
  return h(
    "header",
    { class: "head" },
    h("h1", { tabindex: -1 }, title),
    h("div", { class: "actions" }, actions),
  );
}

function groupOf({ title, links }: NavigationGroup): Child {
  const items = links.map(({ name, title: text }) => h("li", {}, link(name === "" ? [] : [name], text)));
  return [title !== undefined && h("h2", {}, title), h("ul", {}, items)];
}

function markCurrent(anchor: Element, first: string): void {
  if (anchor.getAttribute("href") === `#/${first}`) anchor.setAttribute("aria-current", "page");
  else anchor.removeAttribute("aria-current");
}
