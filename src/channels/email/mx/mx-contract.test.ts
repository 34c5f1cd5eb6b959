import { startRawSmtp } from "../../../../test/fakes/fake-smtp.ts";
import { openMxRig } from "../../../../test/fakes/mx-rig.ts";
import { outgoingEmail } from "../../../../test/fakes/smtp-relay.ts";
import { channelContract } from "../../channel.contract.ts";

/** Of one domain: so both are in one envelope, and the host is asked about both. */
const RECIPIENTS = [{ email: "ann@example.test" }, { email: "bob@example.test" }];

const ANSWERS = { accept: undefined, defer: "451 4.3.0 later", reject: "550 5.1.1 never", silent: undefined };

channelContract("mx", async () => {
  let behaviour: keyof typeof ANSWERS = "accept";
  let release = () => {};
  let handed = 0;
  const waiting = new Set<() => void>();

  const server = await startRawSmtp(async (verb) => {
    if (verb === "RCPT") return ANSWERS[behaviour];
    if (verb !== "DOT") return undefined;
    const mail = server.lines.findLastIndex((line) => line.startsWith("MAIL"));
    handed += server.lines.slice(mail).filter((line) => line.startsWith("RCPT")).length;
    for (const look of [...waiting]) look();
    if (behaviour === "silent") {
      await new Promise<void>((resolve) => {
        release = resolve;
      });
    }
    return undefined;
  });
  const rig = await openMxRig({ port: server.port, isStarted: false });
  rig.host("example.test", "mx.example.test");

  return {
    channel: rig.channel,
    statuses: rig.statuses,
    message: (parts) =>
      outgoingEmail(
        { to: RECIPIENTS },
        parts && {
          parts: RECIPIENTS.map(({ email }, n) => ({ status: parts[n] ?? "pending", address: email })),
        },
      ),
    whenUp: async () => {},
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
    elapse: rig.clock.advance,
    async close() {
      release();
      await server.close();
      await rig.close();
    },
  };
});
