import { startRawSmtp } from "../../../../test/fakes/fake-smtp.ts";
import { openSmtpRelay, outgoingEmail, smtpConnector } from "../../../../test/fakes/smtp-relay.ts";
import { channelContract } from "../../channel.contract.ts";

const RECIPIENTS = [{ email: "ann@example.test" }, { email: "bob@example.test" }];

const ANSWERS = { accept: undefined, defer: "451 4.3.0 later", reject: "550 5.1.1 never", silent: undefined };

channelContract("smtp", async () => {
  let behaviour: keyof typeof ANSWERS = "accept";
  let release = () => {};
  let handed = 0;
  const waiting = new Set<() => void>();

  const server = await startRawSmtp(async (verb) => {
    if (verb === "RCPT") return ANSWERS[behaviour];
    if (verb !== "DOT") return undefined;
    handed += rcptsOfLastMail(server.lines);
    for (const look of [...waiting]) look();
    if (behaviour === "silent") {
      await new Promise<void>((resolve) => {
        release = resolve;
      });
    }
    return undefined;
  });
  const { channel, clock, seen, became } = openSmtpRelay(smtpConnector(server.port), { isStarted: false });

  return {
    channel,
    statuses: seen,
    message: (parts) =>
      outgoingEmail(
        { to: RECIPIENTS },
        parts && {
          parts: RECIPIENTS.map(({ email }, n) => ({ status: parts[n] ?? "pending", address: email })),
        },
      ),
    whenUp: () => became("up"),
    behave: (as) => {
      behaviour = as;
    },
    release: () => {
      behaviour = "accept";
      release();
    },
    whenHanded: (count) =>
      new Promise((resolve) => {
        const look = () => void (handed >= count && resolve());
        waiting.add(look);
        look();
      }),
    handed: () => handed,
    elapse: clock.advance,
    async close() {
      release();
      await server.close();
      await channel.stop();
    },
  };
});

function rcptsOfLastMail(lines: readonly string[]): number {
  const mail = lines.findLastIndex((line) => line.startsWith("MAIL"));
  return lines.slice(mail).filter((line) => line.startsWith("RCPT")).length;
}
