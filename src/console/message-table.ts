import type { Child } from "./dom.ts";
import { type Message, recipientText } from "./message.ts";
import { badge, id, link, table, time } from "./pieces.ts";

export function messageTable(messages: readonly Message[]): HTMLElement {
  return table<Message>(
    "Messages",
    [
      { head: "Time", of: ({ created_at: at }) => time(at) },
      { head: "Channel", of: ({ channel }) => channel },
      { head: "Recipient", of: (message) => messageLink(message) },
      { head: "Status", of: ({ status }) => badge(status) },
      { head: "Subject or template", kind: "wide", of: aboutOf },
    ],
    messages,
  );
}

function messageLink(message: Message): HTMLElement {
  return link(["messages", message.message_id], recipientText(message));
}

function aboutOf({ subject, template_id: template, dlt_template_id: dlt }: Message): Child {
  return subject ?? (dlt === undefined ? template && id(template) : ["DLT ", id(dlt)]);
}
