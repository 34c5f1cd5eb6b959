/** What ids in records stand for. */
import { type Client, readAll } from "../client.ts";
import { type Field, labelOf } from "../forms/fields.ts";
import { type Account, MOST_CHOICES, readAccounts } from "./accounts.ts";
import type { Named } from "./route-text.ts";

export interface References {
  readonly accounts: readonly Account[];
  readonly connectors: readonly KnownConnector[];
}

interface KnownConnector extends Named {
  readonly channel?: string;
}

export async function readReferences(client: Client): Promise<References> {
  const [accounts, connectors] = await Promise.all([
    readAccounts(client),
    readAll<KnownConnector>(client, "connectors", MOST_CHOICES),
  ]);
  return { accounts, connectors };
}

/** The records that the ids in a field of this name are of. */
export function referred(name: string, { accounts, connectors }: References) {
  if (name === "account_id") return { page: "accounts", rows: accounts };
  return name === "connector_id" ? { page: "connectors", rows: connectors } : undefined;
}

/** A route takes connectors of its own channel only. */
function outletChoice({ id, name, channel }: KnownConnector): readonly [string, string] {
  return [id, channel ? `${name} (${channel})` : name];
}

/** An id is chosen by its name. */
export function withChoices(field: Field, known: References): Field {
  if (field.name === "connectors")
    return { ...field, kind: "outlets", choices: known.connectors.map(outletChoice) };
  const found = referred(field.name, known);
  if (!found || found.rows.length >= MOST_CHOICES) return field;
  const { hint: _, ...rest } = field;
  const none = field.name === "account_id" && !field.isRequired && { hint: "None: every live account" };
  return {
    ...rest,
    ...none,
    kind: "choice",
    label: labelOf(field.name.replace(/_id$/, "")),
    choices: found.rows.map(({ id, name }) => [id, name]),
  };
}
