import type { Client } from "./client.ts";
import { isConfirmed } from "./dom/dialogs.ts";
import { type Child, h } from "./dom/dom.ts";
import { type Field, fieldsOf } from "./forms/fields.ts";
import { recordForm } from "./forms/form.ts";
import { toHash } from "./place.ts";
import { nameAccounts } from "./records/accounts.ts";
import { nameIn } from "./records/named.ts";
import { type References, readReferences, withChoices } from "./records/references.ts";
import type { View, Visit } from "./visit.ts";

/** `#/erasures/new`. It asks once more, since nothing brings back what was erased. */
export async function showNewErasure({ client, place, schemas, leaveFor }: Visit): Promise<View> {
  const [known, schema] = await Promise.all([readReferences(client), schemas("post", "erasures")]);
  const form = recordForm({
    fields: fieldsOf(schema).map((field) => fieldOf(field, known)),
    values: place.query,
    submit: "Erase",
    back: "#/erasures",
    async save({ recipient, account_id }) {
      const where = account_id ? await inAccount(client, known, String(account_id)) : "all accounts";
      const question = `Erase all that is stored about ${recipient} in ${where}? This cannot be undone.`;
      if (!(await isConfirmed(question, "Erase"))) return;
      const { id } = await client.send<{ id: string }>("POST", "erasures", { recipient, account_id });
      leaveFor(toHash(["erasures", id]));
    },
  });
  return { title: "New erasure", content: [warning(), form] };
}

/** The one that was chosen may be beyond those that were offered at first. */
async function inAccount(client: Client, { accounts }: References, account_id: string): Promise<string> {
  return `the account “${nameIn(await nameAccounts(client, accounts, [{ account_id }]), account_id)}”`;
}

function fieldOf(field: Field, known: References): Field {
  const chosen = withChoices(field, known);
  return field.name === "account_id" ? { ...chosen, hint: "None: in all accounts" } : chosen;
}

function warning(): Child {
  return h(
    "div",
    { class: "alarm" },
    h("p", {}, h("strong", {}, "An erasure cannot be undone.")),
    h(
      "p",
      {},
      "It deletes the messages to one number or address with all that is known of them, those not sent yet as well, and what it has written. " +
        "In emails to several recipients its name is removed. Suppressions and opt-outs stay effective without naming it.",
    ),
    h("p", {}, "Backups, and what receivers of webhooks have stored, are yours to erase."),
  );
}
