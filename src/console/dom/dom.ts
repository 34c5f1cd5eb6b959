/** Makes and changes the nodes of the page. Text is always text: nothing here parses HTML. */
export type Child = Node | string | number | undefined | false | readonly Child[];

type Prop = string | number | boolean | undefined | ((event: Event) => void);
export type Props = Readonly<Record<string, Prop>>;

/** One element. A function is a listener (`onclick`), `true` an attribute without a value; `false` and `undefined` are none. */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  props: Props = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) setProp(element, name, value);
  element.append(...nodesOf(children));
  return element;
}

/** Puts `children` in the place of everything that `element` holds. */
export function fill(element: Element, ...children: readonly Child[]): void {
  element.replaceChildren(...nodesOf(children));
}

/**
 * Like `fill`, but keeps the elements that are alike: focus, scroll positions and selections stay. Listeners of
 * `children` are not taken over, so what is refreshed this way has links, not buttons.
 */
export function refresh(element: Element, ...children: readonly Child[]): void {
  const wanted = nodesOf(children).map((child) =>
    typeof child === "string" ? document.createTextNode(child) : child,
  );
  const present = [...element.childNodes];
  wanted.forEach((node, index) => {
    refreshNode(element, present[index], node);
  });
  for (const extra of present.slice(wanted.length)) extra.remove();
}

function refreshNode(parent: Element, old: ChildNode | undefined, node: Node): void {
  if (old === undefined) {
    parent.append(node);
  } else if (old instanceof Element && node instanceof Element && old.tagName === node.tagName) {
    copyAttributes(node, old);
    refresh(old, ...node.childNodes);
  } else if (old instanceof Text && node instanceof Text) {
    if (old.data !== node.data) old.data = node.data;
  } else {
    old.replaceWith(node);
  }
}

function copyAttributes(from: Element, to: Element): void {
  for (const name of to.getAttributeNames()) if (!from.hasAttribute(name)) to.removeAttribute(name);
  for (const name of from.getAttributeNames()) {
    const value = from.getAttribute(name) ?? "";
    if (to.getAttribute(name) !== value) to.setAttribute(name, value);
  }
}

function setProp(element: Element, name: string, value: Prop): void {
  if (value === undefined || value === false) return;
  if (typeof value === "function") element.addEventListener(name.replace(/^on/, ""), value);
  else element.setAttribute(name, value === true ? "" : String(value));
}

function nodesOf(children: readonly Child[]): (Node | string)[] {
  return children.flatMap((child) => {
    if (child === undefined || child === false) return [];
    if (typeof child === "string" || child instanceof Node) return [child];
    return typeof child === "number" ? [String(child)] : nodesOf(child);
  });
}
