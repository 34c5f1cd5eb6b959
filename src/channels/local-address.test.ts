/** Every kind of connector that can, connects from the address that it is to, or says why it cannot. */
import { afterEach, expect, test } from "bun:test";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { createHeldClock } from "../../test/fakes/held-clock.ts";
import { type MxRig, openMxRig } from "../../test/fakes/mx-rig.ts";
import { closeSmppRigs, openSmppRig } from "../../test/fakes/smpp-rig.ts";
import { outgoingEmail, smtpConnector } from "../../test/fakes/smtp-relay.ts";
import { testTls } from "../../test/fakes/test-tls.ts";
import { until } from "../../test/until.ts";
import type { MessageError } from "../core/messages/message.ts";
import { createFullHosts } from "./email/mx/full-hosts.ts";
import { createHostSessions } from "./email/mx/host-sessions.ts";
import { createHostVisits } from "./email/mx/host-visits.ts";
import { toMxSettings } from "./email/mx/mx-config.ts";
import { mxConnectorKind } from "./email/mx/mx-connector.ts";
import { smtpConnectorKind } from "./email/smtp/smtp-connector.ts";
import { withLocalAddressAdvice } from "./local-address.ts";
import { smppConnectorKind } from "./sms/smpp/smpp-connector.ts";
import { openConnection } from "./sms/smpp/wire/connection.ts";

/** For documentation (RFC 5737): no machine has it. */
const NOT_HERE = "203.0.113.7";
const SAID = `this machine does not have the address ${NOT_HERE}: set \`local_address\` to one that it has`;

const closing: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  await closeSmppRigs();
});

