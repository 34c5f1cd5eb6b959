/** What becomes of a connection once its message has an answer, and of one that nobody waits for any more. */
import { expect, test } from "bun:test";
import type { RawScript } from "../../../../test/fakes/fake-smtp.ts";
import { startRawPeer } from "../../../../test/fakes/raw-peer.ts";
import { outgoingEmail, smtpConnector, withRelays } from "../../../../test/fakes/smtp-relay.ts";
import { createSystemClock } from "../../../cli/system-clock.ts";
import { toSmtpSettings } from "./smtp-config.ts";
import { openSmtpSession } from "./smtp-session.ts";

const NEVER = new AbortController().signal;

const { raw, upRelay } = withRelays();

async function upWith(script: RawScript) {
  const server = await raw(script);
  const opened = await upRelay(server.port);
  const send = async () => (await opened.channel.send(outgoingEmail(), NEVER)).parts[0];
  const verbs = () => server.lines.map((line) => line.slice(0, 4));
  return { ...opened, server, send, verbs };
}

const settingsFor = (port: number) => toSmtpSettings(smtpConnector(port));

test("after a message that was taken, the next one follows at once", async () => {
  const { send, verbs } = await upWith(() => undefined);
  await send();
  await send();
  const message = ["MAIL", "RCPT", "DATA"];
  expect(verbs()).toEqual(["EHLO", ...message, ...message]);
});

test("a connection whose message was refused at its end is used for the next", async () => {
  const answers = ["554 5.7.1 never"];
  const { send, server } = await upWith((verb) => (verb === "DOT" ? answers.shift() : undefined));
  expect((await send())?.kind).toBe("rejected");
  expect((await send())?.kind).toBe("sent");
  expect(server.connections()).toBe(1);
});

test.each([
  ["cannot be reset", "451 4.3.0 busy", "502 5.5.1 what?"],
  ["has forgotten who we are", "503 5.5.1 EHLO first", "250 ok"],
])("a connection whose server %s is not used again", async (_, mail, reset) => {
  const { send, server, channel } = await upWith((verb, __, connection) => {
    if (connection > 1) return undefined;
    return verb === "MAIL" ? mail : verb === "RSET" ? reset : undefined;
  });
  expect((await send())?.kind).toBe("deferred");
  expect(channel.status().state).toBe("up");
  expect((await send())?.kind).toBe("sent");
  expect(server.connections()).toBe(2);
});

/** OpenSMTPD's words once it has taken as many messages over a connection as `smtp limit max-mails` allows. */
const USED_UP = "452 4.5.3 Too many recipients: Too many messages sent";

test("a server that takes only so many messages over a connection gets the next one over a new connection at once", async () => {
  const taken = new Map<number, number>();
  const { send, server } = await upWith((verb, _, connection) => {
    const before = taken.get(connection) ?? 0;
    if (verb === "DOT") taken.set(connection, before + 1);
    return verb === "RCPT" && before === 2 ? USED_UP : undefined;
  });
  for (let count = 0; count < 5; count++) expect((await send())?.kind).toBe("sent");
  expect(server.connections()).toBe(3);
});

test("a server that takes no more messages with the first one over a connection is asked no more often", async () => {
  const { send, server } = await upWith((verb) => (verb === "RCPT" ? USED_UP : undefined));
  expect((await send())?.kind).toBe("deferred");
  expect(server.lines.filter((line) => line.startsWith("RCPT"))).toHaveLength(1);
});

test("what was said of a message holds, though its connection is cut off before it is ready for the next", async () => {
  const { send, server, channel, clock } = await upWith((verb, _, connection) => {
    if (connection > 1) return undefined;
    return verb === "MAIL" ? "554 5.7.1 never" : verb === "RSET" ? "silence" : undefined;
  });
  const sending = send();
  await server.heard("RSET");
  await clock.advance(channel.sendTimeoutMs);
  expect(await sending).toEqual({ kind: "rejected", error: { code: "5.7.1", message: "554 never" } });
  expect((await send())?.kind).toBe("sent");
  expect(server.connections()).toBe(2);
});

test("a connection that is being opened is closed when nobody waits for it any more", async () => {
  const calledOff = new AbortController();
  const peer = await startRawPeer((socket) => {
    socket.write("220 hello\r\n");
    socket.once("data", () => calledOff.abort("it took too long"));
  });
  const opened = await openSmtpSession(settingsFor(peer.port), createSystemClock(), calledOff.signal);
  expect(opened).toEqual({ fault: { code: "smtp.timeout", message: "it took too long" } });
  await peer.stop();
});

test("a session whose login is refused is closed", async () => {
  const peer = await startRawPeer((socket) => {
    socket.write("220 hello\r\n");
    socket.on("data", (line) =>
      socket.write(/^EHLO/.test(String(line)) ? "250-hello\r\n250 AUTH PLAIN\r\n" : "535 5.7.8 no\r\n"),
    );
  });
  const connector = smtpConnector(peer.port, { username: "ann", tls: "none" }, { password: "wrong one" });
  const opened = await openSmtpSession(toSmtpSettings(connector), createSystemClock(), NEVER);
  expect(opened).toEqual({ fault: { code: "smtp.auth", message: "535 no" } });
  await peer.stop();
});

test("nothing is connected to under a signal that has been given", async () => {
  const server = await raw(() => undefined);
  const signal = AbortSignal.abort("the service stopped");
  const opened = await openSmtpSession(settingsFor(server.port), createSystemClock(), signal);
  expect(opened).toEqual({ fault: { code: "smtp.timeout", message: "the service stopped" } });
  expect(server.connections()).toBe(0);
});

test("an open session does not end with the signal that it was opened under", async () => {
  const server = await raw(() => undefined);
  const opening = new AbortController();
  const opened = await openSmtpSession(settingsFor(server.port), createSystemClock(), opening.signal);
  if ("fault" in opened) throw new Error(opened.fault.message);
  opening.abort("it took too long");
  expect(opened.session.isOpen()).toBe(true);
  await opened.session.quit();
});

test("a message that is called off before it begins reaches nobody, and ends its connection", async () => {
  const server = await raw(() => undefined);
  const opened = await openSmtpSession(settingsFor(server.port), createSystemClock(), NEVER);
  if ("fault" in opened) throw new Error(opened.fault.message);
  const envelope = {
    from: "shop@acme.test",
    to: ["ann@example.test"],
    raw: Buffer.from("A: b\r\n\r\nc\r\n"),
  };
  const limits = { signal: AbortSignal.abort("the service stopped"), isOurs: () => true };
  const { end } = await opened.session.transact(envelope, limits);
  expect(end).toMatchObject({ kind: "lost", reason: "the service stopped", wasContentSent: false });
  expect(opened.session.isOpen()).toBe(false);
  expect(server.lines.filter((line) => !line.startsWith("EHLO"))).toEqual([]);
});
