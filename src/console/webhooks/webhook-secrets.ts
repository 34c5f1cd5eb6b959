import { deedButton } from "../dom/buttons.ts";
import { copyButton } from "../dom/dialogs.ts";
import { h, refresh } from "../dom/dom.ts";
import { none, section, table, time } from "../dom/pieces.ts";
import { filterForm } from "../forms/filters.ts";
import { recordForm } from "../forms/form.ts";
import { toQueryString } from "../place.ts";
import { accountFilter, chosenAccount, findAccounts, readAccounts } from "../records/accounts.ts";
import type { View, Visit } from "../visit.ts";

interface Secret {
  readonly secret: string;
  readonly created_at: string;
}

/** Enough to tell one secret from another. */
const SHOWN_CHARACTERS = 10;

/** What signs an account's webhooks, and a way to try a receiver. */
export async function showSecrets(visit: Visit): Promise<View> {
  const { client, place, notify, reload } = visit;
  const accounts = await readAccounts(client, place);
  const account = chosenAccount(accounts, place);
  if (!account) return { title: "Webhook secrets", content: none("There are no accounts.") };
  const { secrets } = await client.get<{ secrets: readonly Secret[] }>("webhooks/secret", {
    account_id: account.id,
  });
  const rotate = async () => {
    const query = toQueryString({ account_id: account.id, newest: secrets[0]?.created_at });
    await client.send("POST", `webhooks/secret/rotate${query}`);
    notify("There is a new secret");
    reload();
  };
  const question = `Make a new secret for “${account.name}”? The newest one of now stays valid beside it; an older one ends.`;
  return {
    title: "Webhook secrets",
    actions: deedButton({ text: "New secret", question, work: rotate }, visit),
    content: [
      filterForm(place, [accountFilter(accounts, account, findAccounts(client, accounts))]),
      secretTable(secrets),
      section("Test a receiver", testForm(account.id, visit)),
    ],
  };
}

function secretTable(secrets: readonly Secret[]): HTMLElement {
  return table<Secret>(
    "Secrets",
    [
      { head: "Secret", of: ({ secret }) => h("code", {}, `${secret.slice(0, SHOWN_CHARACTERS)}…`) },
      { head: "Created", of: ({ created_at: at }) => time(at) },
      { head: "Copy", kind: "wide", of: ({ secret }) => copyButton(secret) },
    ],
    secrets,
  );
}

interface Tested {
  readonly ok: boolean;
  readonly status?: number;
  readonly answer?: string;
  readonly error?: { readonly message: string };
}

/** How receivers answer a signature that they do not take: mostly without a word. */
const REFUSED = "does the receiver have the secret above, and do its clock and the service's agree?";

function testForm(accountId: string, { client }: Visit): HTMLElement {
  const result = h("div", { "aria-live": "polite" });
  const form = recordForm({
    fields: [
      {
        name: "url",
        label: "URL",
        kind: "text",
        isRequired: true,
        hint: "Gets a signed event of the type `webhook.test` at once",
      },
    ],
    values: {},
    submit: "Send",
    async save({ url }) {
      refresh(result);
      const { ok, status, error, answer } = await client.send<Tested>("POST", "webhooks/test", {
        account_id: accountId,
        url,
      });
      const advice = (status === 401 || status === 403) && REFUSED;
      const text = [status && `status ${status}`, error?.message, answer, advice].filter(Boolean).join(" · ");
      refresh(
        result,
        h(
          "p",
          { class: ok ? "result good" : "result bad" },
          `${ok ? "Delivered" : "Not delivered"}: ${text}`,
        ),
      );
    },
  });
  return h("div", {}, form, result);
}
