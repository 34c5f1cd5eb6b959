/** The accounts by name, and the one that is looked at. */
import { type Client, type Page, readAll } from "../client.ts";
import type { Choice, FindChoices } from "../forms/choices.ts";
import type { Filter } from "../forms/filters.ts";
import type { Place } from "../place.ts";
import { addBeyond, findBeyond, MOST_CHOICES } from "./find-beyond.ts";

export interface Account {
  readonly id: string;
  readonly name: string;
  readonly mode: "sandbox" | "live";
}

const REMEMBERED = "account_id";

/** The first ones; and, if it is beyond them, the one that the place names, or that is remembered. `mode`: of this one only. */
export async function readAccounts(
  client: Client,
  place?: Place,
  mode?: Account["mode"],
): Promise<readonly Account[]> {
  const first = await readAll<Account>(client, "accounts", { atMost: MOST_CHOICES, query: { mode } });
  const wanted = place && (place.query.account_id || sessionStorage.getItem(REMEMBERED));
  if (!wanted || first.length < MOST_CHOICES || first.some(({ id }) => id === wanted)) return first;
  const { data } = await client.get<Page<Account>>("accounts", { mode, search: wanted });
  return [...data.filter(({ id }) => id === wanted), ...first];
}

/** Finds those that are beyond the accounts that were read. `mode`: of this one only. */
export function findAccounts(
  client: Client,
  read: readonly Account[],
  mode?: Account["mode"],
): FindChoices | undefined {
  return findBeyond<Account>(client, read, { path: "accounts", toChoice: accountChoice, query: { mode } });
}

/** Adds the accounts that are beyond these, and that one of the rows names. */
export function nameAccounts(
  client: Client,
  accounts: readonly Account[],
  rows: readonly { readonly account_id?: string | undefined }[],
): Promise<readonly Account[]> {
  const ids = rows.map(({ account_id: id }) => id);
  return addBeyond(client, accounts, { path: "accounts", ids, gone: (id) => accountOf([], id) });
}

function accountChoice({ id, name, mode }: Account): Choice {
  return [id, `${name} (${mode})`];
}

/** The account that the place names, which is remembered in this tab; else the one remembered; else the first. */
export function chosenAccount(accounts: readonly Account[], { query }: Place): Account | undefined {
  const find = (wanted: string | null) => accounts.find(({ id }) => id === wanted);
  const { account_id: id } = query;
  if (!id) return find(sessionStorage.getItem(REMEMBERED)) ?? accounts[0];
  sessionStorage.setItem(REMEMBERED, id);
  return accountOf(accounts, id);
}

/** One that is no longer there is called by its id: the service says so. */
export function accountOf(accounts: readonly Account[], id: string): Account {
  return accounts.find((account) => account.id === id) ?? { id, name: id, mode: "live" };
}

export function accountFilter(
  accounts: readonly Account[],
  chosen: Account | undefined,
  find: FindChoices | undefined,
): Filter {
  const isListed = !chosen || accounts.includes(chosen);
  return {
    name: "account_id",
    label: "Account",
    choices: (isListed ? accounts : [chosen, ...accounts]).map(accountChoice),
    ...(find && { find }),
    ...(chosen && { otherwise: chosen.id }),
  };
}
