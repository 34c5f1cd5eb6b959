/** What ids in records stand for. */
import { type Client, readAll } from "../client.ts";
import type { Choice, FindChoices } from "../forms/choices.ts";
import { type Field, labelOf, type Row } from "../forms/fields.ts";
import type { Place } from "../place.ts";
import { type Account, findAccounts, nameAccounts, readAccounts } from "./accounts.ts";
import { addBeyond, findBeyond, MOST_CHOICES } from "./find-beyond.ts";
import type { Named } from "./named.ts";
import type { Route } from "./route-text.ts";

export interface References {
  readonly accounts: readonly Account[];
  readonly connectors: readonly KnownConnector[];
  /** Finds others; absent: these are all. */
  readonly findAccounts?: FindChoices | undefined;
  readonly findConnectors?: FindChoices | undefined;
}

export interface KnownConnector extends Named {
  readonly channel?: string;
}

/** `place`: an account that it names is among them. */
export async function readReferences(client: Client, place?: Place): Promise<References> {
  const [accounts, connectors] = await Promise.all([readAccounts(client, place), readConnectors(client)]);
  return {
    accounts,
    connectors,
    findAccounts: findAccounts(client, accounts),
    findConnectors: findBeyond(client, connectors, { path: "connectors", toChoice: outletChoice }),
  };
}

/** The first ones. */
export function readConnectors(client: Client): Promise<readonly KnownConnector[]> {
  return readAll<KnownConnector>(client, "connectors", { atMost: MOST_CHOICES });
}

/** Adds the connectors of these ids that are beyond those. */
export function nameConnectors(
  client: Client,
  connectors: readonly KnownConnector[],
  ids: readonly (string | undefined)[],
): Promise<readonly KnownConnector[]> {
  return addBeyond(client, connectors, { path: "connectors", ids, gone: (id) => ({ id, name: id }) });
}

/** Adds what these records name that is beyond what was read. */
export async function nameAll(client: Client, known: References, rows: readonly Row[]): Promise<References> {
  const named = rows as readonly (Partial<Route> & { readonly connector_id?: string })[];
  const ids = named.flatMap(({ connector_id: id, connectors = [] }) => [
    id,
    ...connectors.map((each) => each.connector_id),
  ]);
  const [accounts, connectors] = await Promise.all([
    nameAccounts(client, known.accounts, named),
    nameConnectors(client, known.connectors, ids),
  ]);
  return { ...known, accounts, connectors };
}

/** The records that the ids in a field of this name are of. */
export function referred(name: string, { accounts, connectors }: References) {
  if (name === "account_id") return { page: "accounts", rows: accounts };
  return name === "connector_id" ? { page: "connectors", rows: connectors } : undefined;
}

/** A route takes connectors of its own channel only. */
function outletChoice({ id, name, channel }: KnownConnector): Choice {
  return [id, channel ? `${name} (${channel})` : name];
}

/** An id is chosen by its name. */
export function withChoices(field: Field, known: References): Field {
  if (field.name === "connectors") {
    const { connectors, findConnectors: find } = known;
    return { ...field, kind: "outlets", choices: connectors.map(outletChoice), ...(find && { find }) };
  }
  const found = referred(field.name, known);
  if (!found) return field;
  const find = found.page === "accounts" ? known.findAccounts : known.findConnectors;
  const { hint: _, ...rest } = field;
  const none = field.name === "account_id" && !field.isRequired && { hint: "None: every live account" };
  return {
    ...rest,
    ...none,
    kind: "choice",
    label: labelOf(field.name.replace(/_id$/, "")),
    choices: found.rows.map(({ id, name }) => [id, name]),
    ...(find && { find }),
  };
}
