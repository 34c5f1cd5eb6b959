import { deedButton } from "../dom/buttons.ts";
import { type Child, h } from "../dom/dom.ts";
import { badge, facts, id, link, none, section, table, time } from "../dom/pieces.ts";
import type { View, Visit } from "../visit.ts";

/** An event as lists show it. */
export interface WebhookEvent {
  readonly id: string;
  readonly account_id: string;
  readonly host: string;
  readonly message_id: string;
  readonly type: string;
  readonly state: string;
  readonly attempts: number;
  readonly occurred_at: string;
  readonly next_attempt_at?: string;
  readonly last_attempt?: Result;
}

interface Result {
  readonly at: string;
  readonly status?: number;
  readonly error?: { readonly code: string; readonly message: string };
}

interface Attempt extends Result {
  readonly latency_ms: number;
  readonly answer?: string;
}

/** What went wrong where no answer came, else the status of the answer. */
export function resultText({ status, error }: Result): Child {
  return error ? h("span", { class: "bad" }, `${error.message} (${error.code})`) : status;
}

/** One event: the last attempts to deliver it, and what the receiver has said. */
export async function showWebhook(visit: Visit): Promise<View> {
  const { client, place, notify, reload } = visit;
  const webhookId = place.path[1] ?? "";
  const path = `webhooks/${encodeURIComponent(webhookId)}`;
  const event = await client.get<WebhookEvent & { last_attempts: readonly Attempt[] }>(path);
  const { message_id, last_attempts: attempts } = event;
  const replay = async () => {
    await client.send("POST", `${path}/replay`);
    notify("Queued for delivery again");
    reload();
  };
  return {
    title: "Event",
    actions: deedButton({ text: "Replay", kind: "primary", work: replay }, visit),
    content: [
      facts([
        ["State", badge(event.state)],
        ["Type", event.type],
        ["Host", event.host],
        ["Occurred", time(event.occurred_at)],
        ["Attempts", event.attempts],
        ["Next attempt", time(event.next_attempt_at)],
        ["Webhook id", id(webhookId)],
        ["Message", link(["messages", message_id], id(message_id))],
      ]),
      section(
        "Last attempts",
        attempts.length > 0 ? attemptTable(attempts) : none("It has not been tried yet."),
      ),
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
      { head: "Error", kind: "whole", of: (attempt) => attempt.error && resultText(attempt) },
      { head: "Answer", kind: "whole", of: ({ answer }) => answer && h("code", {}, answer) },
    ],
    attempts.toReversed(),
  );
}
