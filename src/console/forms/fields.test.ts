import { expect, test } from "bun:test";
import { type Field, fieldsOf, labelOf, parseText, type Schema, toText } from "./fields.ts";

const schema: Schema = {
  required: ["name", "port"],
  properties: {
    name: { type: "string", maxLength: 100, description: "for people" },
    port: { type: "integer", default: 2775 },
    body: { type: "string", maxLength: 40_000 },
    mode: { type: "string", enum: ["sandbox", "live"] },
    concat: { anyOf: [{ const: "udh8" }, { const: "sar" }] },
    is_default: { type: "boolean" },
    platforms: { type: "array", items: { type: "string", enum: ["apns", "fcm"] } },
    expires_at: { type: "string", format: "date-time" },
    connectors: { type: "array", items: { type: "object" } },
  },
};

const fields = fieldsOf(schema);
const field = (name: string): Field => fields.find((each) => each.name === name)!;

test("a schema's types are kinds of fields", () => {
  expect(fields.map(({ name, kind }) => `${name}: ${kind}`)).toEqual([
    "name: text",
    "port: number",
    "body: long",
    "mode: choice",
    "concat: choice",
    "is_default: choice",
    "platforms: lines",
    "expires_at: time",
    "connectors: json",
  ]);
});

test("what null clears is a field of its kind all the same, with its hint", () => {
  const sender: Schema = { type: "string", enum: ["a", "b"], description: "Absent: any" };
  const plain = fieldsOf({ properties: { sender } });
  expect(fieldsOf({ properties: { sender: { anyOf: [sender, { type: "null" }] } } })).toEqual(plain);
});

test("a hint has the meaning of a field, and an example", () => {
  const number: Schema = { type: "string", description: "A short code", examples: ["56161", "57575"] };
  const [described] = fieldsOf({ properties: { number } });
  expect(described?.hint).toBe("A short code. For example `56161`");
});

test("what has a default need not be given, and the default is shown", () => {
  expect([field("name").isRequired, field("port").isRequired]).toEqual([true, false]);
  expect(field("port").otherwise).toBe("2775");
});

test("choices within a list are told in its hint", () => {
  expect(field("platforms").hint).toBe("One of apns, fcm on each line");
});

test("a text is read as what its field is", () => {
  const read = (name: string, text: string) => parseText(field(name), text);
  expect(read("port", "2775")).toEqual({ value: 2775 });
  expect(read("is_default", "false")).toEqual({ value: false });
  expect(read("platforms", " apns \n\nfcm\n")).toEqual({ value: ["apns", "fcm"] });
  expect(read("connectors", `[{"connector_id":"1"}]`)).toEqual({ value: [{ connector_id: "1" }] });
  expect(read("body", "two\nlines ")).toEqual({ value: "two\nlines " });
});

test("nothing typed is nothing, unless something is required", () => {
  expect(parseText(field("body"), "  ")).toEqual({ value: undefined });
  expect(parseText(field("name"), "")).toEqual({ problem: "required" });
});

test("what cannot be read is a problem", () => {
  expect(parseText(field("port"), "many")).toEqual({ problem: "must be a number" });
  expect(parseText(field("connectors"), "[{")).toEqual({ problem: "must be JSON" });
});

test("every value comes back from its text", () => {
  const record: Record<string, unknown> = {
    name: "A",
    port: 0,
    is_default: false,
    platforms: ["apns", "fcm"],
    expires_at: "2026-11-28T10:00:00.000Z",
    connectors: [{ connector_id: "1", weight: 2 }],
  };
  const read = Object.keys(record).map((name) => [
    name,
    parseText(field(name), toText(record[name], field(name).kind)),
  ]);
  expect(read).toEqual(Object.entries(record).map(([name, value]) => [name, { value }]));
});

test("a field's label is words", () => {
  expect(["dlt_template_id", "is_default", "callback_url", "mta_sts", "extra_tlvs"].map(labelOf)).toEqual([
    "DLT template id",
    "Default",
    "Callback URL",
    "MTA STS",
    "Extra TLVs",
  ]);
});
