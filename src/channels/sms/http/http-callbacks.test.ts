/** What is read of a callback, in whatever form it comes, and what is left of its values. */
import { expect, test } from "bun:test";
import { type Callback, httpConnector, MESSAGE_ID, readCallback } from "../../../../test/fakes/http-rig.ts";
import type { Receipt } from "../../../core/messages/outcome.ts";

interface Given {
  readonly callback?: Record<string, unknown>;
  readonly answer?: Record<string, unknown>;
  readonly config?: Record<string, unknown>;
  readonly secrets?: Record<string, string>;
}

function reading(request: Callback, { callback = {}, answer = {}, config = {}, secrets = {} }: Given = {}) {
  const gateway = {
    send: { url: "http://127.0.0.1:1" },
    answer: { id: { json: "/id" }, ...answer },
    callback: {
      id: { json: "/id" },
      to: [{ json: "/to" }],
      status: [{ json: "/s" }],
      statuses: { DONE: "delivered", LOST: "undelivered" },
      error_code: { json: "/code" },
      ...callback,
    },
  };
  return readCallback(httpConnector({ provider: "custom", gateway, ...config }, secrets), request);
}

function receiptOf(request: Callback, given?: Given): Receipt | undefined {
  const read = reading(request, given);
  return read.kind === "receipts" ? read.receipts[0] : undefined;
}

const FORM = { "Content-Type": "application/x-www-form-urlencoded" };

const IN_PARTS = "multipart/form-data; boundary=----b 7";
const partOf = (name: string, value: string) =>
  `Content-Disposition: form-data; filename="x"; name="${name}"\r\n\r\n${value}`;
/** A form as PHP's curl writes it. */
const inParts = (fields: Record<string, string>) =>
  `${Object.entries(fields)
    .map(([name, value]) => `------b 7\r\n${partOf(name, value)}\r\n`)
    .join("")}------b 7--\r\n`;

test.each<[string, Callback]>([
  [
    "a GET that says it has JSON",
    { method: "GET", query: "id=1&s=DONE", headers: { "Content-Type": "application/json" } },
  ],
  ["a form whose first field looks like JSON", { body: "[x=&id=1&s=DONE", headers: FORM }],
  ["a form in parts", { body: inParts({ id: "1", s: "DONE" }), headers: { "Content-Type": IN_PARTS } }],
  [
    "a form in parts whose text looks like a part",
    {
      body: inParts({ more: `\r\n--other\r\n${partOf("s", "LOST")}`, id: "1", s: "DONE" }),
      headers: { "Content-Type": 'Multipart/Form-Data; charset=utf-8; boundary="----b 7"' },
    },
  ],
  ["a form with its id in the query", { query: "id=1&s=LOST", form: { s: "DONE" } }],
  ["JSON that does not say so", { body: ' {"id":1,"s":"DONE"}' }],
  ["JSON that says it is a form", { body: '{"id":1,"s":"DONE"}', headers: FORM }],
  [
    "a query beside an empty object that says it is a form",
    { query: "id=1&s=DONE", body: "{}", headers: FORM },
  ],
  [
    "a query beside an empty list that says it is a form",
    { query: "id=1&s=DONE", body: " []", headers: FORM },
  ],
  ["a list", { json: [{ id: "1", s: "DONE" }] }],
  ["a word in another case, with blanks", { json: { id: ' "1" ', s: " done " } }],
])("%s is read", (_, callback) => {
  expect(receiptOf(callback)).toMatchObject({ providerMessageId: "1", status: "delivered" });
});

test.each([
  ["JSON that is a form", "id=1&s=DONE"],
  ["a number", "5"],
  ["nothing", ""],
])("%s, said to be JSON, cannot be read", (_, body) => {
  const read = reading({ body, headers: { "Content-Type": "application/json" } });
  expect(read).toMatchObject({ kind: "refused", status: 400 });
});

test("a status that is not known proves nothing, and is marked to be shown", () => {
  expect(receiptOf({ json: { id: "1", s: "BLOCKED" } })).toMatchObject({ status: "sent", isUnclear: true });
  const onTheWay = { statuses: { ONWAY: "sent" } };
  expect(receiptOf({ json: { id: "1", s: "ONWAY" } }, { callback: onTheWay })).not.toHaveProperty(
    "isUnclear",
  );
});

test("a provider that wants certain words is answered with them, any other with ok", () => {
  const json = { id: "1", s: "DONE" };
  const answer = { status: 200, body: "ACK/Jasmin" };
  expect(reading({ json })).toMatchObject({ answer: { status: 200, body: "ok" } });
  expect(reading({ json }, { callback: { answer } })).toMatchObject({ answer });
});

