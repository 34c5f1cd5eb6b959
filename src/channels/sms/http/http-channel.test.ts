import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createServer } from "node:net";
import { type FakeGateway, startFakeGateway } from "../../../../test/fakes/fake-gateway.ts";
import {
  ACCEPTED,
  type HttpRig,
  httpConnector,
  never,
  openHttpRig,
  outgoingSms,
} from "../../../../test/fakes/http-rig.ts";
import { startRawPeer } from "../../../../test/fakes/raw-peer.ts";
import { httpConnectorKind } from "./http-connector.ts";

let gateway: FakeGateway;
let rig: HttpRig | undefined;
beforeEach(async () => {
  gateway = await startFakeGateway(ACCEPTED);
});
afterEach(async () => {
  const stopping = rig?.channel.stop();
  await gateway.close();
  await stopping;
  rig = undefined;
});

const description = (url = gateway.url) => ({
  send: {
    url: `${url}/send/{{to_digits}}`,
    auth: { kind: "header", name: "X-Key", value: "{{secret.auth_token}}" },
    headers: { "X-Sender": "{{from}}" },
    query: { ref: "{{message_id}}" },
    json: { to: "{{to}}", text: "{{text}}" },
  },
  answer: { id: { json: "/id" } },
});

const connector = (over: Record<string, unknown> = {}) =>
  httpConnector({ provider: "custom", gateway: description(), ...over }, { auth_token: "t0ken" });

const open = (over?: Record<string, unknown>) => {
  rig = openHttpRig(connector(over));
  return rig;
};

describe("a message", () => {
  test("stands escaped wherever the description puts it, and nothing it says becomes anything else", async () => {
    const { channel } = open();
    const text = `"}],"to":"+15550000000 {{secret.auth_token}} \r\nX-Evil: 1 & ünïcödé \ud83d\ude00`;
    const outcome = await channel.send(outgoingSms({ text }), never);
    expect(outcome.parts).toEqual([{ kind: "sent", providerMessageIds: ["a-1"], expectsReceipt: false }]);
    const [request] = gateway.requests;
    expect(request?.json).toEqual({ to: "+919876543210", text });
    expect(request?.headers["x-evil"]).toBeUndefined();
    expect(request).toMatchObject({ path: "/send/919876543210", headers: { "x-key": "t0ken" } });
  });

  test("whose id is a number beyond 2^53 has the id that the provider wrote", async () => {
    gateway.behave({ status: 200, body: '{"id":9007199254740993}' });
    const outcome = await open().channel.send(outgoingSms(), never);
    expect(outcome.parts).toMatchObject([{ providerMessageIds: ["9007199254740993"] }]);
  });

  test("whose sender would break a header is refused, and never sent", async () => {
    const { channel } = open();
    expect(await channel.send(outgoingSms({ from: "A\r\nX-Evil: 1" }), never)).toMatchObject({
      parts: [{ kind: "rejected", error: { code: "http.invalid_header" } }],
    });
    expect(gateway.requests).toEqual([]);
  });

  test("half a surrogate pair does not stop it", async () => {
    const { channel } = open();
    const outcome = await channel.send(outgoingSms({ text: "a\ud83d" }), never);
    expect(outcome.parts[0]?.kind).toBe("sent");
    expect(gateway.requests[0]?.json.text).toBe("a\ufffd");
  });

  test("is unconfirmed when the connection is lost after it was written, and is not sent again", async () => {
    const { channel } = open();
    await channel.send(outgoingSms(), never);
    for (const behaviour of ["drop", "drop"] as const) {
      gateway.behave(behaviour);
      const before = gateway.requests.length;
      expect(await channel.send(outgoingSms(), never)).toMatchObject({
        parts: [{ kind: "unconfirmed", error: { code: "http.no_answer" } }],
        countsAsAttempt: true,
      });
      expect(gateway.requests.length).toBe(before + 1);
    }
  });

  test("is unconfirmed when the answer breaks off, or cannot be read", async () => {
    const { channel } = open();
    for (const behaviour of ["cut", { status: 200, body: "<html>" }, { status: 502 }] as const) {
      gateway.behave(behaviour);
      expect(await channel.send(outgoingSms(), never)).toMatchObject({ parts: [{ kind: "unconfirmed" }] });
    }
  });

  test("whose answer has no end is unconfirmed, and no more than 64 KiB are read", async () => {
    const { channel } = open();
    gateway.behave({ status: 200, body: `{"id":"${"x".repeat(200_000)}"}` });
    expect(await channel.send(outgoingSms(), never)).toMatchObject({
      parts: [{ kind: "unconfirmed", error: { code: "http.unreadable_answer" } }],
    });
  });

  test.each([
    ["is longer than it says", 'Content-Length: 10\r\n\r\n{"id":"a"} \r\n'],
    ["ends in a chunk that is none", 'Transfer-Encoding: chunked\r\n\r\na\r\n{"id":"a"}\r\nZZ\r\n'],
  ])("whose answer %s was sent, and is not sent again", async (_, answer) => {
    const peer = await startRawPeer((socket) =>
      socket.once("data", () => socket.write(`HTTP/1.1 200 OK\r\n${answer}`)),
    );
    const { channel } = open({ gateway: description(`http://127.0.0.1:${peer.port}`) });
    const outcome = await channel.send(outgoingSms(), never);
    expect(outcome.parts).toMatchObject([{ kind: "sent", providerMessageIds: ["a"] }]);
    await channel.stop();
    await peer.stop();
  });

  test("is put off and costs no attempt when nobody listens", async () => {
    const { channel, statuses } = open();
    await gateway.close();
    expect(await channel.send(outgoingSms(), never)).toMatchObject({
      parts: [{ kind: "deferred", error: { code: "http.not_connected" } }],
      countsAsAttempt: false,
    });
    expect(statuses.at(-1)).toMatchObject({ state: "down" });
    gateway = await startFakeGateway(ACCEPTED);
  });

  test("is not followed to where the provider would send it on", async () => {
    const { channel } = open();
    const elsewhere = await startFakeGateway(ACCEPTED);
    gateway.behave({ status: 307, headers: { Location: `${elsewhere.url}/send` } });
    expect(await channel.send(outgoingSms(), never)).toMatchObject({
      parts: [{ kind: "deferred", error: { code: "http.307" } }],
    });
    expect(elsewhere.requests).toEqual([]);
    await elsewhere.close();
  });
});

