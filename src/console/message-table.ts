import type { Child } from "./dom.ts";
import { type Message, recipientText } from "./message.ts";
import { badge, link, table, time } from "./pieces.ts";
import type { TemplateNames } from "./template-names.ts";

export function messageTable(messages: readonly Message[], templates: TemplateNames): HTMLElement {
  return table<Message>(
    "Messages",
    [
      { head: "Time", of: ({ created_at: at }) => time(at) },
      { head: "Channel", of: ({ channel }) => channel },
      { head: "Recipient", of: (message) => messageLink(message) },
      { head: "Status", of: ({ status }) => badge(status) },
      { head: "Subject or template", kind: "wide", of: (message) => aboutOf(message, templates) },
    ],
    messages,
  );
}

function messageLink(message: Message): HTMLElement {
  return link(["messages", message.message_id], recipientText(message));
}

function aboutOf({ subject, template_id: id, dlt_template_id: dlt }: Message, names: TemplateNames): Child {
  return subject ?? (id === undefined ? dlt && `DLT ${dlt}` : (names.get(id) ?? id));
}
