import { expect, test } from "bun:test";
import { sms } from "../acceptance/builders.ts";
import { onEveryStore, type RunningApi } from "../acceptance/running-api.ts";
import { untilAnswered } from "../acceptance/until-answered.ts";
import { dial, type Wire } from "../fakes/raw-client.ts";
import { until } from "../until.ts";

const PATH = "/v1/sms/messages";
const MIB = 1024 * 1024;

function head(api: RunningApi, lines: readonly string[] = []): string {
  return [
    `POST ${PATH} HTTP/1.1`,
    "Host: localhost",
    `Authorization: Bearer ${api.caller.key}`,
    "Content-Type: application/json",
    ...lines,
    "",
    "",
  ].join("\r\n");
}

/** Nobody waits any longer for the rest of a body that is refused. */
async function giveUpTheRest(api: RunningApi) {
  await untilAnswered(api, api.observed.length + 1);
}

/** The service still takes a good request, and nothing but it is in the queue. */
async function expectUnharmed(api: RunningApi) {
  expect((await api.post(PATH, sms())).status).toBe(202);
  const claimed = await api.store.queue.claim({
    queue: "sandbox:sms",
    limit: 100,
    now: api.clock.now(),
    leaseMs: 1000,
  });
  expect(claimed).toHaveLength(1);
}

