import { deedButton } from "./buttons.ts";
import type { Page } from "./client.ts";
import { h } from "./dom.ts";
import { facts, id, link, none, section, table, time } from "./pieces.ts";
import type { View, Visit } from "./visit.ts";

interface Attempt {
  readonly at: string;
  readonly latency_ms: number;
  readonly status?: number;
  readonly answer?: string;
  readonly error?: { readonly code: string; readonly message: string };
}

/** One event: the last attempts to deliver it, and what the receiver has said. */
export async function showWebhook(visit: Visit): Promise<View> {
  const { client, place, notify, reload } = visit;
  const webhookId = place.path[1] ?? "";
  const path = `webhooks/${encodeURIComponent(webhookId)}`;
  const { data } = await client.get<Page<Attempt>>(`${path}/attempts`);
  const replay = async () => {
    await client.send("POST", `${path}/replay`);
    notify("Queued for delivery again");
    reload();
  };
  const messageId = webhookId.split("_")[1];
  return {
    title: "Event",
    actions: deedButton({ text: "Replay", kind: "primary", work: replay }, visit),
    content: [
      facts([
        ["Webhook id", id(webhookId)],
        ["Message", messageId && link(["messages", messageId], id(messageId))],
      ]),
      section("Last attempts", data.length > 0 ? attemptTable(data) : none("It has not been tried yet.")),
    ],
  };
}

function attemptTable(attempts: readonly Attempt[]): HTMLElement {
  return table<Attempt>(
    "Last attempts",
    [
      { head: "At", of: ({ at }) => time(at) },
      { head: "Took", kind: "number", of: ({ latency_ms: ms }) => `${ms} ms` },
      { head: "Status", kind: "number", of: ({ status }) => status },
      {
        head: "Error",
        kind: "wide",
        of: ({ error }) => error && h("span", { class: "bad" }, `${error.message} (${error.code})`),
      },
      { head: "Answer", kind: "wide", of: ({ answer }) => answer },
    ],
    attempts.toReversed(),
  );
}
