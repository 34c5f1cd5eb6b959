/** Relays that repeat what they were told when they refuse a message: their words are logged, raise alarms and are shown. */
import { expect, test } from "bun:test";
import type { RawScript } from "../../../../test/fakes/fake-smtp.ts";
import { outgoingEmail, withRelays } from "../../../../test/fakes/smtp-relay.ts";

const NEVER = new AbortController().signal;
const PASSWORD = "Passm0rd-81be22";
const CODE = "Your code is 481516";

const { raw, relay } = withRelays();

/** The channel's state and the outcomes, after a message that the relay refused. */
async function refusedBy(script: RawScript) {
  const server = await raw(script);
  const config = { username: "ann", tls: "none" };
  const { channel, became } = relay(server.port, config, { password: PASSWORD });
  await became("up");
  const outcome = await channel.send(outgoingEmail({ bodyText: CODE }), NEVER);
  return { status: channel.status(), parts: outcome.parts };
}

const OFFER = "250-raw.test\r\n250 AUTH PLAIN";

for (const refusing of ["MAIL", "RCPT", "DOT"]) {
  test(`a relay that repeats the login when it refuses ${refusing} tells nobody the password`, async () => {
    let login = "";
    const { status, parts } = await refusedBy((verb, line) => {
      if (verb === "EHLO") return OFFER;
      if (verb === "AUTH") {
        login = line;
        return "235 welcome";
      }
      return verb === refusing ? `530 5.7.0 not for ${login}` : undefined;
    });
    expect(login).toStartWith("AUTH PLAIN ");
    const told = JSON.stringify([status, parts]);
    expect(told).toContain("530 not for AUTH PLAIN");
    expect(told).not.toContain(login.slice(-16));
  });
}

test("a relay that repeats the message when it wants a login has it on the timeline, and not in its own state", async () => {
  const { status, parts } = await refusedBy((verb) => {
    if (verb === "EHLO") return OFFER;
    return verb === "AUTH" ? "235 welcome" : verb === "DOT" ? `530 5.7.0 log in first: ${CODE}` : undefined;
  });
  expect(parts).toMatchObject([{ kind: "deferred", error: { message: `530 log in first: ${CODE}` } }]);
  expect(status).toMatchObject({ state: "down", alarm: "credentials_refused" });
  expect(status.reason).toStartWith("smtp.auth: 530 ");
  expect(status.reason).not.toContain("481516");
});

test("a relay that wants a login before it has read anything of the message is quoted", async () => {
  const { status } = await refusedBy((verb) => {
    if (verb === "EHLO") return OFFER;
    return verb === "AUTH"
      ? "235 welcome"
      : verb === "DATA"
        ? "530 5.7.57 client not authenticated"
        : undefined;
  });
  expect(status.reason).toBe("smtp.auth: 530 client not authenticated");
});

test("a relay that repeats an earlier message of the connection when it wants a login has it out of its own state", async () => {
  const server = await raw((verb, _line, connection) => {
    if (verb === "EHLO") return OFFER;
    if (verb === "AUTH") return "235 welcome";
    return verb === "MAIL" && connection === 1 && ++mails === 2
      ? `530 5.7.0 log in; last was: ${CODE}`
      : undefined;
  });
  let mails = 0;
  const config = { username: "ann", tls: "none", max_connections: 1 };
  const { channel, became } = relay(server.port, config, { password: PASSWORD });
  await became("up");
  const send = () => channel.send(outgoingEmail({ bodyText: CODE }), NEVER);
  expect((await send()).parts).toMatchObject([{ kind: "sent" }]);
  expect((await send()).parts).toMatchObject([{ kind: "deferred" }]);
  const { reason } = channel.status();
  expect(reason).toStartWith("smtp.auth: 530 in answer to a message");
  expect(reason).not.toContain("481516");
});

test("a relay that greets with the login of the connection before tells nobody the password", async () => {
  let login = "";
  const server = await raw((verb, line) => {
    if (verb === "GREETING" && login !== "") return `554 5.7.0 not again: ${login}`;
    if (verb === "EHLO") return OFFER;
    if (verb !== "AUTH") return verb === "MAIL" ? "421 4.3.2 closing" : undefined;
    login = line;
    return "235 welcome";
  });
  const config = { username: "ann", tls: "none" };
  const { channel, became } = relay(server.port, config, { password: PASSWORD });
  await became("up");
  await channel.send(outgoingEmail({ bodyText: CODE }), NEVER);
  await became("down");
  const { reason } = channel.status();
  expect(reason).toContain("554 not again: AUTH PLAIN");
  expect(reason).not.toContain(login.slice(-16));
});
