/** Servers that answer piece by piece, as tarpits do. */
import { expect, test } from "bun:test";
import type { Socket } from "node:net";
import { startRawPeer } from "../../../../test/fakes/raw-peer.ts";
import { outgoingEmail, withRelays } from "../../../../test/fakes/smtp-relay.ts";
import { until } from "../../../../test/until.ts";
import type { SendOutcome } from "../../../core/messages/outcome.ts";

const { upRelay, closeLater } = withRelays();

/** Answers as usual, but to `slow` only what is passed to `drip`. */
async function startTarpit(slow: string) {
  const waiting = new Set<Socket>();
  const peer = await startRawPeer((socket) => {
    socket.write("220 hello\r\n");
    socket.on("data", (chunk) => {
      const text = String(chunk);
      const verb = text.endsWith("\r\n.\r\n") ? "DOT" : text.slice(0, 4);
      if (verb === slow) waiting.add(socket);
      else socket.write(verb === "DATA" ? "354 go on\r\n" : "250 ok\r\n");
    });
  });
  closeLater(peer.stop);
  const drip = (piece: string) => {
    for (const socket of waiting) socket.write(piece);
  };
  return { port: peer.port, drip };
}

/** The outcome of a message to a server that sends the piece twice a second, for five minutes. */
async function outcomeAt(slow: string, piece: string): Promise<SendOutcome | undefined> {
  const { port, drip } = await startTarpit(slow);
  const { channel, clock } = await upRelay(port, { response_timeout_ms: 60_000, send_timeout_ms: 600_000 });
  const abort = new AbortController();
  let outcome: SendOutcome | undefined;
  const sending = channel.send(outgoingEmail(), abort.signal).then((each) => {
    outcome = each;
  });
  const endsMs = clock.monotonicMs() + 300_000;
  const isOver = () => outcome !== undefined || clock.monotonicMs() > endsMs;
  await until(
    async () => {
      drip(piece);
      await clock.advance(500);
      return isOver();
    },
    Boolean,
    { pauseMs: 0 },
  );
  const found = outcome;
  abort.abort("the test is over");
  await sending;
  return found;
}

test.each([
  ["MAIL", "250-wait\r\n", "in lines that never end it"],
  ["RCPT", "\r\n", "in empty lines"],
  ["RCPT", "2", "in a line that has no end"],
] as const)(
  "an answer to %s that comes as %p, %s, is waited for no longer than any other",
  async (slow, piece) => {
    expect(await outcomeAt(slow, piece)).toMatchObject({
      parts: [{ kind: "deferred", error: { message: "the server did not answer in time" } }],
    });
  },
);

test("an answer to the message itself may take its time, however it comes", async () => {
  expect(await outcomeAt("DOT", "250-scanning\r\n")).toBeUndefined();
});
