import type { ErrorCollector } from "../body/field-errors.ts";
import { isLonger } from "../body/text-rules.ts";
import { parseEmailAddress } from "../email/email-address.ts";
import type { DltEntity } from "../records/accounts.ts";
import { type PlaceholderKind, templatePlaceholders, type Variables, valueText } from "../sms/template.ts";

export interface DltValues {
  readonly variables: Variables;
  /** Absent if the provider renders the text by the template id. */
  readonly template?: { readonly body: string; readonly variableTags?: readonly PlaceholderKind[] };
  /** The entity that sends, whose whitelists apply; absent if the account has no record of it. */
  readonly entity?: Pick<DltEntity, "whitelistedUrls" | "callbackNumbers">;
  /** In characters. */
  readonly maxLength: number;
}

/** Reports, under `variables.N`, each value that operators would refuse (scrub codes 633 and 635). */
export function judgeDltValues(values: DltValues, errors: ErrorCollector): void {
  const { variables, template, entity = {}, maxLength } = values;
  for (const [name, value] of Object.entries(variables)) {
    if (!isLonger(valueText(value), maxLength)) continue;
    errors.add(`variables.${name}`, `must be at most ${maxLength} characters for Indian numbers`);
  }
  for (const { name, kind } of template ? templatePlaceholders(template.body) : []) {
    const given = Object.hasOwn(variables, name) ? variables[name] : undefined;
    const value = given === undefined ? undefined : valueText(given);
    // A value that is too long has been reported. Its kind is not judged as well, since it may be as long as the body.
    if (value === undefined || isLonger(value, maxLength)) continue;
    const tag = kind === "var" ? (template?.variableTags?.[Number(name) - 1] ?? kind) : kind;
    const problem = valueProblem(value, tag) ?? whitelistProblem(value, tag, entity);
    if (problem !== undefined) errors.add(`variables.${name}`, problem);
  }
}

function valueProblem(value: string, kind: PlaceholderKind): string | undefined {
  const rule = KIND_RULES[kind];
  if (!rule || rule.accepts(value)) return undefined;
  return `must be ${rule.expected}, as the template's {#${kind}#} says`;
}

interface KindRule {
  readonly accepts: (value: string) => boolean;
  readonly expected: string;
}

/** The TRAI direction of 18 November 2025, as the portals apply it. */
const KIND_RULES: Readonly<Record<PlaceholderKind, KindRule | undefined>> = {
  var: undefined,
  numeric: { accepts: (value) => /^[0-9]+$/.test(value), expected: "digits only" },
  // Marks belong to Indic letters; spaces are ignored when operators match.
  alphanumeric: {
    accepts: (value) => /^[\p{L}\p{M}\p{N} ]+$/u.test(value),
    expected: "letters and digits only",
  },
  url: { accepts: isLink, expected: "a link" },
  urlott: { accepts: isLink, expected: "a link" },
  cbn: {
    accepts: (value) => /^\+?[0-9][0-9 -]{1,18}[0-9]$/.test(value),
    expected: "a call-back number",
  },
  email: { accepts: (value) => parseEmailAddress(value) !== undefined, expected: "an email address" },
};

/**
 * With or without a scheme, as messages write links: `https://x.in/a`, `x.in/a`, `app://open`. The dot is the first one that
 * is not the first character, so that no others are tried.
 */
function isLink(value: string): boolean {
  return /^(?:[A-Za-z][A-Za-z0-9+.-]*:\/\/[^\s]+|[^\s/:][^\s/:.]*\.[^\s]+)$/.test(value);
}

type Whitelists = NonNullable<DltValues["entity"]>;

function whitelistProblem(value: string, kind: PlaceholderKind, whitelists: Whitelists): string | undefined {
  const { whitelistedUrls, callbackNumbers } = whitelists;
  if ((kind === "url" || kind === "urlott") && whitelistedUrls) {
    const link = plainLink(value);
    const isListed = whitelistedUrls.some((prefix) => link.startsWith(plainLink(prefix)));
    return isListed ? undefined : "must begin with a link that is whitelisted for the entity";
  }
  if (kind === "cbn" && callbackNumbers) {
    const isListed = callbackNumbers.some((number) => plainNumber(number) === plainNumber(value));
    return isListed ? undefined : "must be a call-back number that is whitelisted for the entity";
  }
  return undefined;
}

/**
 * Without `http(s)://` and a final `*`, and with the host in lower case and followed by `/`, so that `acme.in` allows
 * `acme.in/x` but not `acme.in.evil.example`.
 */
function plainLink(link: string): string {
  const [host = "", ...path] = link
    .replace(/^https?:\/\//i, "")
    .replace(/\*$/, "")
    .split(/(?=[/?#])/);
  const rest = path.join("");
  return `${host.toLowerCase()}${rest.startsWith("/") ? rest : `/${rest}`}`;
}

/** Digits, without country code or trunk prefix. */
function plainNumber(number: string): string {
  const digits = number.replace(/\D/g, "");
  return digits.length >= 12 && digits.startsWith("91") ? digits.slice(2) : digits.replace(/^0+/, "");
}