/** A server that hears where it is connected from, says its last words, and hangs up. */
async function openPeer({ host = "127.0.0.1", lastWords = "" } = {}) {
  const heard: (string | undefined)[] = [];
  const server: Server = createServer((socket: Socket) => {
    heard.push(socket.remoteAddress);
    socket.on("error", () => {});
    socket.end(lastWords);
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  closing.push(() => server.close());
  return { heard, port: (server.address() as AddressInfo).port };
}

test.each([false, true])(
  "an SMSC is connected to from the connector's address (TLS: %p)",
  async (isSecure) => {
    const { heard, port } = await openPeer();
    const closed = Promise.withResolvers<string>();
    const target = {
      // Its IPv6 address, if it has one, cannot be reached from there.
      host: "localhost",
      port,
      connectTimeoutMs: 1000,
      localAddress: "127.0.0.2",
      ...(isSecure ? { tls: { ca: testTls.ca, isVerified: true } } : {}),
    };
    const events = { onOpen() {}, onPdu() {}, onBrokenFrame() {}, onClosed: closed.resolve };
    openConnection(target, createHeldClock(), events);
    await closed.promise;
    expect(heard).toEqual(["127.0.0.2"]);
  },
);

test("where this machine does not have the address, the check and the status of an SMPP connector say so", async () => {
  const { channel, connector, clock, state } = await openSmppRig({ config: { local_address: NOT_HERE } });
  const { ok, detail } = await smppConnectorKind.check(connector, clock);
  expect([ok, detail]).toEqual([false, expect.stringContaining(SAID)]);
  channel.start();
  await state("down");
  expect(channel.status().reason).toContain(SAID);
});

test("a relay is connected to from the connector's address, or the check says why it is not", async () => {
  const { heard, port } = await openPeer();
  const check = (local_address: string, host = "localhost") =>
    smtpConnectorKind.check(smtpConnector(port, { host, local_address }), createHeldClock());
  expect(await check("127.0.0.2")).toMatchObject({ ok: false });
  expect(heard.slice(0, 1)).toEqual(["127.0.0.2"]);
  expect(await check(NOT_HERE)).toEqual({ ok: false, detail: expect.stringContaining(SAID) });
});

async function openMx(port: number, local_address: string): Promise<MxRig> {
  const rig = await openMxRig({ port, config: { local_address } });
  closing.push(rig.close);
  rig.host("example.test", "mx.example.test");
  await until(() => ["up", "down"].includes(rig.channel.status().state));
  return rig;
}

test("mail hosts are connected to from the connector's address", async () => {
  const { heard, port } = await openPeer();
  const { channel } = await openMx(port, "127.0.0.2");
  const mail = outgoingEmail({ to: [{ email: "ann@example.test" }] });
  const { parts } = await channel.send(mail, new AbortController().signal);
  expect(parts).toMatchObject([{ kind: "deferred", error: { code: "4.4.1" } }]);
  expect([heard, channel.status().state]).toEqual([["127.0.0.2"], "up"]);
});

test("where this machine does not have the address, a connector for mail hosts is down, says why, and looks again", async () => {
  const { channel, clock, statuses } = await openMx(1, NOT_HERE);
  expect(channel.status()).toMatchObject({ state: "down", reason: expect.stringContaining(SAID) });
  expect(channel.freeSlots()).toBe(0);
  await clock.advance(1_000);
  await until(() => statuses.filter(({ state }) => state === "down").length === 2);
});

test.each(["554 ", "220-"])(
  "a mail host takes no connector down by the words that stand for a missing address, greeting with %j",
  async (code) => {
    const { heard, port } = await openPeer({ lastWords: `${code}EADDRNOTAVAIL\r\n554 EADDRNOTAVAIL\r\n` });
    const { channel, statuses } = await openMx(port, "127.0.0.2");
    const mail = outgoingEmail({ to: [{ email: "ann@example.test" }] });
    const { parts } = await channel.send(mail, new AbortController().signal);
    expect(parts).toMatchObject([
      { kind: "deferred", error: { message: expect.stringContaining("EADDRNOTAVAIL") } },
    ]);
    expect(heard).toEqual(["127.0.0.2"]);
    expect(statuses.map(({ state }) => state)).toEqual(["connecting", "up"]);
  },
);

test("where this machine has lost the address, that is told, and held against no mail host", async () => {
  const lost: string[] = [];
  const settings = toMxSettings({ config: { port: 1, local_address: NOT_HERE } });
  const clock = createHeldClock();
  const [visits, full] = [createHostVisits(clock), createFullHosts(clock)];
  const onMissingAddress = ({ message }: MessageError) => void lost.push(message);
  const sessions = createHostSessions(settings, { clock, visits, full, onMissingAddress });
  const host = { name: "mx.example.test", address: "127.0.0.1", mustProve: false };
  const { signal } = new AbortController();
  const opened = await sessions.connectionsTo(host).connect({ isFresh: false, signal });
  expect(opened).toMatchObject({ fault: { message: expect.stringContaining(SAID) } });
  expect(lost).toEqual([expect.stringContaining(SAID)]);
  expect(visits.hasFailed(host)).toBe(false);
});

test("of a mail host only addresses of the local address's kind are used", () => {
  const familyOf = (config: Record<string, unknown>) => toMxSettings({ config }).family;
  expect(familyOf({ local_address: "192.0.2.1" })).toBe("ipv4");
  expect(familyOf({ local_address: "2001:db8::1" })).toBe("ipv6");
  expect(familyOf({ ip: "ipv6" })).toBe("ipv6");
});

test("a local address is an address, and of the kind of what is connected to", () => {
  const problems = {
    smpp: (config: object) => smppConnectorKind.problems?.({ config: { ...SMPP, ...config }, secrets: {} }),
    smtp: (config: object) => smtpConnectorKind.problems?.({ config: { ...config }, secrets: {} }),
    mx: (config: object) => mxConnectorKind.problems?.({ config: { ...config }, secrets: {} }),
  };
  const refused = (words: string) => ({ local_address: expect.stringContaining(words) });
  for (const local_address of ["eth0", "192.0.2.0/24", "[::1]", "192.0.2.1:25", ""])
    for (const of of Object.values(problems))
      expect(of({ local_address })).toEqual(refused("must be an address"));
  for (const of of [problems.smpp, problems.smtp]) {
    expect(of({ host: "[2001:db8::1]", local_address: "192.0.2.1" })).toEqual(
      refused("IPv6 address, as `host`"),
    );
    expect(of({ host: "192.0.2.9", local_address: "::1" })).toEqual(refused("IPv4 address, as `host`"));
    expect(of({ host: "smsc.example", local_address: "::1" })).toEqual({});
    expect(of({ host: "192.0.2.9", local_address: "192.0.2.1" })).toEqual({});
  }
  expect(problems.mx({ ip: "ipv6", local_address: "192.0.2.1" })).toEqual(refused("IPv6 address, as `ip`"));
  expect(problems.mx({ ip: "any", local_address: "192.0.2.1" })).toEqual({});
  expect(problems.mx({ local_address: "2001:db8::1" })).toEqual({});
});

const SMPP = { host: "smsc.example", system_id: "rider" };

test.each([
  ["connect EADDRNOTAVAIL 192.0.2.9:2775", "192.0.2.1", "does not have the address 192.0.2.1"],
  ["connect EINVAL 2001:db8::9:2775", "192.0.2.1", "only IPv4 addresses can be connected to"],
  ["connect ECONNREFUSED 192.0.2.9:25", "2001:db8::1", "only IPv6 addresses can be connected to"],
  ["getaddrinfo ENOTFOUND smsc.example", "192.0.2.1", "only IPv4 addresses can be connected to"],
  ["connect ECONNREFUSED 192.0.2.9:2775", "192.0.2.1", undefined],
  ["the SMSC closed the connection", "192.0.2.1", undefined],
  ["connect EADDRNOTAVAIL 192.0.2.9:2775", undefined, undefined],
])("of %j from %p it is said whether the local address is the cause", (reason, from, words) => {
  const said = withLocalAddressAdvice(reason, from);
  if (words === undefined) expect(said).toBe(reason);
  else expect([said.startsWith(`${reason}; `), said.includes(words)]).toEqual([true, true]);
});
