/** The memory for request bodies is bounded, and nobody can use it up for the others. */
import { expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { readJson } from "../../src/api/body/read-json.ts";
import { email, sms } from "../acceptance/builders.ts";
import { type Caller, onEveryStore, type RunningApi } from "../acceptance/running-api.ts";
import { untilAnswered } from "../acceptance/until-answered.ts";
import { dial, type Wire } from "../fakes/raw-client.ts";
import { until } from "../until.ts";

const PATH = "/v1/sms/messages";
const PUSH_PATH = "/v1/push/register";
const KIB = 1024;
const MIB = 1024 * KIB;

const strangersHead = (address: string, ...lines: string[]) => ({
  path: PUSH_PATH,
  lines: [`X-Forwarded-For: ${address}`, ...lines],
});
const callersHead = ({ key }: Caller, ...lines: string[]) => ({
  path: PATH,
  lines: [`Authorization: Bearer ${key}`, ...lines],
});

/** Begins a request. Its body, or the rest of it, is not sent. */
async function begin(
  api: RunningApi,
  { path, lines, body = "" }: { path: string; lines: readonly string[]; body?: string },
): Promise<Wire> {
  const wire = await dial(api.port);
  const head = [`POST ${path} HTTP/1.1`, "Host: localhost", "Content-Type: application/json", ...lines];
  wire.socket.write(`${head.join("\r\n")}\r\n\r\n${body}`);
  return wire;
}

const closeAll = (wires: readonly Wire[]) => {
  for (const { socket } of wires) socket.destroy();
};

onEveryStore((start) => {
  test("bodies held at one time are bounded, and freed when their clients go away", async () => {
    await using api = await start({ limits: { maxBodyBytesInFlight: 64 * KIB } });
    const slow = await begin(api, callersHead(api.caller, `Content-Length: ${40 * KIB}`));
    await until(api.clock.pending);
    expect((await api.post(PATH, sms())).status).toBe(503);
    const gone = new Promise((resolve) => slow.socket.once("close", resolve));
    slow.socket.destroy();
    await gone;
    await untilAnswered(api, 2);
    expect((await api.post(PATH, sms())).status).toBe(202);
  });

  test("bodies of those who need no key leave room for callers who have one, and one address leaves room for others", async () => {
    for (const addressOf of [(index: number) => `198.51.100.${index}`, () => "198.51.100.0"]) {
      await using api = await start({
        limits: { maxBodyBytesInFlight: 256 * KIB },
        deps: { isTrustedProxy: () => true },
      });
      // Ten of these are all that there is room for, and nobody sees their rest.
      const wires = await Promise.all(
        Array.from({ length: 14 }, (_, n) =>
          begin(api, strangersHead(addressOf(n), "Content-Length: 26214")),
        ),
      );
      await untilAnswered(api, 4);
      expect(api.observed.every(({ status }) => status === 503)).toBeTrue();
      expect((await api.post(PATH, sms())).status).toBe(202);
      const headers = { "X-Forwarded-For": "203.0.113.9" };
      const isFromOne = addressOf(0) === addressOf(1);
      if (isFromOne) expect((await api.post(PUSH_PATH, {}, { headers })).status).toBe(400);
      closeAll(wires);
    }
  });

  test("those who need no key do not take all the places that there are, however short their bodies", async () => {
    await using api = await start({
      limits: { maxBodyBytesInFlight: 192 * KIB, maxInFlight: 10 },
      deps: { isTrustedProxy: () => true },
    });
    const wires = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        begin(api, strangersHead(`198.51.100.${n}`, "Content-Length: 10")),
      ),
    );
    await untilAnswered(api, 2);
    expect((await api.post(PATH, sms())).status).toBe(202);
    closeAll(wires);
  });

  test("one account leaves room for the others and for those who need no key, with large bodies and with many", async () => {
    const kinds = [
      { path: "/v1/emails/messages", octets: 10 * MIB, limits: {} },
      { path: PATH, octets: 10, limits: { maxBodyBytesInFlight: 480 * KIB, maxInFlight: 40 } },
    ];
    for (const { path, octets, limits } of kinds) {
      await using api = await start({ limits });
      const lines = [`Authorization: Bearer ${api.caller.key}`, `Content-Length: ${octets}`];
      const wires = await Promise.all(Array.from({ length: 39 }, () => begin(api, { path, lines })));
      await untilAnswered(api, 9);
      expect(api.observed.every(({ status }) => status === 503)).toBeTrue();
      const other = await api.newAccount("sandbox");
      expect((await api.post(PATH, sms(), { key: other.key })).status).toBe(202);
      expect((await api.post(PUSH_PATH, {})).status).toBe(400);
      closeAll(wires);
    }
  });

  test("of bodies whose length is not known, what has come takes room, and nothing else", async () => {
    await using api = await start({ limits: { maxBodyBytesInFlight: 4 * MIB } });
    const chunked = "Transfer-Encoding: chunked";
    const stranger = { path: PUSH_PATH, lines: [chunked], body: "1\r\n{\r\n" };
    const wires = await Promise.all(Array.from({ length: 32 }, () => begin(api, stranger)));
    for (const { socket } of wires) socket.write("1\r\n}\r\n0\r\n\r\n");
    const answers = await Promise.all(wires.map((wire) => wire.until(/}}$/)));
    expect(answers.filter((each) => each.startsWith("HTTP/1.1 400"))).toHaveLength(32);

    const filling = `80000\r\n${" ".repeat(512 * KIB)}\r\n`;
    const large = Array.from({ length: 12 }, () =>
      begin(api, { ...callersHead(api.caller, chunked), body: filling }),
    );
    await untilAnswered(api, 32 + 6);
    expect(api.observed.slice(32).every(({ status }) => status === 503)).toBeTrue();
    closeAll([...wires, ...(await Promise.all(large))]);
  });

  test("a body takes room until its request is answered, however long the database takes, and then it is free", async () => {
    for (const [path, body, room] of [
      [PATH, sms({ ignored: "x".repeat(40 * KIB) }), 128 * KIB],
      ["/v1/emails/messages", email({ body_text: "x".repeat(300 * KIB) }), MIB],
    ] as const) {
      const stored = Promise.withResolvers<void>();
      let under = 0;
      await using api = await start({
        limits: { maxBodyBytesInFlight: room },
        deps: { readLargeJson: async (octets) => readJson(octets) },
        over: (store) => ({
          ...store,
          intake: {
            ...store.intake,
            async accept(request) {
              under++;
              await stored.promise;
              return store.intake.accept(request);
            },
          },
        }),
      });
      const accepted = [api.post(path, body), api.post(path, body)];
      await until(() => under === accepted.length);
      expect((await api.post(path, body)).status).toBe(503);
      stored.resolve();
      expect((await Promise.all(accepted)).map(({ status }) => status)).toEqual([202, 202]);
      expect((await api.post(path, body)).status).toBe(202);
    }
  });

  test("a provider's callback, whose sender may be anybody, takes room until it is answered", async () => {
    const looked = Promise.withResolvers<void>();
    let under = 0;
    await using api = await start({
      limits: { maxBodyBytesInFlight: 512 * KIB },
      over: (store) => ({
        ...store,
        records: {
          ...store.records,
          async find(kind, where) {
            if (kind !== "connectors") return store.records.find(kind, where);
            under++;
            await looked.promise;
            return undefined;
          },
        },
      }),
    });
    const report = () => api.post(`/receipts/${randomUUID()}/token`, { ignored: "x".repeat(40 * KIB) });
    const first = report();
    await until(() => under === 1);
    expect((await report()).status).toBe(503);
    looked.resolve();
    expect((await first).status).toBe(404);
    expect((await report()).status).toBe(404);
  });
});
