/** The accounts by name, and the one that is looked at. */
import { type Client, readAll } from "./client.ts";
import type { Filter } from "./filters.ts";
import type { Place } from "./place.ts";

export interface Account {
  readonly id: string;
  readonly name: string;
  readonly mode: "sandbox" | "live";
}

/** More than anybody chooses from in a list. */
const MOST_ACCOUNTS = 1_000;

const REMEMBERED = "account_id";

export async function readAccounts(client: Client): Promise<readonly Account[]> {
  return (await readAll<Account>(client, "accounts", MOST_ACCOUNTS)).rows;
}

/** The account that the place names, which is remembered in this tab; else the one remembered; else the first. */
export function chosenAccount(accounts: readonly Account[], { query }: Place): Account | undefined {
  const find = (id: string | null) => accounts.find((account) => account.id === id);
  const named = find(query.account_id ?? null);
  if (named) sessionStorage.setItem(REMEMBERED, named.id);
  return named ?? find(sessionStorage.getItem(REMEMBERED)) ?? accounts[0];
}

export function accountName(accounts: readonly Account[], id: string): string {
  return accounts.find((account) => account.id === id)?.name ?? id;
}

export function accountFilter(accounts: readonly Account[], chosen: Account | undefined): Filter {
  return {
    name: "account_id",
    label: "Account",
    choices: accounts.map(({ id, name, mode }) => [id, `${name} (${mode})`]),
    ...(chosen && { otherwise: chosen.id }),
  };
}
