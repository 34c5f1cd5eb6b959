/** Calls the admin API of a running service, as scripts do. */
import type { PostriderProcess } from "./postrider-process.ts";
import { until } from "./until.ts";

/** A service to talk to, whatever it runs in. */
export type Peer = Pick<PostriderProcess, "url" | "sandbox">;

type Json = Readonly<Record<string, unknown>>;

/** POSTs and resolves with the answer's body; rejects with it if the status is not 2xx. */
export async function admin<T = Json>(
  service: Peer,
  path: string,
  body?: unknown,
  method?: string,
): Promise<T> {
  const response = await fetch(`${service.url}/admin/v1${path}`, {
    method: method ?? (body === undefined ? "GET" : "POST"),
    headers: { Authorization: `Bearer ${service.sandbox.admin_token}`, "Content-Type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
  return (text ? JSON.parse(text) : {}) as T;
}

/** A live account with a key. */
export async function liveAccount(service: Peer): Promise<{ accountId: string; apiKey: string }> {
  const account = await admin<{ account_id: string }>(service, "/accounts", { name: "Acme", mode: "live" });
  const key = await admin<{ api_key: string }>(service, "/keys", { account_id: account.account_id });
  return { accountId: account.account_id, apiKey: key.api_key };
}

export async function send(
  service: Peer,
  request: { apiKey: string; path: string; body: unknown },
): Promise<{ status: number; body: Json }> {
  const response = await fetch(service.url + request.path, {
    method: "POST",
    headers: { Authorization: `Bearer ${request.apiKey}`, "Content-Type": "application/json" },
    body: JSON.stringify(request.body),
  });
  return { status: response.status, body: (await response.json()) as Json };
}

/** Resolves with the message once its status is one of `statuses`. */
export async function reached(
  service: Peer,
  message: { apiKey: string; path: string },
  ...statuses: string[]
): Promise<Json> {
  const headers = { Authorization: `Bearer ${message.apiKey}` };
  const look = async () => (await (await fetch(service.url + message.path, { headers })).json()) as Json;
  return until(look, ({ status }) => statuses.includes(String(status)));
}
