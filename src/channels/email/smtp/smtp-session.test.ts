import { expect, test } from "bun:test";
import { cpuMsOf } from "../../../../test/cpu-time.ts";
import { mailTls } from "../../../../test/fakes/mail-tls.ts";
import { startRawPeer } from "../../../../test/fakes/raw-peer.ts";
import { outgoingEmail, smtpConnector, withRelays } from "../../../../test/fakes/smtp-relay.ts";
import { testTls } from "../../../../test/fakes/test-tls.ts";
import { createSystemClock } from "../../../cli/system-clock.ts";
import { smtpConnectorKind } from "./smtp-connector.ts";

const NEVER = new AbortController().signal;
const LOGIN = { username: "relay-user", password: "s3cret pass" };
const PROVEN = { tls: "required", ca: testTls.ca };

const { fake, raw, relay, closeLater } = withRelays();

test("a name to introduce oneself by that was stored before names were judged goes on as it is", async () => {
  const server = await raw(() => undefined);
  const { channel, became } = relay(server.port, { ehlo_name: "mail_1 example.com" });
  await became("up");
  await channel.send(outgoingEmail(), NEVER);
  expect(server.lines).toContain("EHLO mail_1 example.com");
});

test("STARTTLS is used where it is offered, whoever's certificate is shown", async () => {
  const server = await fake({ tls: "starttls" });
  const { channel, became } = relay(server.port, {});
  await became("up");
  const { detail } = await channel.send(outgoingEmail(), NEVER);
  expect([detail?.tls, server.received[0]?.isSecure]).toEqual([true, true]);
});

test("without STARTTLS opportunistic mail goes in the clear, and so it does where TLS breaks", async () => {
  const plain = await fake({ tls: "none" });
  const first = relay(plain.port, {});
  await first.became("up");
  expect((await first.channel.send(outgoingEmail(), NEVER)).detail?.tls).toBe(false);

  const broken = await raw((verb) => {
    if (verb === "EHLO") return "250-raw.test\r\n250 STARTTLS";
    return verb === "STARTTLS" ? { lastWords: "220 go" } : undefined;
  });
  const second = relay(broken.port, {});
  await second.became("up");
  expect((await second.channel.send(outgoingEmail(), NEVER)).parts[0]?.kind).toBe("sent");
});

test("where STARTTLS is refused, the same connection goes on in the clear", async () => {
  const server = await raw((verb) => {
    if (verb === "EHLO") return "250-raw.test\r\n250 STARTTLS";
    return verb === "STARTTLS" ? "454 4.7.0 TLS not available" : undefined;
  });
  const { channel, became } = relay(server.port, {});
  await became("up");
  expect(await channel.send(outgoingEmail(), NEVER)).toMatchObject({
    parts: [{ kind: "sent" }],
    detail: { tls: false },
  });
  expect(server.connections()).toBe(1);
});

test("a host whose name leads nowhere is down, with that as the reason", async () => {
  const { channel, became } = relay(25, { host: "no..such.host", connect_timeout_ms: 5_000 });
  await became("down");
  expect(channel.status().reason).toStartWith("smtp.dns: ");
});

test("a host may stand in brackets, as SMTP and URLs write addresses, and alone", async () => {
  const server = await fake({ tls: "none" });
  const { became } = relay(server.port, { host: "[127.0.0.1]" });
  await became("up");
  const config = { host: "mail.example:25" };
  expect(smtpConnectorKind.problems?.({ config, secrets: {} })).toMatchObject({
    host: expect.stringContaining("a name or an address alone"),
  });
});

test("a server that greets late is waited for beyond the limit of connecting", async () => {
  // The library keeps real time, and a second is enough for any connection to this machine.
  const server = await raw(async (verb) => void (verb === "GREETING" && (await Bun.sleep(1_500))));
  const { became } = relay(server.port, { connect_timeout_ms: 1_000, greeting_timeout_ms: 60_000 });
  await became("up");
});

