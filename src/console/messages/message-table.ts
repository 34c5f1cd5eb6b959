import { type Child, h } from "../dom/dom.ts";
import { badge, called, link, table, time } from "../dom/pieces.ts";
import { type Message, recipientText } from "./message.ts";
import type { TemplateNames } from "./template-names.ts";

export function messageTable(messages: readonly Message[], templates: TemplateNames): HTMLElement {
  return table<Message>(
    "Messages",
    [
      { head: "Time", of: ({ created_at: at }) => time(at) },
      // Where the window is narrow, the last columns are out of sight.
      { head: "Status", of: statusOf },
      { head: "Recipient", kind: "line", of: (message) => messageLink(message) },
      { head: "Channel", of: ({ channel }) => channel },
      { head: "Subject or template", kind: "wide", of: (message) => aboutOf(message, templates) },
    ],
    messages,
  );
}

function messageLink(message: Message): HTMLElement {
  return link(["messages", message.message_id], called(recipientText(message)));
}

/** With the code of its error, if it has one; on hovering, in words. */
function statusOf({ status, error }: Message): Child {
  return [badge(status), error && h("span", { class: "hint", title: error.message }, ` ${error.code}`)];
}

function aboutOf({ subject, template_id: id, dlt_template_id: dlt }: Message, names: TemplateNames): Child {
  return subject ?? (id === undefined ? dlt && `DLT ${dlt}` : (names.get(id) ?? id));
}
