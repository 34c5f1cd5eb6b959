import { expect, test } from "bun:test";
import { onEveryAdmin } from "../../../test/acceptance/running-admin.ts";
import { type Json, toReference } from "./to-reference.ts";

test("what has a title is described once, and referred to wherever it stands", () => {
  const schemas = new Map<string, Json>();
  const leaf = { type: "object", title: "Leaf", properties: {} };
  const title = { type: "string" };
  const tree = { type: "object", title: "Tree", properties: { title, first: leaf, others: { items: leaf } } };
  expect(toReference({ anyOf: [tree, { type: "null" }] }, schemas)).toEqual({
    anyOf: [{ $ref: "#/components/schemas/Tree" }, { type: "null" }],
  });
  const ref = { $ref: "#/components/schemas/Leaf" };
  expect(Object.fromEntries(schemas)).toEqual({
    Leaf: leaf,
    Tree: { ...tree, properties: { title, first: ref, others: { items: ref } } },
  });
});

onEveryAdmin((start) => {
  test("a record is one type for clients that are generated, whichever answer it comes in", async () => {
    await using admin = await start();
    const { paths } = JSON.parse(await (await fetch(`${admin.url}/openapi.json`)).text());
    const schemaIn = (path: string, method: string, status: number) =>
      paths[`/admin/v1/${path}`][method].responses[status].content["application/json"].schema;
    for (const [noun, name] of [
      ["routes", "Route"],
      ["domains", "Domain"],
      ["sms-templates", "SmsTemplate"],
    ]) {
      const ref = { $ref: `#/components/schemas/${name}` };
      expect(schemaIn(`${noun}`, "post", 201)).toEqual(ref);
      expect(schemaIn(`${noun}`, "get", 200).properties.data.items).toEqual(ref);
      expect(schemaIn(`${noun}/{id}`, "get", 200)).toEqual(ref);
      expect(schemaIn(`${noun}/{id}`, "patch", 200)).toEqual(ref);
    }
  });
});