for (const mode of ["required", "implicit"] as const) {
  const tls = mode === "required" ? "starttls" : "implicit";

  test(`${mode} TLS takes a server whose certificate proves it`, async () => {
    const server = await fake({ tls });
    for (const host of ["127.0.0.1", "localhost"]) {
      const { channel, became } = relay(server.port, { host, tls: mode, ca: testTls.ca });
      await became("up");
      expect((await channel.send(outgoingEmail(), NEVER)).parts[0]?.kind).toBe("sent");
    }
    expect(server.received.map(({ isSecure }) => isSecure)).toEqual([true, true]);
  });

  test(`${mode} TLS sends nothing to a server whose certificate nobody vouches for`, async () => {
    const server = await fake({ tls });
    const { channel, became } = relay(server.port, { tls: mode });
    await became("down");
    expect(channel.status().reason).toMatch(/^smtp\.tls: (?!the server offers)/);
    expect(channel.status().reason).toEndWith(
      "; set `ca` to the certificate (PEM) of the authority that signed it",
    );
    expect(channel.freeSlots()).toBe(0);
  });

  test(`${mode} TLS sends nothing to a server without it`, async () => {
    const server = await raw((verb) => (verb === "STARTTLS" ? "502 5.5.1 what?" : undefined));
    const { channel, became } = relay(server.port, { tls: mode, ca: testTls.ca });
    await became("down");
    const { reason } = channel.status();
    expect(reason).toStartWith("smtp.tls: ");
    if (mode === "implicit") expect(reason).toEndWith("`tls` is to be `required`, which is STARTTLS");
    else expect(reason).toBe("smtp.tls: the server offers no STARTTLS: 502 what?");
    expect(server.lines.filter((line) => line.startsWith("MAIL"))).toEqual([]);
  });
}

test("a server that offers STARTTLS and has no TLS just now is not said to offer none", async () => {
  const words = new Map([["EHLO", "250-raw\r\n250 STARTTLS"]]).set("STARTTLS", "454 4.3.0 no TLS now");
  const { channel, became } = relay((await raw((verb) => words.get(verb))).port, { tls: "required" });
  await became("down");
  expect(channel.status().reason).toBe("smtp.tls: 454 no TLS now");
});

test("a certificate for another host is refused", async () => {
  const server = await fake({ tls: "starttls", certificate: mailTls });
  const { channel, became } = relay(server.port, { ...PROVEN, ca: mailTls.ca });
  await became("down");
  expect(channel.status().reason).toContain("127.0.0.1 is not in the cert's list");
  expect(channel.status().reason).toEndWith("; `host` must be one that the certificate is for");
});

test("the name and the password open a relay that wants them", async () => {
  const server = await fake({ tls: "starttls", auth: LOGIN });
  const { channel, became } = relay(
    server.port,
    { username: LOGIN.username, ca: testTls.ca },
    { password: LOGIN.password },
  );
  await became("up");
  await channel.send(outgoingEmail(), NEVER);
  expect(server.received[0]).toMatchObject({ user: LOGIN.username, isSecure: true });
});

test("with a username, TLS with proof is the default: no password for a server that proves nothing", async () => {
  for (const tls of ["starttls", "none"] as const) {
    const server = await fake({ tls, auth: LOGIN });
    const { channel, became } = relay(
      server.port,
      { username: LOGIN.username },
      { password: LOGIN.password },
    );
    await became("down");
    expect(channel.status().reason).not.toContain(LOGIN.password);
  }
});

test("opportunistic TLS never sends a password in the clear; only `none` does", async () => {
  const server = await raw((verb) => (verb === "EHLO" ? "250-raw.test\r\n250 AUTH PLAIN" : undefined));
  const config = { username: LOGIN.username };
  const shy = relay(server.port, { ...config, tls: "opportunistic" }, { password: LOGIN.password });
  await shy.became("down");
  expect(shy.channel.status().reason).toStartWith("smtp.tls: ");
  expect(server.lines.some((line) => line.startsWith("AUTH"))).toBe(false);
  const bold = relay(server.port, { ...config, tls: "none" }, { password: LOGIN.password });
  await bold.became("up");
  expect(server.lines.filter((line) => line.startsWith("AUTH PLAIN"))).toHaveLength(1);
});

test("a server that offers no AUTH is told no password", async () => {
  const server = await raw(() => undefined);
  const config = { username: LOGIN.username, tls: "none" };
  const { channel, became } = relay(server.port, config, { password: LOGIN.password });
  await became("down");
  expect(channel.status().reason).toBe("smtp.auth: the server offers no AUTH");
  expect(server.lines.some((line) => line.startsWith("AUTH"))).toBe(false);
});

test("a refused password is not tried again for a while, is never told, and is an operator's at once", async () => {
  const server = await fake({ tls: "starttls", auth: LOGIN });
  const { channel, clock, became } = relay(
    server.port,
    { username: LOGIN.username, ca: testTls.ca },
    { password: "wrong one" },
  );
  await became("down");
  expect(channel.status().reason).toStartWith("smtp.auth: 535");
  expect(channel.status().reason).not.toContain("wrong one");
  expect(channel.status().alarm).toBe("credentials_refused");
  await clock.advance(44_999);
  expect(server.connections()).toBe(1);
  await clock.advance(1);
  expect(channel.status()).toMatchObject({ state: "connecting", alarm: "credentials_refused" });
});

