/** The accounts by name, and the one that is looked at. */
import { type Client, readAll } from "../client.ts";
import type { Filter } from "../forms/filters.ts";
import type { Place } from "../place.ts";

export interface Account {
  readonly id: string;
  readonly name: string;
  readonly mode: "sandbox" | "live";
}

/** More than anybody chooses from. */
export const MOST_CHOICES = 1_000;

const REMEMBERED = "account_id";

export function readAccounts(client: Client): Promise<readonly Account[]> {
  return readAll(client, "accounts", MOST_CHOICES);
}

/** The account that the place names, which is remembered in this tab; else the one remembered; else the first. */
export function chosenAccount(accounts: readonly Account[], { query }: Place): Account | undefined {
  const find = (wanted: string | null) => accounts.find(({ id }) => id === wanted);
  const { account_id: id } = query;
  if (!id) return find(sessionStorage.getItem(REMEMBERED)) ?? accounts[0];
  sessionStorage.setItem(REMEMBERED, id);
  return accountOf(accounts, id);
}

/** One that is beyond those that were read, or no longer there, is called by its id: the service knows it, or says so. */
export function accountOf(accounts: readonly Account[], id: string): Account {
  return accounts.find((account) => account.id === id) ?? { id, name: id, mode: "live" };
}

export function accountName(accounts: readonly Account[], id: string): string {
  return accounts.find((account) => account.id === id)?.name ?? id;
}

export function accountFilter(accounts: readonly Account[], chosen: Account | undefined): Filter {
  const isListed = !chosen || accounts.includes(chosen);
  return {
    name: "account_id",
    label: "Account",
    choices: (isListed ? accounts : [chosen, ...accounts]).map(({ id, name, mode }) => [
      id,
      `${name} (${mode})`,
    ]),
    isPartial: accounts.length >= MOST_CHOICES,
    ...(chosen && { otherwise: chosen.id }),
  };
}
