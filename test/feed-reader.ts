/** Sends messages, and reads of them in the event feed. */
import { expect } from "bun:test";
import { type Peer, reached, send } from "./admin.ts";
import { until } from "./until.ts";

interface Page {
  readonly data: readonly { readonly type: string; readonly data: { readonly message_id: string } }[];
  readonly next: string;
}

/** Sends a message once requests are taken; resolves with its id when it is delivered. */
export async function deliverSms(service: Peer): Promise<string> {
  const apiKey = service.sandbox.api_key;
  const body = { to: "+919876543210", dlt_template_id: "1107160000000000001" };
  const accepted = await until(
    () => send(service, { apiKey, path: "/v1/sms/messages", body }),
    ({ status }) => status === 202,
  );
  const id = String(accepted.body.message_id);
  await reached(service, { apiKey, path: `/v1/sms/messages/${id}` }, "delivered");
  return id;
}

/** Reads on from the cursor until it is told that the message was delivered. */
export async function readUntil(service: Peer, after: string, last: string) {
  let next = after;
  const told: string[] = [];
  const read = async () => {
    const query = new URLSearchParams({ wait: "5", ...(next !== "" && { after: next }) });
    const headers = { Authorization: `Bearer ${service.sandbox.api_key}` };
    const response = await fetch(`${service.url}/v1/events?${query}`, { headers });
    expect(response.status).toBe(200);
    const page = (await response.json()) as Page;
    next = page.next;
    told.push(...page.data.filter(({ type }) => type === "sms.delivered").map(({ data }) => data.message_id));
    return told.includes(last);
  };
  await until(read, Boolean);
  return { next, told };
}