describe("a provider", () => {
  test("that throttles rests for as long as it asks, and no attempt is spent", async () => {
    const { channel, clock, slotsTold } = open();
    gateway.behave({ status: 429, headers: { "Retry-After": "7" } });
    expect(await channel.send(outgoingSms(), never)).toMatchObject({
      parts: [{ kind: "deferred", retryAfterMs: 7_000 }],
      countsAsAttempt: false,
    });
    expect(channel.freeSlots()).toBe(0);
    expect(channel.status().state).toBe("up");
    const told = slotsTold();
    await clock.advance(7_000);
    expect(channel.freeSlots()).toBe(20);
    expect(slotsTold()).toBeGreaterThan(told);
  });

  test("that throttles and wants no rest is given a second", async () => {
    const { channel, clock } = open();
    gateway.behave({ status: 429, headers: { "Retry-After": "0" } });
    expect(await channel.send(outgoingSms(), never)).toMatchObject({ parts: [{ retryAfterMs: 1_000 }] });
    await clock.advance(999);
    expect(channel.freeSlots()).toBe(0);
    await clock.advance(1);
    expect(channel.freeSlots()).toBe(20);
  });

  test("may say when by a date", async () => {
    const { channel, clock } = open();
    const at = new Date(clock.now() + 30_000).toUTCString();
    gateway.behave({ status: 503, headers: { "Retry-After": at } });
    expect(await channel.send(outgoingSms(), never)).toMatchObject({
      parts: [{ kind: "deferred", retryAfterMs: 30_000 }],
      countsAsAttempt: true,
    });
  });

  test("that refuses our password is down, tried with one message at a time, ever more rarely, and comes back", async () => {
    const { channel, clock, statuses } = open();
    gateway.behave({ status: 401, body: "no" });
    for (const waitMs of [1_000, 2_000, 4_000]) {
      expect((await channel.send(outgoingSms({ messageId: `m-${waitMs}` }), never)).countsAsAttempt).toBe(
        false,
      );
      expect(channel.status()).toMatchObject({ state: "down", reason: "HTTP 401" });
      expect(channel.freeSlots()).toBe(0);
      await clock.advance(waitMs - 1);
      expect(channel.freeSlots()).toBe(0);
      await clock.advance(1);
      expect(channel.freeSlots()).toBe(1);
    }
    expect(gateway.requests.length).toBe(3);
    gateway.behave(ACCEPTED);
    await channel.send(outgoingSms(), never);
    expect(channel.freeSlots()).toBe(20);
    expect(statuses.at(-1)?.state).toBe("up");
  });

  test("never has more requests than max_in_flight without an answer", async () => {
    const { channel } = open({ max_in_flight: 2 });
    gateway.behave("silent");
    const sending = [1, 2, 3].map(() => channel.send(outgoingSms(), never));
    await gateway.whenRequests(2);
    expect(channel.freeSlots()).toBe(0);
    expect((await sending[2]!).countsAsAttempt).toBe(false);
    gateway.release(ACCEPTED);
    expect((await Promise.all(sending.slice(0, 2))).map(({ parts }) => parts[0]?.kind)).toEqual([
      "sent",
      "sent",
    ]);
    expect(gateway.requests.length).toBe(2);
  });

  test("keeps its connections: many messages, one after the other, need one", async () => {
    const { channel } = open();
    for (let i = 0; i < 5; i++) await channel.send(outgoingSms(), never);
    expect(gateway.connections()).toBe(1);
  });

  test("that speaks no TLS where it should is down, and the message was not sent", async () => {
    const plain = createServer((socket) => socket.on("data", () => socket.end("nope")).on("error", () => {}));
    await new Promise<void>((resolve) => plain.listen(0, "127.0.0.1", resolve));
    const { port } = plain.address() as { port: number };
    const { channel } = open({ gateway: description(`https://127.0.0.1:${port}`) });
    expect(await channel.send(outgoingSms(), never)).toMatchObject({
      parts: [{ kind: "deferred" }],
      countsAsAttempt: false,
    });
    plain.close();
  });
});

