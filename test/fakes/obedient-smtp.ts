/** A mail server that does with two recipients what the contract of channels asks of a peer. */
import type { ChannelFixture } from "../../src/channels/channel.contract.ts";
import { startRawSmtp } from "./fake-smtp.ts";
import { createSignals } from "./signals.ts";
import { outgoingEmail } from "./smtp-relay.ts";

/** Of one domain: so both are in one envelope, and a host is asked about both. */
const RECIPIENTS = [{ email: "ann@example.test" }, { email: "bob@example.test" }];

const ANSWERS = { accept: undefined, defer: "451 4.3.0 later", reject: "550 5.1.1 never", silent: undefined };

export interface ObedientSmtp
  extends Pick<ChannelFixture, "message" | "behave" | "release" | "whenHanded" | "handed" | "close"> {
  readonly port: number;
}

export async function startObedientSmtp(): Promise<ObedientSmtp> {
  let behaviour: keyof typeof ANSWERS = "accept";
  let release = () => {};
  let handed = 0;
  const signals = createSignals();
  const { port, lines, close } = await startRawSmtp(async (verb) => {
    if (verb === "RCPT") return ANSWERS[behaviour];
    if (verb !== "DOT") return undefined;
    handed += rcptsOfLastMail(lines);
    signals.tell();
    if (behaviour === "silent") {
      await new Promise<void>((resolve) => {
        release = resolve;
      });
    }
    return undefined;
  });
  return {
    port,
    message: (parts) =>
      outgoingEmail(
        { to: RECIPIENTS },
        parts && {
          parts: RECIPIENTS.map(({ email }, n) => ({ status: parts[n] ?? "pending", address: email })),
        },
      ),
    behave: (as) => {
      behaviour = as;
    },
    release: () => {
      behaviour = "accept";
      release();
    },
    whenHanded: (count) => signals.until(() => handed >= count),
    handed: () => handed,
    close() {
      release();
      return close();
    },
  };
}

function rcptsOfLastMail(lines: readonly string[]): number {
  const mail = lines.findLastIndex((line) => line.startsWith("MAIL"));
  return lines.slice(mail).filter((line) => line.startsWith("RCPT")).length;
}
