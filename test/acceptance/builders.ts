import type { Caller, RunningApi } from "./running-api.ts";

export const TEMPLATE_ID = "3f2b8a1e-5c4d-4e6f-8a9b-0c1d2e3f4a5b";

/** An SMS body with all that is required. */
export function sms(over: Record<string, unknown> = {}) {
  return { to: "+919876543210", template_id: TEMPLATE_ID, ...over };
}

/** An email body with all that is required. */
export function email(over: Record<string, unknown> = {}) {
  return {
    from: { email: "hello@example.com" },
    to: [{ email: "asha@example.org" }],
    subject: "Your order",
    body_text: "It is on its way.",
    ...over,
  };
}

export function isoIn(api: RunningApi, ms: number): string {
  return new Date(api.clock.now() + ms).toISOString();
}

/** A live account with all that the bodies above need; set their `template_id` to its template. */
export async function liveAccount(
  api: RunningApi,
): Promise<Caller & { templateId: string; routeId: string }> {
  const caller = await api.newAccount("live");
  const { accountId } = caller;
  const template = await api.add("smsTemplates", {
    accountId,
    name: "otp",
    body: "Your code is {#var#}, valid for {#var#} minutes.",
    dltTemplateId: "1107161234567890123",
    dltEntityId: "1101172974420810001",
  });
  await api.add("senders", {
    accountId,
    senderId: "ACMECO",
    dltEntityId: "1101172974420810001",
    isDefault: true,
  });
  const connector = await api.add("connectors", {
    name: `c-${accountId}`,
    kind: "smpp",
    config: {},
    secrets: {},
    isEnabled: true,
  });
  const route = await api.add("routes", {
    accountId,
    channel: "sms",
    match: "91",
    connectorIds: [connector.id],
  });
  await api.add("routes", { accountId, channel: "email", match: "", connectorIds: [connector.id] });
  await api.add("domains", {
    accountId,
    domain: "example.com",
    ownershipToken: "t",
    dkimKeys: [],
    verifiedAt: api.clock.now(),
  });
  return { ...caller, templateId: template.id, routeId: route.id };
}
