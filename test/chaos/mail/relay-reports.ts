/** What a relay reports later of the mails it took, until some bounce listener has stored it. */
import { postfixDsn } from "../../fakes/bounce-mails.ts";
import { mailBack } from "../../fakes/mail-back.ts";
import { reportOf } from "./relay-fates.ts";

export interface Report {
  readonly action: "delivered" | "failed";
  /** When a bounce listener took it. */
  storedAtMs?: number;
  tries: number;
}

interface ReportedMail {
  /** The reverse-path. */
  readonly from: string;
  readonly to: readonly string[];
  readonly messageId: string;
  report?: Report;
}

/** Of some mails nothing is reported. */
export function oweReport(mail: ReportedMail): void {
  const action = reportOf(`${mail.messageId}/${mail.to.join()}/report`);
  if (action) mail.report = { action, tries: 0 };
}

/** Hands every report that is due to some bounce listener: another one at each try. */
export function handOnReports(mails: readonly ReportedMail[], bouncePorts: readonly number[]): void {
  for (const { report: due, from, to } of mails) {
    if (!due || due.storedAtMs !== undefined || isUnderWay.has(due)) continue;
    const port = bouncePorts[due.tries++ % bouncePorts.length]!;
    const isDelivered = due.action === "delivered";
    const raw = postfixDsn({
      recipient: to[0]!,
      returnPath: from,
      action: due.action,
      ...(isDelivered ? { status: "2.0.0", reply: "250 2.0.0 ok" } : { status: "5.1.1" }),
    });
    isUnderWay.add(due);
    void mailBack({ port, to: from, raw }).then((reply) => {
      isUnderWay.delete(due);
      if (reply.startsWith("250")) due.storedAtMs = Date.now();
    });
  }
}

const isUnderWay = new WeakSet<Report>();
