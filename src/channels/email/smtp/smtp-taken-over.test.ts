/** What still goes to a server once another process may have taken the message over, which then sends it too. */
import { expect, test } from "bun:test";
import type { RawScript } from "../../../../test/fakes/fake-smtp.ts";
import { openMxRig } from "../../../../test/fakes/mx-rig.ts";
import { outgoingEmail, withRelays } from "../../../../test/fakes/smtp-relay.ts";

const NEVER = new AbortController().signal;

const { closeLater, raw, upRelay } = withRelays();

/** A server that hears this word as the last one before the message is another's; and what it hears after that. */
async function openServer(last: string, ehlo = "250 raw.test") {
  const state = { isOurs: true, later: [] as string[] };
  const script: RawScript = (verb) => {
    if (!state.isOurs) state.later.push(verb);
    if (verb === last) state.isOurs = false;
    return verb === "EHLO" ? ehlo : undefined;
  };
  const server = await raw(script);
  return { server, state, isOurs: () => state.isOurs };
}

const PIPELINING = "250-raw.test\r\n250 PIPELINING";

test.each([
  ["after MAIL FROM, the server hears nothing more of it", "MAIL", undefined, []],
  ["after RCPT TO, the server does not hear of a message", "RCPT", undefined, []],
  ["after DATA, the server gets none of the message", "DATA", undefined, []],
  [
    "after commands that went together, the server gets none of the message",
    "MAIL",
    PIPELINING,
    ["RCPT", "DATA"],
  ],
] as const)("of an email that is taken over %s", async (_, last, ehlo, expected) => {
  const { server, state, isOurs } = await openServer(last, ehlo);
  const { channel } = await upRelay(server.port);
  const { parts, countsAsAttempt } = await channel.send(outgoingEmail(), NEVER, isOurs);
  expect(parts).toMatchObject([{ kind: "deferred", error: { code: "smtp.called_off" } }]);
  expect(countsAsAttempt).toBe(false);
  // The next message comes by a connection of its own, after whatever was left of the first.
  expect((await channel.send(outgoingEmail(), NEVER)).parts).toMatchObject([{ kind: "sent" }]);
  const ofTheNext = state.later.indexOf("GREETING");
  expect(state.later.slice(0, ofTheNext)).toEqual([...expected]);
  expect(server.connections()).toBe(2);
});

test.each([
  // Before MAIL FROM it is looked at once more, when the connection has been had.
  ["an email that is taken over just before its final dot", "Hello", 6],
  ["a large email that is taken over in the middle", "é".repeat(3_000_000), 20],
])("of %s the server does not get the end", async (_, bodyText, lastLook) => {
  const heard: string[] = [];
  const server = await raw((verb, _line, connection) => {
    if (connection === 1) heard.push(verb);
    return undefined;
  });
  const { channel } = await upRelay(server.port);
  let looks = 0;
  const { parts } = await channel.send(outgoingEmail({ bodyText }), NEVER, () => ++looks < lastLook);
  expect(parts).toMatchObject([{ kind: "deferred", error: { code: "smtp.called_off" } }]);
  expect((await channel.send(outgoingEmail(), NEVER)).parts).toMatchObject([{ kind: "sent" }]);
  expect(heard).toEqual(["GREETING", "EHLO", "MAIL", "RCPT", "DATA"]);
  expect(looks).toBe(lastLook);
});

test("an email that is taken over once it has been sent holds up nothing that goes over its connection next", async () => {
  const { server, state, isOurs } = await openServer("DOT");
  const { channel } = await upRelay(server.port);
  expect((await channel.send(outgoingEmail(), NEVER, isOurs)).parts).toMatchObject([{ kind: "sent" }]);
  expect(state.isOurs).toBe(false);
  expect((await channel.send(outgoingEmail(), NEVER)).parts).toMatchObject([{ kind: "sent" }]);
  expect(server.connections()).toBe(1);
});

test("of an email that is taken over no further host hears, it costs no attempt, and the host that was asked is named", async () => {
  const { server, state, isOurs } = await openServer("RCPT");
  const rig = await openMxRig({ port: server.port, config: { mta_sts: false } });
  closeLater(rig.close);
  rig.dns.mx.set("example.test", ["10 mx1.example.test", "20 mx2.example.test"]);
  for (const name of ["mx1", "mx2"]) rig.dns.a.set(`${name}.example.test`, ["127.0.0.1"]);
  const { parts, countsAsAttempt, detail } = await rig.channel.send(outgoingEmail(), NEVER, isOurs);
  expect(parts).toMatchObject([{ kind: "deferred", error: { code: "smtp.called_off" } }]);
  expect(countsAsAttempt).toBe(false);
  expect(detail).toMatchObject({ hosts: ["mx1.example.test"], tls: false });
  expect(state.later).toEqual([]);
  expect(server.connections()).toBe(1);
});

test("where a host has had one of two recipients when the email is taken over, that is an attempt", async () => {
  const { server, isOurs } = await openServer("DOT");
  const rig = await openMxRig({ port: server.port, config: { mta_sts: false } });
  closeLater(rig.close);
  rig.host("example.test", "mx.example.test");
  const to = ["ann@example.test", "bob@example.test"].map((email) => ({ email }));
  const message = outgoingEmail({ to }, { returnPathHost: "bounce.acme.test" });
  expect(await rig.channel.send(message, NEVER, isOurs)).toMatchObject({
    parts: [{ kind: "sent" }, { kind: "deferred" }],
    countsAsAttempt: true,
  });
});

test("an email that is taken over before a host was asked names none", async () => {
  const { server, isOurs } = await openServer("EHLO");
  const rig = await openMxRig({ port: server.port, config: { mta_sts: false } });
  closeLater(rig.close);
  rig.host("example.test", "mx.example.test");
  const { parts, detail } = await rig.channel.send(outgoingEmail(), NEVER, isOurs);
  expect(parts).toMatchObject([{ kind: "deferred", error: { code: "smtp.called_off" } }]);
  expect(detail?.hosts).toBeUndefined();
});
