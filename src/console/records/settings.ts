import type { Page } from "../client.ts";
import { deedButton } from "../dom/buttons.ts";
import { type Child, h } from "../dom/dom.ts";
import { link, none, prose, table } from "../dom/pieces.ts";
import { filterForm } from "../forms/filters.ts";
import { recordForm } from "../forms/form.ts";
import { watchOthers } from "../forms/overtaken.ts";
import { toHash, toQueryString } from "../place.ts";
import type { ShowPage, View, Visit } from "../visit.ts";
import { type Account, accountFilter, accountOf, findAccounts, readAccounts } from "./accounts.ts";
import { nameIn } from "./named.ts";
import { type Setting, settingField } from "./setting-field.ts";

/** `#/settings?account_id=ID`, `#/settings/NAME?account_id=ID`; without an account: those of the instance. */
export const showSettings: ShowPage = async (visit) => {
  const accounts = await readAccounts(visit.client, visit.place);
  return visit.place.path.length > 1 ? showSetting(visit, accounts) : showList(visit, accounts);
};

async function showList({ client, place }: Visit, accounts: readonly Account[]): Promise<View> {
  const { account_id } = place.query;
  const { data } = await client.get<Page<Setting>>("settings", { account_id });
  const ofAccount = accountFilter(
    accounts,
    account_id ? accountOf(accounts, account_id) : undefined,
    findAccounts(client, accounts),
  );
  const choices = [["", "the instance"], ...(ofAccount.choices ?? [])] as const;
  const filter = { ...ofAccount, label: "Of", choices };
  const changeable = account_id ? data.filter(({ scope }) => scope === "account") : data;
  return {
    title: "Settings",
    content: [
      filterForm(place, [filter]),
      !account_id &&
        none("What is set for the instance counts for every account that has no value of its own."),
      settingTable(changeable, account_id),
    ],
  };
}

function settingTable(settings: readonly Setting[], account_id: string | undefined): HTMLElement {
  return table<Setting>(
    "Settings",
    [
      { head: "Name", of: ({ name }) => link(["settings", name], h("code", {}, name), { account_id }) },
      { head: "Value", kind: "text", of: valueNode },
      {
        head: "Default",
        kind: "text",
        of: (setting) => (setting.default === undefined ? undefined : String(setting.default)),
      },
      { head: "Meaning", kind: "wide", of: ({ description }) => prose(description) },
    ],
    settings,
  );
}

function valueNode({ value, set_by: setBy }: Setting): Child {
  if (setBy === "default") return h("span", { class: "hint" }, "default");
  return [h("strong", {}, String(value)), h("span", { class: "hint" }, ` of the ${setBy}`)];
}

async function showSetting(visit: Visit, accounts: readonly Account[]): Promise<View> {
  const { client, place, notify, leaveFor } = visit;
  const { account_id } = place.query;
  const name = place.path[1] ?? "";
  const path = `settings/${encodeURIComponent(name)}`;
  const setting = await client.get<Setting>(path, { account_id });
  const back = toHash(["settings"], { account_id });
  const tellOfOthers = watchOthers({ record: ownValue(setting, account_id) });
  const put = async (value: unknown) => {
    await client.send("PUT", `${path}${toQueryString({ account_id })}`, { value });
    leaveFor(back);
    notify(value === null ? `${name}: reset` : `${name}: set`);
  };
  return {
    title: name,
    actions:
      isSetHere(setting, account_id) &&
      deedButton({ text: "Reset", question: `Reset ${name}?`, work: () => put(null) }, visit),
    content: [
      h("p", {}, prose(setting.description)),
      none(account_id ? `For the account “${nameIn(accounts, account_id)}”.` : "For the instance."),
      recordForm({
        fields: [settingField(setting)],
        values: ownValue(setting, account_id),
        submit: "Set",
        back,
        async save({ value }) {
          const now = await client.get<Setting>(path, { account_id });
          tellOfOthers(ownValue(now, account_id), { value });
          await put(value);
        },
      }),
    ],
  };
}

/** What is set for the account, or the instance, that is looked at: the value in force may be set elsewhere. */
function ownValue(setting: Setting, accountId: string | undefined): Pick<Setting, "value"> {
  const { value } = setting;
  return isSetHere(setting, accountId) && value !== undefined ? { value } : {};
}

function isSetHere({ set_by: setBy }: Setting, accountId: string | undefined): boolean {
  return setBy === (accountId ? "account" : "instance");
}
