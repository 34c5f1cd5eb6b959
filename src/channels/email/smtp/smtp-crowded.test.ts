/** A server that takes only some of an envelope's recipients at a time (RFC 5321 §4.5.3.1.10). */
import { expect, test } from "bun:test";
import { outgoingEmail, withRelays } from "../../../../test/fakes/smtp-relay.ts";

const NEVER = new AbortController().signal;
const TO = ["ann", "bob", "cid", "dan", "eve"].map((name) => ({ email: `${name}@example.test` }));

const { raw, upRelay } = withRelays();

/** The recipients of each envelope, in the order of their RCPT TO. */
function envelopesIn(lines: readonly string[]): string[][] {
  const envelopes: string[][] = [];
  for (const line of lines) {
    if (line.startsWith("MAIL")) envelopes.push([]);
    const name = /^RCPT TO:<(\w+)@/.exec(line)?.[1];
    if (name) envelopes.at(-1)?.push(name);
  }
  return envelopes;
}

const MORE = [
  "452 4.5.3 too many recipients",
  "452 too many recipients",
  "452-4.5.3 Domain policy size per transaction exceeded,\r\n452 4.5.3 please try this recipient in a separate transaction.",
  "552 too many recipients",
  "550 5.5.3 too many recipients",
];

test.each(MORE)("the others follow at once in further envelopes: %j", async (refusal) => {
  let inEnvelope = 0;
  const server = await raw((verb) => {
    if (verb === "MAIL") inEnvelope = 0;
    if (verb === "DOT") return "250 2.0.0 Ok: queued as 4F1C2A0B3D";
    return verb === "RCPT" && ++inEnvelope > 2 ? refusal : undefined;
  });
  const { channel } = await upRelay(server.port);
  const { parts, detail } = await channel.send(outgoingEmail({ to: TO }), NEVER);
  expect(parts.map((part) => part?.kind)).toEqual(TO.map(() => "sent"));
  expect(detail).not.toHaveProperty("queue_id");
  expect(envelopesIn(server.lines)).toEqual([
    ["ann", "bob", "cid", "dan", "eve"],
    ["cid", "dan", "eve"],
    ["eve"],
  ]);
});

test("whoever is refused also where nobody else was accepted waits for the next attempt", async () => {
  const server = await raw((verb, line) =>
    verb === "RCPT" && !line.includes("ann") ? "452 insufficient storage" : undefined,
  );
  const { channel } = await upRelay(server.port);
  const { parts } = await channel.send(outgoingEmail({ to: TO.slice(0, 3) }), NEVER);
  expect(parts).toMatchObject([{ kind: "sent" }, { kind: "deferred" }, { kind: "deferred" }]);
  expect(envelopesIn(server.lines)).toEqual([
    ["ann", "bob", "cid"],
    ["bob", "cid"],
  ]);
});
