import { none } from "./dom/pieces.ts";
import { fieldsOf } from "./forms/fields.ts";
import { recordForm } from "./forms/form.ts";
import { toHash } from "./place.ts";
import { chosenAccount, findAccounts, readAccounts } from "./records/accounts.ts";
import { withChoices } from "./records/references.ts";
import type { View, Visit } from "./visit.ts";

/** `#/inbound/new`: an SMS as if a handset had written it, for trying webhooks and stop words. */
export async function showReceive({ client, place, schemas, notify, leaveFor }: Visit): Promise<View> {
  const title = "Simulate an inbound SMS";
  const accounts = await readAccounts(client, place, "sandbox");
  if (accounts.length === 0) return { title, content: none("There is no sandbox account.") };
  const schema = await schemas("post", "sandbox/inbound");
  const known = { accounts, connectors: [], findAccounts: findAccounts(client, accounts, "sandbox") };
  const account_id = chosenAccount(accounts, place)?.id;
  const form = recordForm({
    fields: fieldsOf(schema).map((field) => withChoices(field, known)),
    values: { ...place.query, account_id },
    submit: "Receive",
    back: toHash(["inbound"], { account_id }),
    async save(message) {
      await client.send("POST", "sandbox/inbound", message);
      leaveFor(toHash(["inbound"], { account_id: String(message.account_id) }));
      notify("Received");
    },
  });
  return { title, content: form };
}
