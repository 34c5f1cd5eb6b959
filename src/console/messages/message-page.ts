import { type Child, h, refresh } from "../dom/dom.ts";
import { badge, facts, id, isolated, joined, json, link, section, table, time } from "../dom/pieces.ts";
import { durationText } from "../dom/times.ts";
import { keepUpdated } from "../dom/updated.ts";
import type { Row } from "../forms/fields.ts";
import { nameIn } from "../records/named.ts";
import { nameAll, type References, readReferences } from "../records/references.ts";
import type { ShowPage } from "../visit.ts";
import { addressNode } from "./addresses.ts";
import { type Message, recipientText } from "./message.ts";
import {
  type Entry,
  entryDetails,
  entryText,
  type RecipientState,
  recipientStates,
  type Timeline,
  toLines,
  withAcceptance,
} from "./timeline.ts";

/** One message, and everything that happened to it. It follows what goes on happening. */
export const showMessage: ShowPage = async (visit) => {
  const { client, place } = visit;
  const path = `messages/${encodeURIComponent(place.path[1] ?? "")}`;
  let known = await readReferences(client);
  const content = h("div");
  const read = async () => {
    const [message, timeline] = await Promise.all([
      client.get<Message>(path),
      client.get<Timeline>(`${path}/timeline`),
    ]);
    const entries = withAcceptance(timeline);
    known = await nameAll(client, known, [{ ...message }, ...entries.map(connectorIn)]);
    refresh(content, ...sectionsOf({ ...known, message, entries }));
    return message;
  };
  const message = await read();
  const actions = keepUpdated(visit, read);
  return { title: `Message to ${recipientText(message)}`, actions, content };
};

/** The one that it names, as a record would. */
function connectorIn({ detail }: Entry): Row {
  return { connector_id: detail?.connector };
}

interface Known extends References {
  readonly message: Message;
  readonly entries: readonly Entry[];
}

function sectionsOf(known: Known): readonly Child[] {
  const { message, entries } = known;
  const recipients = recipientStates(message, entries);
  return [
    factsOf(known),
    recipients.length > 0 && section("Recipients", recipientTable(recipients)),
    section("Timeline", timelineOf(known)),
  ];
}

function factsOf({ message, entries, accounts }: Known): HTMLElement {
  const account = accounts.find((each) => each.id === message.account_id);
  const sent = entries.find(({ detail }) => detail?.segments !== undefined)?.detail;
  return facts([
    ["Status", badge(message.status)],
    ["Error", errorText(message)],
    ["Id", id(message.message_id)],
    ["Account", link(["accounts", message.account_id], nameIn(accounts, message.account_id))],
    ["Channel", message.channel],
    ["Created", time(message.created_at)],
    ["From", message.from && addressNode(message.from)],
    ["Subject", message.subject],
    [
      "Template",
      message.template_id && link(["sms-templates", message.template_id], id(message.template_id)),
    ],
    ["DLT template", message.dlt_template_id],
    ["DLT entity", message.dlt_entity_id],
    ["Segments", sent && `${sent.segments}${sent.encoding ? ` in ${sent.encoding}` : ""}`],
    ["Variables", json(message.variables)],
    ["Tags", message.tags && joined(message.tags.map(isolated), ", ")],
    ["Metadata", json(message.metadata)],
    ["Callback URL", message.callback_url],
    ["Webhooks", link(["webhooks"], "Events of this message", { message_id: message.message_id })],
    [
      "Simulator",
      account?.mode === "sandbox" &&
        link(["sandbox"], "What it was given", { message_id: message.message_id }),
    ],
  ]);
}

function errorText({ error }: Message): Child {
  return error && h("span", { class: "bad" }, `${error.message} (${error.code})`);
}

function recipientTable(recipients: readonly RecipientState[]): HTMLElement {
  return table<RecipientState>(
    "Recipients",
    [
      { head: "Address", kind: "line", of: ({ address }) => address },
      { head: "As", of: ({ role }) => role },
      { head: "Status", of: ({ status }) => badge(status) },
      { head: "Error", kind: "wide", of: ({ error }) => error && `${error.message} (${error.code})` },
    ],
    recipients,
  );
}

function timelineOf({ entries, connectors }: Known): HTMLElement {
  const nameOf = (connector: string) => nameIn(connectors, connector);
  const items = toLines(entries).map(({ entry, status, error }, index, lines) => {
    const before = lines[index - 1]?.entry;
    const gap = before && new Date(entry.at).getTime() - new Date(before.at).getTime();
    const details = entryDetails(entry).map(([name, value]) => `${name}: ${value}`);
    return h(
      "li",
      {},
      h("div", { class: "when" }, time(entry.at), h("span", { class: "hint" }, gapText(gap))),
      h(
        "div",
        {},
        h("p", {}, entryText(entry, nameOf), status !== undefined && [" → ", badge(status)]),
        error && h("p", { class: "bad" }, `${error.message} (${error.code})`),
        details.length > 0 && h("p", { class: "hint" }, details.join(" · ")),
      ),
    );
  });
  return h("ol", { class: "timeline" }, items);
}

/** A receipt may have come before the answer that it belongs to was stored. */
function gapText(ms: number | undefined): string {
  if (ms === undefined || ms === 0) return "";
  return ms > 0 ? `+${durationText(ms)}` : `${durationText(-ms)} earlier`;
}