test("a relay that cannot judge the password now has refused none, and is tried again as after any other fault", async () => {
  const offer = "250-raw.test\r\n250 AUTH PLAIN";
  let answer: string | undefined = "454 4.7.0 Temporary authentication failure";
  const server = await raw((verb) => (verb === "EHLO" ? offer : verb === "AUTH" ? answer : undefined));
  const config = { username: LOGIN.username, tls: "none" };
  const { channel, clock, became } = relay(server.port, config, { password: LOGIN.password });
  await became("down");
  expect(channel.status().reason).toBe("smtp.connect: 454 Temporary authentication failure");
  answer = undefined;
  expect(channel.status().alarm).toBeUndefined();
  await clock.advance(1_000);
  await became("up");
});

test("a relay whose challenge is 60,000 blanks is answered at once", async () => {
  const answers: Record<string, string> = {
    EHLO: "250-raw.test\r\n250 AUTH CRAM-MD5",
    AUTH: `334${"\t".repeat(60_000)}x\r`,
  };
  const server = await raw((verb) => (verb === "GREETING" ? undefined : (answers[verb] ?? "535 no")));
  const { channel, became } = relay(
    server.port,
    { username: LOGIN.username, tls: "none" },
    { password: LOGIN.password },
  );
  // It took four seconds, in which the service did nothing else.
  expect(await cpuMsOf(() => became("down"))).toBeLessThan(1_500);
  expect(channel.status().reason).toBe("smtp.auth: 535 no");
});

test("a relay that asks for the password without end is told it once, and hung up on", async () => {
  const server = await raw((verb) =>
    verb === "EHLO" ? "250-raw.test\r\n250 AUTH PLAIN" : verb === "GREETING" ? undefined : "334 ",
  );
  const config = { username: LOGIN.username, tls: "none" };
  const { channel, became } = relay(server.port, config, { password: LOGIN.password });
  await became("down");
  expect(channel.status().reason).toBe("smtp.auth: the server asks for the password without end");
  expect(server.lines.filter((line) => line !== "")).toHaveLength(2);
});

test("a relay that wants a password we do not have costs the messages nothing and is down, with the reason", async () => {
  const server = await fake({ auth: LOGIN });
  const { channel, became } = relay(server.port, {});
  await became("up");
  const outcome = await channel.send(outgoingEmail(), NEVER);
  expect(outcome).toMatchObject({ parts: [{ kind: "deferred" }], countsAsAttempt: false });
  expect(channel.status()).toMatchObject({
    state: "down",
    reason: expect.stringMatching(/^smtp\.auth: 530/),
    alarm: "credentials_refused",
  });
});

test("the check tells what it found and sends nothing", async () => {
  const server = await fake({ tls: "starttls", auth: LOGIN });
  const config = { username: LOGIN.username, ca: testTls.ca };
  const clock = createSystemClock();
  const good = smtpConnector(server.port, config, { password: LOGIN.password });
  expect(await smtpConnectorKind.check(good, clock)).toEqual({
    ok: true,
    detail: `connected to 127.0.0.1:${server.port} over TLS, as relay-user`,
  });
  const bad = smtpConnector(server.port, config, { password: "wrong one" });
  const refused = await smtpConnectorKind.check(bad, clock);
  expect(refused.ok).toBe(false);
  expect(refused.detail).toStartWith("smtp.auth: 535");
  expect(server.received).toEqual([]);
  await server.openConnections(0);
});

test("the check of a server that begins in the clear names the setting for it", async () => {
  const server = await fake({ tls: "starttls" });
  const check = (tls: string) =>
    smtpConnectorKind.check(smtpConnector(server.port, { tls, ca: testTls.ca }), createSystemClock());
  expect((await check("implicit")).detail).toContain("`tls` is to be `required`");
  expect((await check("required")).ok).toBe(true);
});

test("the check of a server that answers STARTTLS and speaks no TLS does not advise what is set already", async () => {
  const peer = await startRawPeer((socket) => {
    socket.write("220 hello\r\n");
    socket.on("data", (line) => {
      const isBegun = /STARTTLS/.test(String(line));
      socket.write(isBegun ? "220 go\r\n" : "250-hello\r\n250 STARTTLS\r\n");
      if (isBegun) setImmediate(() => socket.write("this is no TLS".repeat(10)));
    });
  });
  closeLater(peer.stop);
  const connector = smtpConnector(peer.port, { tls: "required" });
  const { ok, detail } = await smtpConnectorKind.check(connector, createSystemClock());
  expect([ok, detail]).toEqual([false, expect.stringContaining("WRONG_VERSION_NUMBER")]);
  expect(detail).not.toContain("is to be");
});

test("the check ends, however long the server keeps us waiting", async () => {
  const server = await raw((verb) => (verb === "EHLO" ? "250-wait" : undefined));
  const opened = relay(server.port, {});
  const checking = smtpConnectorKind.check(smtpConnector(server.port), opened.clock);
  await server.heard("EHLO");
  await opened.clock.advance(15_000);
  expect(await checking).toEqual({ ok: false, detail: "smtp.timeout: it took too long" });
});
