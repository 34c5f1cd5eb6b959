/**
 * Receives webhooks and checks who sent them. Needs nothing but Node 22.18 or later (or Bun):
 *
 *     WEBHOOK_SECRET=whsec_… PORT=8443 TLS_CERT=cert.pem TLS_KEY=key.pem node examples/receive-webhooks.ts
 *
 * The secret is what `postrider webhooks secret --account ID` prints. Without TLS_CERT it speaks HTTP, for a proxy that
 * does the TLS.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";

const { WEBHOOK_SECRET: secret = "", PORT = "8443", TLS_CERT, TLS_KEY } = process.env;
// With an empty one anybody could sign.
if (secret === "") throw new Error("WEBHOOK_SECRET is not set");

/** True if whoever knows the secret sent exactly this body, within the last five minutes. */
function isGenuine(headers: IncomingHttpHeaders, body: string): boolean {
  const { "webhook-id": id, "webhook-timestamp": sentAt, "webhook-signature": signatures } = headers;
  const age = Math.abs(Date.now() / 1000 - Number(sentAt));
  const key = Buffer.from(secret.replace("whsec_", ""), "base64");
  const wanted = createHmac("sha256", key).update(`${id}.${sentAt}.${body}`).digest();
  const isSigned = String(signatures)
    .split(" ")
    .map((signature) => Buffer.from(signature.replace("v1,", ""), "base64"))
    .some((given) => given.length === wanted.length && timingSafeEqual(given, wanted));
  return isSigned && age <= 300;
}

/** Deliveries may be repeated: keep this in your database, with what the event changes there. */
const seen = new Set<string>();

async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = "";
  for await (const chunk of request.setEncoding("utf8")) body += chunk;
  if (!isGenuine(request.headers, body)) return void response.writeHead(401).end();
  const id = String(request.headers["webhook-id"]);
  // What it is about is in its `data`.
  const { type } = JSON.parse(body);
  if (!seen.has(id)) console.log(`${type} ${id}`);
  seen.add(id);
  // Any 2xx within 15 seconds: it will not come again.
  response.writeHead(204).end();
}

const server =
  TLS_CERT && TLS_KEY
    ? createTlsServer({ cert: readFileSync(TLS_CERT), key: readFileSync(TLS_KEY) }, receive)
    : createServer(receive);
server.listen(Number(PORT), () => console.log(`listening ${(server.address() as { port: number }).port}`));
