import { expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Compile } from "typebox/schema";
import { httpConnectorKind } from "../../src/channels/sms/http/http-connector.ts";
import { sms } from "./builders.ts";
import { onEveryStore } from "./running-api.ts";

onEveryStore((start) => {
  test("/openapi.json is OpenAPI 3.1 and names every path of the interface", async () => {
    await using api = await start();
    const { status, json } = await api.get("/openapi.json", { key: undefined });
    expect(status).toBe(200);
    expect(json.openapi).toBe("3.1.0");
    expect(json.info.version).toBe("1.2.3");
    expect(Object.keys(json.paths)).toContain("/v1/sms/messages");
    for (const path of [
      "/v1/sms/messages",
      "/v1/sms/send",
      "/v1/emails/messages",
      "/v1/emails/send",
      "/v1/push/register",
      "/v1/push/identify",
    ]) {
      expect(json.paths[path].post.requestBody.content["application/json"].schema.$ref).toBeString();
    }
    for (const path of ["/v1/sms/messages/{message_id}", "/v1/emails/messages/{message_id}"]) {
      expect(json.paths[path].get.parameters[0]).toMatchObject({
        name: "message_id",
        in: "path",
        required: true,
      });
    }
  });

  test("the feed, timelines, lists and cancel are described with their parameters and answers", async () => {
    await using api = await start();
    const { paths } = (await api.get("/openapi.json")).json;
    const names = (operation: { parameters: { name: string }[] }) =>
      operation.parameters.map(({ name }) => name);
    expect(names(paths["/v1/events"].get)).toEqual(["after", "limit", "wait"]);
    for (const path of ["/v1/sms/messages", "/v1/emails/messages"]) {
      const filters = ["status", "tag", "to", "created_after", "created_before", "limit", "cursor"];
      expect(names(paths[path].get)).toEqual(filters);
      expect(paths[`${path}/{message_id}/events`].get.responses).toContainKeys(["200", "401", "404"]);
      expect(paths[`${path}/{message_id}/cancel`].post.responses).toContainKeys(["200", "401", "404", "409"]);
    }
  });

  test("what a query, a body or its size is refused for is described under the status that it has", async () => {
    await using api = await start();
    const { paths } = (await api.get("/openapi.json")).json;
    const { status, headers, json } = await api.get("/v1/sms/inbound?limit=0");
    const { content } = paths["/v1/sms/inbound"].get.responses[status];
    expect(Object.keys(content)).toEqual([headers.get("content-type")!.split(";")[0]!]);
    expect(Object.keys(content["application/json"].example.details)).toEqual(Object.keys(json.details));
    const receipts = paths["/receipts/{connector_id}/{token}"].post.responses;
    const exampleOf = (refused: number) => receipts[refused].content["application/json"].example;
    const large = await api.post("/receipts/a/b", "x".repeat(1024 * 1024 + 1));
    expect(exampleOf(large.status)).toEqual(large.json);
    const packed = await api.post("/receipts/a/b", "x", { headers: { "Content-Encoding": "gzip" } });
    expect(exampleOf(packed.status)).toEqual(packed.json);
    expect(receipts).toContainKeys(["408", "429"]);
    expect(paths["/v1/sms/messages"].post.responses).toContainKeys(["400", "408", "413", "415"]);
  });

  test("a provider's callback that is answered without words is described too", async () => {
    await using api = await start({ deps: { connectorKinds: [httpConnectorKind] } });
    const { paths } = (await api.get("/openapi.json")).json;
    const connector = await api.add("connectors", {
      name: "twilio",
      kind: "http",
      config: { provider: "twilio", account_sid: "AC1" },
      secrets: { callback_token: "a-token-of-good-length", auth_token: "tw" },
      isEnabled: true,
    });
    const path = `/receipts/${connector.id}/a-token-of-good-length`;
    const body = "MessageSid=SM1&MessageStatus=delivered";
    const signed = `${api.url}${path}MessageSidSM1MessageStatusdelivered`;
    const answer = await api.request(path, {
      method: "POST",
      body,
      headers: {
        "Content-Type": "application/x-www-form-urlencoded",
        "X-Twilio-Signature": createHmac("sha1", "tw").update(signed).digest("base64"),
      },
    });
    expect([answer.status, answer.text]).toEqual([204, ""]);
    const described = paths["/receipts/{connector_id}/{token}"].post.responses["204"];
    expect(described).not.toContainKey("content");
  });

  test("what is no JSON is described as what it is", async () => {
    await using api = await start();
    const { paths } = (await api.get("/openapi.json")).json;
    const { headers } = await api.get("/metrics");
    const [described] = Object.keys(paths["/metrics"].get.responses["200"].content);
    expect(headers.get("content-type")).toStartWith(described!);
  });

  test("operation ids are unique and every reference leads somewhere", async () => {
    await using api = await start();
    const { json, text } = await api.get("/openapi.json");
    const operations = Object.values<Record<string, { operationId: string }>>(json.paths).flatMap(
      Object.values,
    );
    const ids = operations.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const [, name] of text.matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      expect(json.components.schemas).toHaveProperty(name!);
    }
  });

  test("success statuses are those of the interface", async () => {
    await using api = await start();
    const { paths } = (await api.get("/openapi.json")).json;
    const success = (operation: { responses: object }) =>
      Object.keys(operation.responses).filter((status) => status.startsWith("2"));
    expect(success(paths["/v1/sms/messages"].post)).toEqual(["200", "202"]);
    expect(success(paths["/v1/emails/messages"].post)).toEqual(["202"]);
    expect(success(paths["/v1/sms/messages/{message_id}"].get)).toEqual(["200"]);
    expect(success(paths["/v1/push/register"].post)).toEqual(["201"]);
    expect(success(paths["/v1/push/identify"].post)).toEqual(["200"]);
  });

  test("what any success of an operation has fits its first one, which many generators of clients take for the only one", async () => {
    await using api = await start();
    const { paths, components } = (await api.get("/openapi.json")).json;
    const { responses } = paths["/v1/sms/messages"].post;
    const [first = ""] = Object.keys(responses);
    const { schema } = responses[first].content["application/json"];
    const validator = Compile({ ...schema, components });
    for (const over of [{}, { to: ["+919876543210"] }, { dry_run: true }]) {
      const { status, json } = await api.post("/v1/sms/messages", sms(over));
      expect([status, validator.Check(json)]).toEqual(["dry_run" in over ? 200 : 202, true]);
    }
  });

  test("the schema that is shown is the one that validates", async () => {
    await using api = await start();
    const { components } = (await api.get("/openapi.json")).json;
    const { expire_after_seconds } = components.schemas.SendSms.properties;
    expect(expire_after_seconds).toMatchObject({ minimum: 5, maximum: 86_400 });
    const over = sms({ expire_after_seconds: expire_after_seconds.maximum + 1 });
    expect((await api.post("/v1/sms/messages", over)).status).toBe(400);
  });

  test("the examples of bodies work as they stand, those of push with the ids of an account and its app", async () => {
    await using api = await start();
    const { accountId } = api.caller;
    const app = await api.add("pushApps", { accountId, name: "app", platforms: ["fcm"] });
    const { paths } = (await api.get("/openapi.json")).json;
    const example = (path: string) => paths[path].post.requestBody.content["application/json"].example;
    await api.add("contacts", { accountId, externalId: example("/v1/push/identify").external_id });
    const own = { account_id: accountId, app_id: app.id };
    for (const [path, over, status] of [
      ["/v1/sms/messages", {}, 202],
      ["/v1/sms/send", {}, 202],
      ["/v1/emails/messages", {}, 202],
      ["/v1/push/register", own, 201],
      ["/v1/push/identify", own, 200],
    ] as const) {
      const answer = await api.post(path, { ...example(path), ...over });
      expect([path, answer.status, answer.json.details]).toEqual([path, status, undefined]);
    }
  });

  test("an enumeration says that it is one of strings, as generators of clients want it", async () => {
    await using api = await start();
    const { text } = await api.get("/openapi.json");
    const untyped: unknown[] = [];
    JSON.parse(text, (_, value) => {
      if (Array.isArray(value?.enum) && value.type !== "string") untyped.push(value);
      return value;
    });
    expect(untyped).toEqual([]);
  });

  test("what a parameter of a query means is said beside its schema, where pages and generated clients look for it", async () => {
    await using api = await start();
    const { paths } = (await api.get("/openapi.json")).json;
    const { parameters } = paths["/v1/events"].get;
    const described = Object.fromEntries(
      parameters.map(({ name, description }: { name: string; description?: string }) => [name, description]),
    );
    expect(described).toMatchObject({
      after: expect.stringContaining("`now`"),
      wait: expect.stringContaining("Seconds"),
    });
    expect(parameters[0].schema).not.toContainKey("description");
  });

  test("a refusal's example names a field of its own endpoint, and no endpoint is said to refuse what it does not", async () => {
    await using api = await start();
    const { paths } = (await api.get("/openapi.json")).json;
    const { "400": refused, ...others } = paths["/v1/push/register"].post.responses;
    const shown = refused.content["application/json"].example;
    const { status, json } = await api.post("/v1/push/register", {});
    expect({ code: status, details: json.details }).toMatchObject({
      code: shown.code,
      details: shown.details,
    });
    expect(others).not.toContainKey("422");
    expect(paths["/v1/sms/messages"].post.responses).toContainKey("422");
  });

  test("every event that the documentation of webhooks names is described, with a body that says what it holds", async () => {
    await using api = await start();
    const { webhooks, components } = (await api.get("/openapi.json")).json;
    const page = readFileSync(join(import.meta.dir, "../../docs/webhooks.md"), "utf8");
    const rows = page.match(/^\| `(sms|email|webhook)\..*/gm) ?? [];
    const types = rows.flatMap((row) =>
      [...row.split(" | ")[0]!.matchAll(/`(.*?)`/g)].map(([, type]) => type!),
    );
    expect(types).toContain("sms.undelivered");
    expect(Object.keys(webhooks).sort()).toEqual(types.sort());
    expect(components.schemas.DeliveryEvent.properties.data.properties.to.anyOf).toMatchObject([
      { type: "string" },
      { type: "array", items: { properties: { email: { type: "string" } } } },
    ]);
  });

  test("an event of the feed is described as that of a webhook, whose type tells what it holds", async () => {
    await using api = await start();
    const { components } = (await api.get("/openapi.json")).json;
    const { schemas } = components;
    const kinds = schemas.EventPage.properties.data.items.anyOf.map(({ $ref }: { $ref: string }) => $ref);
    expect(kinds).toEqual([
      "#/components/schemas/FeedDeliveryEvent",
      "#/components/schemas/FeedReceivedEvent",
    ]);
    for (const kind of ["DeliveryEvent", "ReceivedEvent"]) {
      const { id, ...properties } = schemas[`Feed${kind}`].properties;
      expect(id.type).toBe("string");
      expect(properties).toEqual(schemas[kind].properties);
    }
  });

  test("the description is read also while the database is away, with the public URL as it was", async () => {
    let settings: (() => Promise<never>) | undefined;
    await using api = await start({
      over: (store) => ({
        ...store,
        records: { ...store.records, settings: (id) => (settings ?? (() => store.records.settings(id)))() },
      }),
    });
    const publicUrl = "https://sms.acme.example";
    await api.store.records.setSettings(undefined, { public_url: publicUrl });
    const document = await api.get("/openapi.json");
    expect(document.json.servers[0].url).toBe(publicUrl);
    settings = () => Promise.reject(new Error("connection refused"));
    await api.clock.advance(1_000);
    expect((await api.get("/openapi.json")).text).toBe(document.text);
    const asked = Promise.withResolvers<void>();
    settings = () => {
      asked.resolve();
      return new Promise(() => {});
    };
    const late = api.get("/openapi.json");
    await asked.promise;
    await api.clock.advance(1_000);
    expect((await late).text).toBe(document.text);
  });

  test("/docs is a page that loads nothing from elsewhere, under a policy that says so", async () => {
    await using api = await start();
    const page = await api.get("/docs");
    expect(page.status).toBe(200);
    expect(page.headers.get("content-type")).toContain("text/html");
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(page.text).not.toMatch(/https?:\/\//);
    expect((await api.get("/docs/")).text).toBe(page.text);
    expect((await api.get("/docs/swagger-ui.css")).headers.get("content-type")).toContain("text/css");
    expect((await api.get("/docs/start.js")).status).toBe(200);
    expect((await api.get("/docs/secrets.json")).status).toBe(404);
  });

  test("/healthz, /readyz and /metrics answer without a key", async () => {
    await using api = await start();
    expect((await api.get("/healthz", { key: undefined })).json).toEqual({ status: "ok" });
    expect((await api.get("/readyz", { key: undefined })).json).toEqual({ status: "ready" });
    expect((await api.get("/metrics", { key: undefined })).text).toBe("# EOF\n");
  });

  test("/readyz names what is wrong, a database that does not answer included", async () => {
    await using stuck = await start({ deps: { readiness: async () => ["worker has not turned for 10 s"] } });
    const answer = await stuck.get("/readyz");
    expect(answer.status).toBe(503);
    expect(answer.json.problems).toEqual(["worker has not turned for 10 s"]);
    await using api = await start();
    await api.store.close();
    expect((await api.get("/readyz")).status).toBe(503);
  });
});
