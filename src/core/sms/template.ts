/** What a placeholder accepts: `var` accepts anything, the others what the DLT tags of the same names mean. */
export const PLACEHOLDER_KINDS = ["var", "numeric", "alphanumeric", "url", "urlott", "cbn", "email"] as const;
export type PlaceholderKind = (typeof PLACEHOLDER_KINDS)[number];

export interface Placeholder {
  /** The variable that fills it: "1", "2", … */
  readonly name: string;
  readonly kind: PlaceholderKind;
}

export type Variables = Readonly<Record<string, string | number>>;

/** The text of a filled template; or the variables that the template needs and that were not given, each once. */
export type Rendered = { readonly text: string } | { readonly missing: readonly string[] };

/**
 * Fills a template. `{#var#}` and the tagged forms take the variables "1", "2", … in order of appearance; `{{1}}` takes the
 * one that it names. Values are inserted as they are, and never read as templates.
 */
export function renderTemplate(template: string, variables: Variables): Rendered {
  const missing = new Set<string>();
  const text = fill(template, ({ name }) => {
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
    if (value === undefined) missing.add(name);
    return value === undefined ? "" : valueText(value);
  });
  return missing.size === 0 ? { text } : { missing: [...missing] };
}

/** A value as it stands in a text. A number is written out, where JavaScript would write one below a millionth as `1.2e-7`. */
export function valueText(value: string | number): string {
  const text = String(value);
  const small = typeof value === "number" ? SMALL_NUMBER.exec(text) : null;
  if (!small) return text;
  const [, sign, first, rest = "", exponent] = small;
  return `${sign}0.${"0".repeat(Number(exponent) - 1)}${first}${rest}`;
}

const SMALL_NUMBER = /^(-?)(\d)(?:\.(\d+))?e-(\d+)$/;

/** The placeholders in order of appearance; those with the same name and kind only once. */
export function templatePlaceholders(template: string): readonly Placeholder[] {
  const found = new Map<string, Placeholder>();
  fill(template, (placeholder) => {
    const identity = `${placeholder.name} ${placeholder.kind}`;
    if (!found.has(identity)) found.set(identity, placeholder);
    return "";
  });
  return [...found.values()];
}

/** The text of a template without its placeholders. */
export function templateText(template: string): string {
  return fill(template, () => "");
}

/**
 * `{#tag#}` as registered on DLT portals, with any tag: portals introduce new ones, and none may reach a handset unfilled.
 * `#number#` is how one portal (STPL) writes `{#numeric#}`.
 */
const PLACEHOLDER = /\{#([A-Za-z]{1,20})#\}|#number#|\{\{([1-9][0-9]*)\}\}/g;

const KINDS: Readonly<Record<string, PlaceholderKind>> = {
  var: "var",
  numeric: "numeric",
  number: "numeric",
  alphanumeric: "alphanumeric",
  url: "url",
  urlott: "urlott",
  cbn: "cbn",
  email: "email",
};

function fill(template: string, textFor: (placeholder: Placeholder) => string): string {
  let inOrder = 0;
  return template.replace(PLACEHOLDER, (_, tag: string | undefined, number: string | undefined) => {
    if (number !== undefined) return textFor({ name: number, kind: "var" });
    inOrder++;
    return textFor({ name: String(inOrder), kind: kindOf(tag ?? "number") });
  });
}

function kindOf(tag: string): PlaceholderKind {
  const lower = tag.toLowerCase();
  return (Object.hasOwn(KINDS, lower) ? KINDS[lower] : undefined) ?? "var";
}
