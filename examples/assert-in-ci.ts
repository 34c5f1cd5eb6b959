/**
 * What a continuous integration run does with the sandbox: sends as the application would, waits for the final status, and
 * looks at what would have been sent. Needs nothing but `fetch`. With the service running:
 *
 *     npx bun examples/assert-in-ci.ts data/sandbox.json
 *     node examples/assert-in-ci.ts data/sandbox.json      (Node 22.18 or later, which strips types)
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";

type Json = Record<string, unknown>;

const TIME_LIMIT_MS = 10_000;
const UNDER_WAY = ["queued", "scheduled", "sending", "sent"];

const sandboxFile = process.argv[2] ?? "data/sandbox.json";
const { base_url, account_id, api_key, admin_token } = JSON.parse(readFileSync(sandboxFile, "utf8"));

async function call(token: string, path: string, body?: Json): Promise<Json> {
  const response = await fetch(base_url + path, {
    method: body ? "POST" : "GET",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
  assert.ok(response.ok, `${path} answered ${response.status}: ${await response.clone().text()}`);
  return (await response.json()) as Json;
}

/** Waits until a message has a final status, and resolves with it. */
async function finalStatus(path: string): Promise<unknown> {
  const deadline = Date.now() + TIME_LIMIT_MS;
  while (Date.now() < deadline) {
    const { status } = await call(api_key, path);
    if (!UNDER_WAY.includes(String(status))) return status;
    await wait(100);
  }
  throw new Error(`${path} has no final status after ${TIME_LIMIT_MS / 1000} s`);
}

async function renderedBySandbox(messageId: unknown): Promise<Json[]> {
  const { data } = await call(admin_token, `/admin/v1/sandbox/messages?message_id=${messageId}`);
  return data as Json[];
}

async function codeArrivesInOneSegment(): Promise<void> {
  const template = await call(admin_token, "/admin/v1/sms-templates", {
    account_id,
    name: `login ${Date.now()}`,
    body: "{#var#} is your code.",
  });
  const sent = await call(api_key, "/v1/sms/messages", {
    to: "+919812345678",
    template_id: template.id,
    variables: { "1": "4711" },
  });
  assert.equal(await finalStatus(`/v1/sms/messages/${sent.message_id}`), "delivered");
  const rendered = await renderedBySandbox(sent.message_id);
  assert.equal(rendered.length, 1);
  assert.equal(rendered[0]?.text, "4711 is your code.");
  assert.equal(rendered[0]?.segments, 1);
}

async function wrongNumberIsUndelivered(): Promise<void> {
  const sent = await call(api_key, "/v1/sms/messages", {
    to: "+15005550001",
    dlt_template_id: "1107160000000000001",
  });
  assert.equal(await finalStatus(`/v1/sms/messages/${sent.message_id}`), "undelivered");
}

async function unknownMailboxBounces(): Promise<void> {
  const sent = await call(api_key, "/v1/emails/messages", {
    from: { email: "orders@example.com", name: "Orders" },
    to: [{ email: "bounce+ci@example.net" }],
    subject: "Your order",
    body_text: "Thank you.",
  });
  assert.equal(await finalStatus(`/v1/emails/messages/${sent.message_id}`), "bounced");
  assert.equal((await renderedBySandbox(sent.message_id))[0]?.subject, "Your order");
}

const CHECKS = { codeArrivesInOneSegment, wrongNumberIsUndelivered, unknownMailboxBounces };

for (const [name, check] of Object.entries(CHECKS)) {
  await check();
  console.log(`ok ${name}`);
}
