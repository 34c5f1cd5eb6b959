import { deedButton } from "./buttons.ts";
import { type DnsRecord, dnsRecords } from "./dns-records.ts";
import { type Child, h } from "./dom.ts";
import type { Row } from "./fields.ts";
import { type Noun, nameOf, type RecordAction } from "./nouns.ts";
import { link, section } from "./pieces.ts";
import { toHash } from "./place.ts";
import { recordFacts } from "./record-values.ts";
import { readReferences } from "./references.ts";
import type { View, Visit } from "./visit.ts";

/** One record: what it holds, and what can be done with it. */
export async function showRecord(noun: Noun, visit: Visit): Promise<View> {
  const { client, place } = visit;
  const path = `${noun.name}/${encodeURIComponent(place.path[1] ?? "")}`;
  const [known, record] = await Promise.all([readReferences(client), client.get<Row>(path)]);
  return {
    title: nameOf(noun, record),
    actions: [
      (noun.actions ?? []).map((action) => actButton(action, path, visit)),
      h("a", { class: "button", href: toHash([noun.name, String(record.id), "edit"]) }, "Edit"),
      removeButton(noun, record, visit),
    ],
    content: [recordFacts(record, known, ["id", "records"]), more(noun, record)],
  };
}

/** What a noun has beside its fields. */
function more({ name }: Noun, record: Row): Child {
  if (name === "domains")
    return section("DNS records to publish", dnsRecords(record.records as readonly DnsRecord[]));
  if (name !== "accounts") return undefined;
  const query = { account_id: String(record.id) };
  const pages = [
    ["keys", "API keys"],
    ["messages", "Messages"],
    ["webhooks", "Webhooks"],
    ["settings", "Settings"],
  ] as const;
  return section(
    "Of this account",
    h(
      "ul",
      { class: "links" },
      pages.map(([page, text]) => h("li", {}, link([page], text, query))),
    ),
  );
}

function actButton(
  { text, path, question, doneText }: RecordAction,
  recordPath: string,
  visit: Visit,
): HTMLElement {
  const { client, notify, reload } = visit;
  const work = async () => {
    notify(doneText(await client.send<Row>("POST", `${recordPath}/${path}`)));
    reload();
  };
  return deedButton({ text, work, ...(question && { question }) }, visit);
}

function removeButton(noun: Noun, record: Row, visit: Visit): Child {
  if (record.revoked_at !== undefined) return undefined;
  const { client, notify } = visit;
  const { verb, done } = noun.remove ?? { verb: "Delete", done: "deleted" };
  const named = nameOf(noun, record);
  const work = async () => {
    await client.send("DELETE", `${noun.name}/${record.id}`);
    location.hash = toHash([noun.name]);
    notify(`${named}: ${done}`);
  };
  return deedButton(
    { text: verb, kind: "danger", question: `${verb} the ${noun.one} “${named}”?`, work },
    visit,
  );
}
