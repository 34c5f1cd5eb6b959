/** What is made before the first request, through the API, as an operator does it. */
import { bearer } from "./draft.ts";
import type { ServiceUnderTest } from "./under-test.ts";
import type { Caller } from "./world.ts";

export interface Made {
  readonly id: string;
  readonly api_key?: string;
  readonly callback_path?: string;
}

export type Make = (path: string, body: object, method?: string) => Promise<Made>;

/** An account whose SMS have a template, a sender and a route, to a connector that is switched off. */
export async function makeLive(make: Make): Promise<Caller> {
  const { id: accountId } = await make("accounts", { name: "Live", mode: "live" });
  const { api_key: key = "" } = await make("keys", { account_id: accountId });
  const dlt = { dlt_template_id: "1107161234567890123", dlt_entity_id: "1101172974420810001" };
  const template = { name: "otp", body: "Code {#var#}.", from: "ACMECO", ...dlt };
  await make("sms-templates", { account_id: accountId, ...template });
  await make("senders", { account_id: accountId, sender_id: "ACMECO", is_default: true });
  const gateway = { host: "127.0.0.1", port: 1, system_id: "a", password: "b" };
  const smsc = await make("connectors", { kind: "smpp", name: "smsc", config: gateway, is_enabled: false });
  await make("routes", { account_id: accountId, channel: "sms", match: "", connector_ids: [smsc.id] });
  return { accountId, key };
}

export interface Callback {
  readonly connectorId: string;
  readonly token: string;
}

/** Gateways whose reports need no signature. */
const GATEWAYS = [
  { provider: "kannel", base_url: "http://127.0.0.1:9", username: "acme", password: "p" },
  { provider: "gupshup", userid: "1", password: "p" },
  { provider: "msg91", authkey: "k" },
  { provider: "vonage", api_key: "k", api_secret: "s" },
];

export async function makeGateways(make: Make): Promise<readonly Callback[]> {
  const made: Callback[] = [];
  for (const config of GATEWAYS) {
    const connector = { kind: "http", name: config.provider, is_enabled: false, config };
    const { id, callback_path: path = "" } = await make("connectors", connector);
    made.push({ connectorId: id, token: path.split("/").at(-1) ?? "" });
  }
  return made;
}

/** The token of the unsubscribe link in a mail that the sandbox took. */
export async function unsubscribeToken(service: ServiceUnderTest["service"], make: Make): Promise<string> {
  const { url, sandbox } = service;
  await make("settings/public_url", { value: "https://mail.acme.example" }, "PUT");
  await service.pass(3_000);
  const mail = {
    from: { email: "a@example.com" },
    to: [{ email: "b@example.org" }],
    subject: "s",
    body_text: "t",
  };
  await fetch(`${url}/v1/emails/messages`, {
    method: "POST",
    headers: { ...bearer(sandbox.api_key), "Content-Type": "application/json" },
    body: JSON.stringify({ ...mail, unsubscribe: true }),
  });
  let token: string | undefined;
  await service.passUntil(async () => {
    const response = await fetch(`${url}/admin/v1/sandbox/messages`, {
      headers: bearer(sandbox.admin_token),
    });
    token = /unsubscribe\/([\w-]+)/.exec((await response.text()).replaceAll("\\r\\n ", ""))?.[1];
    return token !== undefined;
  }, 60_000);
  return token ?? "";
}
