/** Which extensions a server is taken to have. */
import { expect, test } from "bun:test";
import { outgoingEmail, smtpConnector, withRelays } from "../../../../test/fakes/smtp-relay.ts";
import { createSystemClock } from "../../../cli/system-clock.ts";
import { toSmtpSettings } from "./smtp-config.ts";
import { openSmtpSession } from "./smtp-session.ts";

const NEVER = new AbortController().signal;

const { raw, upRelay } = withRelays();

test("an extension is one that the server lists, wherever in the list, and not its own name", async () => {
  const offered = async (...lines: readonly string[]) => {
    const server = await raw((verb) => (verb === "EHLO" ? lines.join("\r\n") : undefined));
    const opened = await openSmtpSession(
      toSmtpSettings(smtpConnector(server.port)),
      createSystemClock(),
      NEVER,
    );
    if ("fault" in opened) throw new Error(opened.fault.message);
    await opened.session.quit();
    return [opened.session.takesDsn, opened.session.takesSmtpUtf8];
  };
  expect(await offered("250-mx.test", "250-DSN", "250-SMTPUTF8", "250 8BITMIME")).toEqual([true, true]);
  expect(await offered("250-mx.test", "250-SMTPUTF8", "250 DSN")).toEqual([true, true]);
  expect(await offered("250-dsn.test no SMTPUTF8", "250 8BITMIME")).toEqual([false, false]);
  expect(await offered("250-smtputf8.test", "250 HELP DSN")).toEqual([false, false]);
});

test("a server that refuses STARTTLS has the extensions that it has listed all the same", async () => {
  const server = await raw((verb) => {
    if (verb === "EHLO") return "250-mx.test\r\n250-STARTTLS\r\n250-SMTPUTF8\r\n250 DSN";
    return verb === "STARTTLS" ? "454 4.7.0 TLS not available due to local problem" : undefined;
  });
  const { channel } = await upRelay(server.port);
  const to = [{ email: "jürgen@example.test" }];
  expect((await channel.send(outgoingEmail({ to }), NEVER)).parts).toMatchObject([{ kind: "sent" }]);
});

test("no reports are asked of a server that has DSN in its name alone", async () => {
  const server = await raw((verb) => (verb === "EHLO" ? "250-mx-dsn.test\r\n250 8BITMIME" : undefined));
  const { channel } = await upRelay(server.port);
  const email = outgoingEmail({}, { returnPathHost: "bounces.acme.test" });
  expect((await channel.send(email, NEVER)).parts).toMatchObject([{ kind: "sent" }]);
  expect(server.lines.filter((line) => /^(?:MAIL|RCPT)/.test(line)).join(" ")).not.toMatch(/NOTIFY|RET=/);
});
