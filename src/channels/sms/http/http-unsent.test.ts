/** Messages that never become a request, and what is said of them. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { type FakeGateway, startFakeGateway } from "../../../../test/fakes/fake-gateway.ts";
import {
  ACCEPTED,
  type HttpRig,
  httpConnector,
  never,
  openHttpRig,
  outgoingSms,
} from "../../../../test/fakes/http-rig.ts";
import { outgoingEmail } from "../../../../test/fakes/smtp-relay.ts";

let gateway: FakeGateway;
let rig: HttpRig | undefined;
beforeEach(async () => {
  gateway = await startFakeGateway(ACCEPTED);
});
afterEach(async () => {
  expect(gateway.requests).toEqual([]);
  await rig?.channel.stop();
  await gateway.close();
  rig = undefined;
});

function open(publicUrl?: () => Promise<string>) {
  const described = {
    send: { url: gateway.url, json: { to: "{{to}}", callback: "{{callback_url}}" } },
    answer: { id: { json: "/id" } },
    callback: { id: { json: "/id" }, status: [{ json: "/status" }], statuses: { ok: "delivered" } },
  };
  const connector = httpConnector({ provider: "custom", gateway: described });
  rig = openHttpRig(connector, publicUrl && { publicUrl });
  return rig.channel;
}

test("a message whose callback URL cannot be found out is put off, which the gateway is not blamed for", async () => {
  const channel = open(() => Promise.reject(new Error("the database is away")));
  expect(await channel.send(outgoingSms(), never)).toMatchObject({
    parts: [{ kind: "deferred", error: { code: "http.no_settings", message: "the database is away" } }],
    countsAsAttempt: false,
  });
  expect([channel.status().state, channel.freeSlots()]).toEqual(["up", 20]);
});

test("a message that is called off while its request is being made is put off", async () => {
  const calledOff = new AbortController();
  const channel = open(async () => {
    calledOff.abort();
    return "https://sms.acme.example";
  });
  expect(await channel.send(outgoingSms(), calledOff.signal)).toMatchObject({
    parts: [{ kind: "deferred", error: { code: "http.cut_off" } }],
    countsAsAttempt: false,
  });
  expect([channel.status().state, channel.freeSlots()]).toEqual(["up", 20]);
});

test("a message that was called off before takes no place", async () => {
  const channel = open();
  expect(await channel.send(outgoingSms(), AbortSignal.abort())).toMatchObject({
    parts: [{ kind: "deferred", error: { code: "http.not_ready" } }],
    countsAsAttempt: false,
  });
  expect(channel.freeSlots()).toBe(20);
});

test("a value that would lead the URL to another path is refused, and stands as it is everywhere else", async () => {
  const open = (path: string, { url } = gateway) => {
    const described = { send: { url: url + path }, answer: {} };
    rig = openHttpRig(httpConnector({ provider: "custom", gateway: described }));
    return rig.channel;
  };
  const says = (...variables: string[]) => {
    const numbered = Object.fromEntries(variables.map((each, index) => [index + 1, each]));
    return outgoingSms({ content: { ...outgoingSms().content, variables: numbered } });
  };
  const REFUSED = { parts: [{ kind: "rejected", error: { code: "http.invalid_url" } }] };
  for (const [path, variables] of [
    ["/key/{{variables.1}}/otp", [".."]],
    ["/key/{{variables.1}}/otp", ["."]],
    ["/key/{{variables.1}}", [".."]],
    ["/key/{{variables.1}}?x=1", [".."]],
    ["/key/{{variables.1}}{{variables.2}}/otp", [".", "."]],
  ] as const) {
    expect(await open(path).send(says(...variables), never)).toMatchObject(REFUSED);
  }
  const other = await startFakeGateway();
  for (const [path, variables] of [
    ["/a/../{{variables.1}}", ["4711"]],
    ["/key/{{variables.1}}", ["..."]],
    ["/key?a=/{{variables.1}}", [".."]],
  ] as const) {
    expect((await open(path, other).send(says(...variables), never)).parts[0]?.kind).toBe("sent");
  }
  expect(other.requests.map(({ path }) => path)).toEqual(["/4711", "/key/...", "/key"]);
  await other.close();
});

test("an email is refused", async () => {
  expect(await open().send(outgoingEmail(), never)).toMatchObject({
    parts: [{ kind: "rejected", error: { code: "http.not_an_sms" } }],
  });
});

test("a channel that has not begun, or has ended, takes nothing", async () => {
  const described = { send: { url: gateway.url }, answer: {} };
  rig = openHttpRig(httpConnector({ provider: "custom", gateway: described }), { isStarted: false });
  const { channel, slotsTold, statuses } = rig;
  const NOT_READY = { parts: [{ kind: "deferred", error: { code: "http.not_ready" } }] };
  expect(await channel.send(outgoingSms(), never)).toMatchObject(NOT_READY);
  channel.start();
  channel.start();
  expect([channel.freeSlots(), slotsTold(), statuses.length]).toEqual([20, 1, 1]);
  await channel.stop();
  expect(await channel.send(outgoingSms(), never)).toMatchObject(NOT_READY);
});

test("a connector that describes nothing, or something else, cannot be opened", () => {
  expect(() => openHttpRig(httpConnector({ provider: "custom" }))).toThrow("describes no gateway");
  expect(() => openHttpRig(httpConnector({ provider: "nobody" }))).toThrow("is invalid");
});
