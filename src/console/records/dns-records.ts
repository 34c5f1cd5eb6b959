import { copyButton } from "../dom/dialogs.ts";
import { type Child, h } from "../dom/dom.ts";
import { badge, table } from "../dom/pieces.ts";

export interface DnsRecord {
  readonly purpose: string;
  readonly role: string;
  readonly type: string;
  readonly name: string;
  readonly value: string;
  readonly last_result?: string;
}

const ROLES: Readonly<Record<string, string>> = {
  required: "required",
  next: "the next key: signs once this is seen",
  retiring: "an old key: remove it when it is no longer listed",
  advised: "advised, if there is none yet",
};

/** What a domain's owner publishes, ready to be copied. */
export function dnsRecords(records: readonly DnsRecord[]): HTMLElement {
  return table<DnsRecord>(
    "DNS records to publish",
    [
      {
        head: "For",
        of: ({ purpose, role }) => [
          purpose.replaceAll("_", " "),
          h("br"),
          h("span", { class: "hint" }, ROLES[role] ?? role),
        ],
      },
      { head: "Seen", of: ({ last_result }) => badge(last_result) },
      { head: "Type", of: ({ type }) => type },
      { head: "Name", of: ({ name }) => copied(name) },
      { head: "Value", of: ({ value }) => copied(value) },
    ],
    records,
  );
}

function copied(text: string): Child {
  return h("div", { class: "copied" }, h("code", {}, text), copyButton(text));
}