onEveryStore((start) => {
  test("a Content-Length over the limit is refused though not a byte of the body comes", async () => {
    await using api = await start();
    const wire = await dial(api.port);
    wire.socket.write(head(api, [`Content-Length: ${MIB + 1}`]));
    await giveUpTheRest(api);
    const answer = await wire.until();
    expect(answer).toStartWith("HTTP/1.1 413");
    expect(answer).toEndWith('"message":"payload too large","details":{"body":"must be at most 1 MiB"}}');
    await expectUnharmed(api);
  });

  test("a Content-Length beyond all measure is refused in the same words, and the connection closed", async () => {
    await using api = await start();
    const wire = await dial(api.port);
    wire.socket.write(head(api, [`Content-Length: ${2 ** 52}`, "X-Request-Id: huge"]));
    const answer = await wire.until();
    expect(answer).toStartWith("HTTP/1.1 413");
    expect(answer).toMatch(/x-request-id: huge\r\n/i);
    expect(answer).toEndWith('"message":"payload too large","details":{"body":"must be at most 1 MiB"}}');
    await expectUnharmed(api);
  });

  test("a Content-Length given twice, with one value, counts once", async () => {
    await using api = await start();
    const body = JSON.stringify(sms());
    for (const [length, status] of [
      [MIB + 1, 413],
      [body.length, 202],
    ] as const) {
      const wire = await dial(api.port);
      const line = `Content-Length: ${length}`;
      wire.socket.write(head(api, [line, line]));
      if (status === 202) wire.socket.write(body);
      else await giveUpTheRest(api);
      expect(await wire.until(/created_at|too large/)).toStartWith(`HTTP/1.1 ${status}`);
      wire.socket.destroy();
    }
  });

  test("a chunked body is counted while it arrives and cut off at the limit", async () => {
    await using api = await start();
    const wire = await dial(api.port);
    wire.socket.write(head(api, ["Transfer-Encoding: chunked"]));
    const chunk = `10000\r\n${" ".repeat(0x10000)}\r\n`;
    for (let i = 0; i < 17; i++) wire.socket.write(chunk);
    await giveUpTheRest(api);
    expect(await wire.until()).toStartWith("HTTP/1.1 413");
    await expectUnharmed(api);
  });

  test("a chunked body within the limit is accepted", async () => {
    await using api = await start();
    const wire = await dial(api.port);
    const body = JSON.stringify(sms());
    wire.socket.write(head(api, ["Transfer-Encoding: chunked"]));
    wire.socket.write(`5\r\n${body.slice(0, 5)}\r\n`);
    wire.socket.write(`${(body.length - 5).toString(16)}\r\n${body.slice(5)}\r\n0\r\n\r\n`);
    expect(await wire.until(/created_at/)).toStartWith("HTTP/1.1 202");
    wire.socket.destroy();
  });

  test("a body that never ends is given up after its time, and its place is free again", async () => {
    await using api = await start({ limits: { bodyTimeoutMs: 30_000, maxInFlight: 1 } });
    const wire = await dial(api.port);
    wire.socket.write(`${head(api, ["Content-Length: 500"])}{"to":`);
    await until(api.clock.pending);
    expect((await api.post(PATH, sms({ to: "x" }))).status).toBe(503);
    await api.clock.advance(31_000);
    expect(await wire.until()).toStartWith("HTTP/1.1 408");
    await expectUnharmed(api);
  });

  test("bodies that never end are given up by the thousand at one time, each with its answer", async () => {
    await using api = await start();
    const slow = 2_500;
    const wires: Wire[] = [];
    // A few at a time: more than the system lets wait for a server would connect seconds later.
    while (wires.length < slow) {
      const more = await Promise.all(Array.from({ length: 250 }, () => dial(api.port)));
      for (const { socket } of more) socket.write(`${head(api, ["Content-Length: 500"])}{"to":`);
      wires.push(...more);
    }
    // The answers to requests that come after them show that they have come.
    for (let n = 0; n < 20; n++) await api.post(PATH, sms({ to: "x" }));
    const given = async () => {
      await api.clock.advance(31_000);
      return api.observed.length;
    };
    await until(given, (count) => count >= slow);
    for (const answer of await Promise.all(wires.map((wire) => wire.until())))
      expect(answer).toStartWith("HTTP/1.1 408");
    await expectUnharmed(api);
  });

  test("hundreds of lists asked for at one time do not keep a sender waiting until they are answered", async () => {
    await using api = await start();
    // The very first sender also waits for connections to PostgreSQL, while it answers lists by the one that is open.
    expect((await api.post(PATH, sms())).status).toBe(202);
    const before = api.observed.length;
    const lists = 200;
    const wires = await Promise.all(Array.from({ length: lists }, () => dial(api.port)));
    const sender = await dial(api.port);
    const key = `Authorization: Bearer ${api.caller.key}`;
    for (const { socket } of wires)
      socket.write(`GET ${PATH}?limit=100 HTTP/1.1\r\nHost: localhost\r\n${key}\r\n\r\n`);
    const body = JSON.stringify(sms());
    sender.socket.write(`${head(api, [`Content-Length: ${body.length}`])}${body}`);
    await Promise.all([...wires.map((wire) => wire.until(/"data"/)), sender.until(/created_at/)]);
    const order = api.observed.slice(before).map(({ operation }) => operation);
    expect(order).toHaveLength(lists + 1);
    expect(order.indexOf("sendSms")).toBeLessThan(lists / 2);
    for (const { socket } of [...wires, sender]) socket.destroy();
  });

  test("a list that finds no place in time, since the database answers none, is told to come back", async () => {
    const asked = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    let under = 0;
    await using api = await start({
      over: (store) => ({
        ...store,
        messages: {
          ...store.messages,
          async list(query) {
            if (++under === 8) asked.resolve();
            await answered.promise;
            return store.messages.list(query);
          },
        },
      }),
    });
    const lists = Array.from({ length: 9 }, () => api.get(PATH));
    await asked.promise;
    await until(api.clock.pending);
    await api.clock.advance(5_000);
    const refused = await Promise.race(lists);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
    answered.resolve();
    const statuses = (await Promise.all(lists)).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([...Array(8).fill(200), 503]);
  });

  test("a client that hangs up in mid-body leaves nothing behind", async () => {
    await using api = await start();
    for (let i = 0; i < 20; i++) {
      const wire = await dial(api.port);
      wire.socket.write(`${head(api, ["Content-Length: 500"])}{"to":"+919876543210",`);
      wire.socket.destroy();
    }
    await expectUnharmed(api);
    expect(api.logged.filter(({ level }) => level === "error")).toEqual([]);
  });

  test("JSON nested a hundred thousand deep is refused as body", async () => {
    await using api = await start();
    const deep = 100_000;
    const array = `{"to":"+919876543210","metadata":{"a":${"[".repeat(deep)}${"]".repeat(deep)}}}`;
    const object = `{"to":"+919876543210","metadata":${'{"a":'.repeat(deep)}1${"}".repeat(deep)}}`;
    for (const body of [array, object, "[".repeat(MIB)]) {
      const { status, json } = await api.post(PATH, body);
      expect(status).toBe(400);
      expect(Object.keys(json.details)).toEqual(["body"]);
    }
    await expectUnharmed(api);
  });

  test("a body of a hundred thousand names is judged, not suffered", async () => {
    await using api = await start();
    const many = Object.fromEntries(Array.from({ length: 60_000 }, (_, i) => [`n${i}`, ":"]));
    const { status } = await api.post(PATH, sms({ variables: many }));
    expect(status).toBe(400);
    await expectUnharmed(api);
  });

  test("a flood of headers, and a header too large, are refused by the listener", async () => {
    await using api = await start();
    for (const flood of [Array(5000).fill("X-A: b"), [`X-A: ${"b".repeat(200_000)}`]]) {
      const wire = await dial(api.port);
      wire.socket.write(head(api, [...flood, "Content-Length: 0"]));
      expect(await wire.until()).toMatch(/^HTTP\/1\.1 4(00|31)/);
    }
    await expectUnharmed(api);
  });

  test("requests that no two servers read alike are refused", async () => {
    await using api = await start();
    for (const lines of [
      ["Content-Length: 5", "Transfer-Encoding: chunked"],
      ["Content-Length: 5", "Content-Length: 6"],
      ["Content-Length: -5"],
      ["Content-Length: 5x"],
    ]) {
      const wire = await dial(api.port);
      wire.socket.write(`${head(api, lines)}0\r\n\r\n`);
      expect(await wire.until()).toStartWith("HTTP/1.1 400");
    }
    await expectUnharmed(api);
  });

  test("noise instead of HTTP, strange hosts and strange targets stop nothing", async () => {
    await using api = await start();
    const noises = [
      "\x16\x03\x01\x02\x00\x01\x00\x01\xfc",
      "GET / HTTP/9.9\r\n\r\n",
      "GET /healthz HTTP/1.1\r\nHost: a b/c?d#e\r\nConnection: close\r\n\r\n",
      "GET /%00%ff/..%2f..%2fetc HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
      "GET //evil.example/v1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
      `GET /${"a/".repeat(4000)} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
      "BREW /coffee HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    ];
    for (const noise of noises) {
      const wire = await dial(api.port);
      wire.socket.end(noise, "latin1");
      expect(await wire.until()).not.toMatch(/^HTTP\/1\.1 50[0-4]/);
    }
    await expectUnharmed(api);
  });

  test("text that no database holds is refused, wherever it stands", async () => {
    await using api = await start();
    for (const bad of ["\0", "\ud800"]) {
      for (const body of [
        sms({ tags: [bad] }),
        sms({ metadata: { [bad]: 1 } }),
        sms({ metadata: { a: [bad] } }),
        sms({ variables: { "1": bad } }),
        sms({ from: bad }),
        sms({ to: `+9198765${bad}` }),
      ]) {
        expect((await api.post(PATH, body)).status).toBe(400);
      }
    }
    await expectUnharmed(api);
  });
});
