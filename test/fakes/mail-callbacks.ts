/** Hands webhooks of mail providers to their reader, as the receipts endpoint does, with a web of the test's own. */
import { randomUUID } from "node:crypto";
import type { CallbackReading, Web } from "../../src/channels/channel.ts";
import { readMailCallback } from "../../src/channels/email/providers/read-mail-callback.ts";
import type { Receipt } from "../../src/core/messages/outcome.ts";
import type { Connector } from "../../src/core/records/accounts.ts";

/** When every webhook arrives. */
export const NOW = Date.UTC(2026, 10, 21, 12);
export const ANN = "ann@example.net";

/** What was fetched, and the answer. */
export const fetched: string[] = [];
export const pages = new Map<string, string>();

const web: Web = {
  async get(url) {
    fetched.push(url.href);
    return pages.get(`${url.origin}${url.pathname}`);
  },
};

export function connector(config: Record<string, unknown>, secret = ""): Connector {
  const base = { id: randomUUID(), name: "relay", kind: "smtp", isEnabled: true, createdAt: 0 };
  return { ...base, config: { host: "smtp.example", ...config }, secrets: { webhook_secret: secret } };
}

async function read(
  of: Connector,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<CallbackReading> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const request = { method: "POST", url: "https://x.example/", headers: new Headers(headers) };
  return readMailCallback(of, { ...request, body: text, receivedAt: NOW }, web);
}

export async function receipts(...call: Parameters<typeof read>): Promise<readonly Receipt[]> {
  const reading = await read(...call);
  if (reading.kind === "refused") throw new Error(reading.reason);
  return reading.receipts;
}

export async function refusal(...call: Parameters<typeof read>): Promise<400 | 401 | "taken"> {
  const reading = await read(...call);
  return reading.kind === "refused" ? reading.status : "taken";
}