test("a report names a message by our id only where the gateway was given it", () => {
  const json = { id: MESSAGE_ID.toUpperCase(), s: "DONE" };
  expect(receiptOf({ json })).toMatchObject({ providerMessageId: MESSAGE_ID.toUpperCase() });
  expect(receiptOf({ json })).not.toHaveProperty("isOwnId");
  const ours = { answer: { own_id: true } };
  expect(receiptOf({ json }, ours)).toMatchObject({ providerMessageId: MESSAGE_ID, isOwnId: true });
  expect(receiptOf({ json: { ...json, id: "A-1" } }, ours)).toMatchObject({ providerMessageId: "A-1" });
  expect(receiptOf({ json: { ...json, id: "A-1" } }, ours)).not.toHaveProperty("isOwnId");
});

test.each(["{}", "[]"])("%s that says it is a form names no message, and asks for none", (body) => {
  expect(reading({ body, headers: FORM })).toMatchObject({ kind: "receipts", receipts: [] });
  expect(reading({ body, headers: FORM })).not.toHaveProperty("isNameless");
});

test("a report without an id is passed over, and the others of its callback count", () => {
  const reports = [{ s: "DONE" }, { id: " ", s: "DONE" }, ...Array.from({ length: 10 }, (_, id) => ({ id }))];
  const read = reading({ json: reports });
  expect(read.kind === "receipts" && read.receipts.length).toBe(10);
});

test("what is kept of a report is cut to what can be stored, on one line and without whole numbers", () => {
  const json = {
    id: "i".repeat(300),
    to: "5".repeat(60),
    s: `LOST\r\n+919876543210 ${"x".repeat(300)}`,
    code: "7",
  };
  const receipt = receiptOf({ json });
  expect(receipt).toMatchObject({
    providerMessageId: "i".repeat(255),
    recipient: "5".repeat(40),
    status: "sent",
  });
  expect(receipt?.raw).toStartWith("LOST …3210 xxx");
  expect(receipt?.raw).toHaveLength(255);
});

test("an error code changes what a failure is, and never what is no failure", () => {
  const callback = { error_statuses: { 9: "expired" } };
  const statusOf = (s: string, code = "9") => receiptOf({ json: { id: "1", s, code } }, { callback })?.status;
  expect([statusOf("LOST"), statusOf("LOST", "8")]).toEqual(["expired", "undelivered"]);
  expect([statusOf("DONE"), statusOf("?")]).toEqual(["delivered", "sent"]);
});

test("an operator's own code stands for a scrub code, whatever the recipient's country", () => {
  const config = { dlt_codes: { 5308: "633" } };
  const json = { id: "1", s: "LOST", code: "5308", to: "4915112345678" };
  expect(receiptOf({ json }, { config })).toMatchObject({ status: "failed", error: { code: "dlt.633" } });
  expect(receiptOf({ json })).toMatchObject({ status: "undelivered", error: { code: "custom.5308" } });
});

test("a callback is answered as described, the one of a handset as any other where nothing else is said", () => {
  const inbound = {
    when: { json: "/text" },
    id: { json: "/id" },
    from: { json: "/from" },
    to: { json: "/to" },
    text: { json: "/text" },
  };
  const json = { id: "1", from: "4915112345678", to: "4711", text: "hi" };
  const plain = { status: 200, body: "ok", contentType: "text/plain; charset=utf-8" };
  expect(reading({ json }, { callback: { inbound } })).toMatchObject({
    inbound: [{ text: "hi" }],
    answer: plain,
  });
  const answer = { status: 202, body: "taken", content_type: "text/html" };
  for (const given of [json, { id: "1", s: "DONE" }]) {
    expect(reading({ json: given }, { callback: { inbound, answer } })).toMatchObject({
      answer: { status: 202, body: "taken", contentType: "text/html" },
    });
  }
});

test("no proof is none, also where the secret for it is empty", () => {
  const verify = { scheme: "header", header: "X-Key", secret: "auth_token" };
  const json = { id: "1", s: "DONE" };
  const kindOf = (secrets: Record<string, string>, headers: Record<string, string> = {}) =>
    reading({ json, headers }, { callback: { verify }, secrets }).kind;
  expect([kindOf({ auth_token: "" }), kindOf({}), kindOf({ auth_token: "a" })]).toEqual(
    Array(3).fill("refused"),
  );
  expect(kindOf({ auth_token: "a" }, { "X-Key": "a" })).toBe("receipts");
});