describe("a description", () => {
  const problems = (over: Record<string, unknown>, secrets: Record<string, string> = {}) =>
    httpConnectorKind.problems?.({ config: { provider: "custom", ...over }, secrets });

  test("that is good has no problem", () => {
    expect(problems({ gateway: description() }, { auth_token: "t0ken" })).toEqual({});
  });

  test("has its mistakes named, all at once", () => {
    const gateway = {
      send: {
        method: "GET",
        url: "ftp://{{to}}",
        headers: { "X Y": "{{frm}}", Host: "a" },
        json: { text: "{{secret.pasword}}" },
        required: ["txt"],
        auth: { kind: "basic", value: "{{secret.password}}" },
      },
      answer: { rows: [{ from: { match: "(" }, and: { from: { json: "x" } }, outcome: "sent" }] },
      callback: {
        id: { json: "id" },
        status: [{}],
        statuses: {},
        verify: { scheme: "hmac", secret: "nope" },
      },
    };
    const found = problems({ gateway });
    expect(Object.keys(found ?? {}).sort()).toEqual([
      "gateway.answer.id",
      "gateway.answer.rows.0.and.from",
      "gateway.answer.rows.0.from",
      "gateway.callback.id",
      "gateway.callback.status.0",
      "gateway.callback.verify.header",
      "gateway.callback.verify.secret",
      "gateway.send.auth.username",
      "gateway.send.headers.Host",
      "gateway.send.headers.X Y",
      "gateway.send.json",
      "gateway.send.method",
      "gateway.send.required",
      "gateway.send.url",
      "password",
    ]);
    expect(found?.["gateway.send.json"]).toContain("there is no secret pasword");
  });

  test.each([
    [{ provider: "twilio" }, {}, ["account_sid", "auth_token"]],
    [{ provider: "kannel", username: "a" }, { password: "p" }, ["base_url"]],
    [{ provider: "custom" }, {}, ["gateway"]],
    [
      { provider: "infobip", base_url: "https://x.api.infobip.com" },
      { callback_token: "short" },
      ["api_key", "callback_token"],
    ],
  ] as const)("%p lacks what it needs: %p", (config, secrets, fields) => {
    expect(Object.keys(httpConnectorKind.problems?.({ config, secrets }) ?? {}).sort()).toEqual(
      [...fields].sort(),
    );
  });
});
