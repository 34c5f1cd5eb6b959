import type { Client, Page } from "../client.ts";
import { deedButton } from "../dom/buttons.ts";
import { type Child, h } from "../dom/dom.ts";
import { link, none, section } from "../dom/pieces.ts";
import { labelOf, type Row } from "../forms/fields.ts";
import { toHash } from "../place.ts";
import type { View, Visit } from "../visit.ts";
import { type DnsRecord, dnsRecords } from "./dns-records.ts";
import { NOUNS, type Noun, nameOf, type RecordAction } from "./nouns.ts";
import { recordFacts, recordTable } from "./record-values.ts";
import { nameAll, type References, readReferences } from "./references.ts";

/** One record: what it holds, and what can be done with it. */
export async function showRecord(noun: Noun, visit: Visit): Promise<View> {
  const { client, place } = visit;
  const path = `${noun.name}/${encodeURIComponent(place.path[1] ?? "")}`;
  const [first, record] = await Promise.all([readReferences(client), client.get<Row>(path)]);
  const known = await nameAll(client, first, [record]);
  return {
    title: nameOf(noun, record),
    actions: [
      (noun.actions ?? []).map((action) => actButton(action, path, visit)),
      h("a", { class: "button", href: toHash([noun.name, String(record.id), "edit"]) }, "Edit"),
      removeButton(noun, record, visit),
    ],
    content: [recordFacts(record, known, ["id", "records"]), await more(noun, record, { client, known })],
  };
}

/** What a noun has beside its fields. */
async function more({ name }: Noun, record: Row, { client, known }: Surroundings): Promise<Child> {
  if (name === "domains")
    return section("DNS records to publish", dnsRecords(record.records as readonly DnsRecord[]));
  const keys = NOUNS.find((noun) => noun.name === "keys");
  if (name !== "accounts" || !keys) return undefined;
  const query = { account_id: String(record.id) };
  const { data } = await client.get<Page<Row>>("keys", { ...query, limit: "20" });
  const ofAccount = NOUNS.filter(({ isOfAccount }) => isOfAccount).filter((noun) => noun !== keys);
  const pages = [
    ...["messages", "webhooks", "settings"].map((page) => link([page], labelOf(page), query)),
    ...ofAccount.map((noun) => link([noun.name], noun.title, query)),
  ];
  return [
    section(
      "API keys",
      data.length > 0
        ? recordTable(keys, data, await nameAll(client, known, data))
        : none("It has no API key yet."),
      h(
        "p",
        { class: "links" },
        h("a", { class: "button", href: toHash(["keys", "new"], query) }, "New API key"),
        link(["keys"], "All API keys", query),
      ),
    ),
    section("Of this account", h("p", { class: "links" }, pages)),
  ];
}

interface Surroundings {
  readonly client: Client;
  readonly known: References;
}

function actButton(action: RecordAction, recordPath: string, visit: Visit): HTMLElement {
  const { text, path, question, outcome } = action;
  const { client, notify, reload } = visit;
  const work = async () => {
    const { text: said, isGood } = outcome(await client.send<Row>("POST", `${recordPath}/${path}`));
    notify(said, isGood ? "done" : "failed");
    reload();
  };
  return deedButton({ text, work, ...(question && { question }) }, visit);
}

function removeButton(noun: Noun, record: Row, visit: Visit): Child {
  if (record.revoked_at !== undefined) return undefined;
  const { client, notify, leaveFor } = visit;
  const { verb, done } = noun.remove ?? { verb: "Delete", done: "deleted" };
  const named = nameOf(noun, record);
  const goesToo = noun.goesToo ? `, with ${noun.goesToo}` : "";
  const work = async () => {
    await client.send("DELETE", `${noun.name}/${record.id}`);
    leaveFor(toHash([noun.name]));
    notify(`${named}: ${done}`);
  };
  return deedButton(
    { text: verb, kind: "danger", question: `${verb} the ${noun.one} “${named}”${goesToo}?`, work },
    visit,
  );
}
