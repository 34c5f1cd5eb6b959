/** A relay whose answer to DATA is not "go on": its answers are out of step with the commands, or it never asked for the mail. */
import { expect, test } from "bun:test";
import { onBothStores } from "../both-stores.ts";
import { type RawScript, startRawSmtp } from "../fakes/fake-smtp.ts";
import { startLiveEmail } from "../live-email.ts";

const ANN = "RCPT TO:<ann@example.net>";

/** Sends one email over a relay that answers as the script says; resolves when the relay has taken it. */
async function sendOver(script: RawScript, text: string) {
  let taken = 0;
  const relay = await startRawSmtp((verb, line, connection) => {
    if (verb === "DOT") taken++;
    return script(verb, line, connection);
  });
  const { postrider, ask, account, close } = await startLiveEmail({ host: relay.host, port: relay.port });
  const { body } = await ask(["ann"], { body_text: text });
  const message = { path: `/v1/emails/messages/${body.message_id}`, apiKey: account.apiKey };
  const status = await postrider.reached({ ...message, withinMs: 600_000 }, "sent", "bounced", "failed");
  await close();
  await relay.close();
  return { status, taken, lines: relay.lines };
}

/** An answer for the first command of this kind only. */
function once(command: string, answer: string): RawScript {
  let isDone = false;
  return (verb) => {
    if (verb !== command || isDone) return undefined;
    isDone = true;
    return answer;
  };
}

onBothStores(() => {
  test("what an email says is never read as commands, whatever a relay answers to DATA", async () => {
    const script = once("DATA", "250 ok");
    const { status, taken, lines } = await sendOver(script, "Dear Ann,\r\nRCPT TO:<eve@example.org>\r\n");
    expect({ status, taken }).toEqual({ status: "sent", taken: 1 });
    expect(lines).not.toContain("Dear Ann,");
    expect(lines.filter((line) => line.startsWith("RCPT"))).toEqual([ANN, ANN]);
  });

  test("a relay that answers one command twice gets the email once", async () => {
    const { status, taken } = await sendOver(once("MAIL", "250 ok\r\n250 ok"), "All is well.");
    expect({ status, taken }).toEqual({ status: "sent", taken: 1 });
  });
});
