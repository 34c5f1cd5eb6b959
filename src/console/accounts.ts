/** The accounts by name, and the one that is looked at. */
import { type Client, readAll } from "./client.ts";
import { h } from "./dom.ts";

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

/** The account of the place, else the one chosen last in this tab, else the first. */
export function chosenAccount(accounts: readonly Account[], wanted?: string): Account | undefined {
  const id = wanted ?? sessionStorage.getItem(REMEMBERED);
  return accounts.find((account) => account.id === id) ?? (wanted === undefined ? accounts[0] : undefined);
}

function rememberAccount(id: string): void {
  sessionStorage.setItem(REMEMBERED, id);
}

export function accountName(accounts: readonly Account[], id: string): string {
  return accounts.find((account) => account.id === id)?.name ?? id;
}

/** A choice among the accounts, with its label. */
export function accountSelect(
  accounts: readonly Account[],
  chosen: Account | undefined,
  onChoice: (id: string) => void,
): HTMLElement {
  const options = accounts.map(({ id, name, mode }) =>
    h("option", { value: id, selected: id === chosen?.id }, `${name} (${mode})`),
  );
  const select = h("select", { id: "account", name: "account_id" }, options);
  select.addEventListener("change", () => {
    rememberAccount(select.value);
    onChoice(select.value);
  });
  return h("label", { class: "field" }, "Account", select);
}
