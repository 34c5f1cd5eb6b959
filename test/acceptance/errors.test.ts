import { expect, test } from "bun:test";
import { OutcomeUnknown, StoreUnavailable } from "../../src/store/store.ts";
import { dial } from "../fakes/raw-client.ts";
import { email, sms } from "./builders.ts";
import { onEveryStore } from "./running-api.ts";

const PATH = "/v1/sms/messages";
const MIB = 1024 * 1024;

onEveryStore((start) => {
  test("400: the body has code, message and details by field", async () => {
    await using api = await start();
    const { status, json, headers } = await api.post(PATH, {});
    expect(status).toBe(400);
    expect(headers.get("content-type")).toBe("application/json");
    expect(Object.keys(json)).toEqual(["code", "message", "details"]);
    expect(json).toMatchObject({ code: 400, message: "validation failed", details: { to: "required" } });
  });

  test("400: a body that is not JSON, or not an object, is named as body", async () => {
    await using api = await start();
    for (const body of ["", "{", "nonsense", "[]", '"text"', "null", "7", '{"to":1}}']) {
      const { status, json } = await api.post(PATH, body);
      expect(status).toBe(400);
      expect(json.message).toBe("validation failed");
      expect(Object.keys(json.details)).toEqual(["body"]);
    }
  });

  test("400: duplicate names and __proto__ are refused as body", async () => {
    await using api = await start();
    const twice = `{"to":"+919876543210","t\\u006f":"+14155550123","template_id":"x"}`;
    const proto = `{"to":"+919876543210","metadata":{"__proto__":{"a":1}}}`;
    for (const body of [twice, proto]) {
      expect(Object.keys((await api.post(PATH, body)).json.details)).toEqual(["body"]);
    }
    const lookalike = sms({ metadata: { 'a":': '","b":', c: { 'a":': [{}, { x: "y" }] } } });
    expect((await api.post(PATH, lookalike)).status).toBe(202);
  });

  test("400: invalid UTF-8 is named as body", async () => {
    await using api = await start();
    const body = Buffer.concat([Buffer.from('{"to":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]);
    const { status, json } = await api.post(PATH, new Uint8Array(body));
    expect(status).toBe(400);
    expect(json.details).toEqual({ body: "must be UTF-8" });
  });

  test("404: an unknown path", async () => {
    await using api = await start();
    for (const path of [
      "/",
      "/v1",
      "/v1/sms",
      "/v1/sms/messages/",
      "/V1/SMS/MESSAGES",
      "/v2/sms/messages",
      "//",
    ]) {
      const { status, json } = await api.get(path);
      if (path === "/v1/sms/messages/") expect(json.code).toBe(404);
      else expect(json).toEqual({ code: 404, message: "not found" });
      expect(status).toBe(404);
    }
  });

  test("405: a wrong method, with Allow", async () => {
    await using api = await start();
    const put = await api.request(PATH, { method: "PUT" });
    expect(put.status).toBe(405);
    expect(put.json).toEqual({ code: 405, message: "method not allowed" });
    expect(put.headers.get("allow")).toBe("POST, GET, HEAD");
    const post = await api.post(`${PATH}/x`, {});
    expect(post.headers.get("allow")).toBe("GET, HEAD");
    expect((await api.request(PATH, { method: "OPTIONS" })).status).toBe(405);
  });

  test("413: an SMS body over 1 MiB and an email body over 10 MiB, with the limit", async () => {
    await using api = await start();
    const padded = (body: object, bytes: number) => {
      const text = JSON.stringify(body);
      return text + " ".repeat(bytes - text.length);
    };
    expect((await api.post(PATH, padded(sms(), MIB))).status).toBe(202);
    expect((await api.post("/v1/emails/messages", padded(email(), 10 * MIB))).status).toBe(202);
    for (const [path, body, limit] of [
      [PATH, sms(), 1],
      ["/v1/push/register", {}, 1],
      ["/v1/emails/messages", email(), 10],
    ] as const) {
      const { status, json } = await api.post(path, padded(body, limit * MIB + 1));
      expect(status).toBe(413);
      const details = { body: `must be at most ${limit} MiB` };
      expect(json).toEqual({ code: 413, message: "payload too large", details });
    }
  });

  test("413: reaches a client that first sends all of its body, and the connection stays", async () => {
    await using api = await start();
    const wire = await dial(api.port);
    const send = (octets: string) =>
      new Promise<void>((resolve, reject) =>
        wire.socket.write(octets, (error) => (error ? reject(error) : resolve())),
      );
    const head = (line: string) =>
      `POST /v1/emails/messages HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${api.caller.key}\r\n${line}\r\n\r\n`;
    const body = " ".repeat(24 * MIB);
    await send(`${head(`Content-Length: ${body.length}`)}${body}`);
    await wire.until(/413 Payload.*too large/s);
    await send(head("Transfer-Encoding: chunked"));
    await send(`${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`);
    await wire.until(/413 Payload.*413 Payload.*too large/s);
    const good = JSON.stringify(email());
    await send(`${head(`Content-Length: ${good.length}`)}${good}`);
    expect(await wire.until(/created_at/)).toContain("HTTP/1.1 202");
    wire.socket.destroy();
  });

  test("415: a Content-Type that is not JSON, or an unknown Content-Encoding, with the header that is wrong", async () => {
    await using api = await start();
    const post = (headers: Record<string, string>) => api.post(PATH, sms(), { headers });
    for (const type of [
      "text/plain",
      "application/x-www-form-urlencoded",
      "application/jsonx",
      "multipart/form-data",
    ]) {
      const { status, json, headers } = await post({ "Content-Type": type });
      expect(status).toBe(415);
      const details = { "Content-Type": "must be application/json" };
      expect(json).toEqual({ code: 415, message: "unsupported media type", details });
      expect(headers.get("accept")).toBe("application/json");
    }
    for (const encoding of ["gzip", "br"]) {
      const { status, json, headers } = await post({ "Content-Encoding": encoding });
      expect(status).toBe(415);
      const details = { "Content-Encoding": "must be absent: send the body uncompressed" };
      expect(json).toEqual({ code: 415, message: "unsupported media type", details });
      expect(headers.get("accept-encoding")).toBe("identity");
    }
    for (const type of ["application/json; charset=utf-8", "Application/JSON", "application/vnd.api+json"])
      expect((await post({ "Content-Type": type })).status).toBe(202);
    for (const plain of ["identity", "Identity"])
      expect((await post({ "Content-Encoding": plain })).status).toBe(202);
  });

  test("500: our fault says nothing but internal error; the cause is in the log under the request id", async () => {
    await using api = await start({
      over: (store) => ({
        ...store,
        intake: {
          ...store.intake,
          accept: async () => {
            throw new Error("a secret cause");
          },
        },
      }),
    });
    const { status, json, headers } = await api.post(PATH, sms());
    expect(status).toBe(500);
    expect(json).toEqual({ code: 500, message: "internal error" });
    const line = api.logged.find(({ level }) => level === "error");
    expect(line?.fields.request_id).toBe(headers.get("x-request-id"));
    expect(String(line?.fields.error)).toContain("a secret cause");
  });

  test("503: the database away, with Retry-After and no word of the cause; it is logged once a second", async () => {
    await using api = await start({
      over: (store) => ({
        ...store,
        intake: {
          ...store.intake,
          accept: async () => {
            throw new StoreUnavailable("disk full");
          },
        },
      }),
    });
    for (let i = 0; i < 3; i++) {
      const { status, text, headers } = await api.post(PATH, sms());
      expect(status).toBe(503);
      expect(text).toBe('{"code":503,"message":"service unavailable"}');
      expect(headers.get("retry-after")).toMatch(/^\d+$/);
    }
    expect(api.logged.filter(({ level }) => level === "error")).toHaveLength(1);
  });

  test("503: where nobody knows whether it was taken that is said, and that repeating with the key is safe", async () => {
    await using api = await start({
      over: (store) => ({
        ...store,
        intake: {
          ...store.intake,
          accept: async (request) => {
            await store.intake.accept(request);
            throw new OutcomeUnknown("the connection was lost");
          },
        },
      }),
    });
    const headers = { "Idempotency-Key": "k" };
    const lost = await api.post(PATH, sms(), { headers });
    expect(lost.status).toBe(503);
    expect(lost.json).toMatchObject({ code: 503, details: { outcome: "unknown" } });
    expect(lost.json.message).toStartWith("outcome unknown");
    expect(lost.json.message).toContain("repeating it with the same Idempotency-Key is safe");
    expect(lost.headers.get("retry-after")).toMatch(/^\d+$/);
  });

  test("503: while draining, with Retry-After and the connection closed; probes still answer", async () => {
    await using api = await start({ deps: { isLeaving: () => true, isDraining: () => true } });
    const { status, headers } = await api.post(PATH, sms());
    expect(status).toBe(503);
    expect(headers.get("retry-after")).toMatch(/^\d+$/);
    expect(headers.get("connection")).toBe("close");
    expect((await api.get("/healthz")).status).toBe(200);
    expect((await api.get("/readyz")).status).toBe(503);
  });
});
