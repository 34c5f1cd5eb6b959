/** Who of a domain's hosts is asked first, and how many connections one host has, as the channel does it. */
import { afterEach, expect, test } from "bun:test";
import { createServer, type Server } from "node:net";
import { type FakeSmtp, startFakeSmtp } from "../../../../test/fakes/fake-smtp.ts";
import { type MxRig, openMxRig } from "../../../../test/fakes/mx-rig.ts";
import { outgoingEmail } from "../../../../test/fakes/smtp-relay.ts";
import { until } from "../../../../test/until.ts";

const closing: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const ANN = [{ email: "ann@example.test" }];
const SIGNAL = new AbortController().signal;

async function open(options: Parameters<typeof openMxRig>[0]): Promise<MxRig> {
  const rig = await openMxRig(options);
  closing.push(rig.close);
  return rig;
}

async function openHost(): Promise<FakeSmtp> {
  const smtp = await startFakeSmtp();
  closing.push(smtp.close);
  return smtp;
}

/** A host at 127.0.0.2 that hangs up on everybody. */
async function openDecoy(port: number): Promise<() => number> {
  let calls = 0;
  const server: Server = createServer((socket) => {
    calls++;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.2", resolve));
  closing.push(() => server.close());
  return () => calls;
}

test.each([
  ["first", [0.1, 0.9], 1],
  ["second", [0.9, 0.1], 0],
] as const)("of two hosts of one preference chance says which is asked %s", async (_, chances, calls) => {
  const smtp = await openHost();
  const decoyCalls = await openDecoy(smtp.port);
  let draws = 0;
  const random = () => chances[draws++ % 2] ?? 0;
  const rig = await open({ port: smtp.port, deps: { random } });
  rig.dns.mx.set("example.test", ["10 decoy.example.test", "10 mx.example.test"]);
  rig.dns.a.set("decoy.example.test", ["127.0.0.2"]);
  rig.dns.a.set("mx.example.test", ["127.0.0.1"]);
  const { parts } = await rig.channel.send(outgoingEmail({ to: ANN }), SIGNAL);
  expect(parts).toMatchObject([{ kind: "sent", delivered: true }]);
  expect(decoyCalls()).toBe(calls);
});

test("a name server that never answers for IPv6 keeps a message waiting for a second", async () => {
  const smtp = await openHost();
  const rig = await open({ port: smtp.port, config: { mta_sts: false } });
  rig.host("example.test", "mx.example.test");
  rig.dns.silent.add("AAAA mx.example.test");
  const sending = rig.channel.send(outgoingEmail({ to: ANN }), SIGNAL);
  // The limit of the message, and that of the answer that is missing.
  await until(() => rig.clock.pending() === 2);
  await rig.clock.advance(999);
  expect(smtp.connections()).toBe(0);
  await rig.clock.advance(1);
  expect((await sending).parts).toMatchObject([{ kind: "sent", delivered: true }]);
});

test("chance does not put a host before one of a better preference", async () => {
  const smtp = await openHost();
  const decoyCalls = await openDecoy(smtp.port);
  const chances = [0.1, 0.9];
  const rig = await open({ port: smtp.port, deps: { random: () => chances.shift() ?? 0 } });
  rig.dns.mx.set("example.test", ["20 decoy.example.test", "10 mx.example.test"]);
  rig.dns.a.set("decoy.example.test", ["127.0.0.2"]);
  rig.dns.a.set("mx.example.test", ["127.0.0.1"]);
  await rig.channel.send(outgoingEmail({ to: ANN }), SIGNAL);
  expect(decoyCalls()).toBe(0);
});

test("a host that could not be connected to is passed over for 50 seconds, whatever its preference", async () => {
  const smtp = await openHost();
  const decoyCalls = await openDecoy(smtp.port);
  const rig = await open({ port: smtp.port });
  rig.dns.mx.set("example.test", ["10 decoy.example.test", "20 mx.example.test"]);
  rig.dns.a.set("decoy.example.test", ["127.0.0.2"]);
  rig.dns.a.set("mx.example.test", ["127.0.0.1"]);
  const callsAfter = async (ms: number) => {
    await rig.clock.advance(ms);
    const { parts } = await rig.channel.send(outgoingEmail({ to: ANN }), SIGNAL);
    expect(parts).toMatchObject([{ kind: "sent", delivered: true }]);
    return decoyCalls();
  };
  expect([await callsAfter(0), await callsAfter(49_000), await callsAfter(1_000)]).toEqual([1, 1, 2]);
});

test.each([
  ["a mail host share", () => "mx.shared.test"],
  ["an address, each under a name of its own for it, share", (domain: string) => `mail.${domain}`],
])("domains that share %s its connections: no more at a time than allowed", async (_, nameFor) => {
  const smtp = await openHost();
  const hold = Promise.withResolvers<void>();
  smtp.dial.holdMessage = hold.promise;
  const rig = await open({ port: smtp.port, config: { max_connections_per_host: 1 } });
  const domains = ["one.test", "two.test", "three.test"];
  for (const domain of domains) rig.host(domain, nameFor(domain));
  const sending = domains.map((domain) =>
    rig.channel.send(outgoingEmail({ to: [{ email: `ann@${domain}` }] }), SIGNAL),
  );
  await smtp.openConnections(1);
  hold.resolve();
  const outcomes = await Promise.all(sending);
  expect(outcomes.map(({ parts }) => parts[0]?.kind)).toEqual(["sent", "sent", "sent"]);
  expect(smtp.connections()).toBe(1);
});
