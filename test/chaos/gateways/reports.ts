/** What a gateway reports of the messages that it took: sent when it is due, and again until the service has stored it. */
import { createHmac } from "node:crypto";
import { createDice } from "../dice.ts";
import { isOwed, type OwedReceipt } from "../owed-receipts.ts";
import type { Naming } from "./gateway-fates.ts";

export interface Reporting {
  readonly naming: Naming;
  /** Signs reports that are sent by POST. */
  readonly secret: string;
  /** URL of a process of the service that runs; `undefined` if there is none. */
  readonly service: () => string | undefined;
  readonly problems: string[];
  /** Path of another callback URL of the same account at the provider: half of the reports go there. */
  otherPath?: string;
}

/** A message at the gateway. */
export interface Reported {
  /** The gateway's name of it. */
  readonly messageId: string;
  readonly to: string;
  /** The URL that its reports go to. */
  readonly callbackUrl: string;
  readonly receipts: readonly OwedReceipt[];
}

/** The gateway's words. */
const WORDS: Readonly<Record<OwedReceipt["state"], string>> = {
  DELIVRD: "DONE",
  UNDELIV: "LOST",
  EXPIRED: "TOO_LATE",
  REJECTD: "DENIED",
  ENROUTE: "ON_ITS_WAY",
};

/** Of the connector. What is on its way has no entry: an unknown word changes nothing. */
export const STATUSES = { DONE: "delivered", LOST: "undelivered", TOO_LATE: "expired", DENIED: "failed" };

/** A report that was not stored is sent again after this time. */
const REPEAT_AFTER_MS = 200;

/** How long an answer is waited for. */
const TIME_LIMIT_MS = 3_000;

/** Reports that are sent in one request. */
const MOST_AT_ONCE = 3;

interface Due extends Reported {
  readonly receipt: OwedReceipt;
}

/** Sends all reports that are due. Resolves when they are answered, or nobody answers. */
export async function sendReports(reporting: Reporting, messages: readonly Reported[]): Promise<void> {
  const nowMs = Date.now();
  const due = messages.flatMap((message) =>
    message.receipts.flatMap((receipt) =>
      isDue(receipt, nowMs) ? { ...message, receipt, callbackUrl: urlFor(reporting, message, receipt) } : [],
    ),
  );
  const atOnce = reporting.naming === "ours" ? 1 : MOST_AT_ONCE;
  const byUrl = Map.groupBy(due, ({ callbackUrl }) => (atOnce === 1 ? "" : callbackUrl));
  const groups = [...byUrl.values()].flatMap((all) => inGroups(all, atOnce));
  await Promise.all(groups.map((group) => sendGroup(reporting, group)));
}

function urlFor(
  { otherPath }: Reporting,
  { callbackUrl, messageId, to }: Reported,
  { state, tries }: OwedReceipt,
): string {
  const isElsewhere = otherPath && createDice(`${messageId}/${to}/${state}/${tries}`).chance(0.5);
  return isElsewhere ? new URL(callbackUrl).origin + otherPath + new URL(callbackUrl).search : callbackUrl;
}

function isDue(receipt: OwedReceipt, nowMs: number): boolean {
  const isUnderWay = nowMs < (receipt.inFlightSinceMs ?? 0) + REPEAT_AFTER_MS;
  return isOwed(receipt) && receipt.dueMs <= nowMs && !isUnderWay;
}

function inGroups<T>(all: readonly T[], size: number): readonly T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, index) =>
    all.slice(index * size, (index + 1) * size),
  );
}

async function sendGroup(reporting: Reporting, group: readonly Due[]): Promise<void> {
  const [first] = group;
  if (!first) return;
  for (const { receipt } of group) {
    receipt.inFlightSinceMs = Date.now() + TIME_LIMIT_MS;
    receipt.tries++;
  }
  const status = await post(
    reporting,
    first.callbackUrl,
    group.map((due) => ({ id: due.messageId, to: due.to, state: WORDS[due.receipt.state] })),
  );
  for (const { receipt } of group) {
    receipt.inFlightSinceMs = Date.now();
    if (status === 200) receipt.storedAtMs ??= Date.now();
  }
  if (status !== undefined && status !== 200 && status !== 503)
    reporting.problems.push(`a report of ${first.messageId} is answered with ${status}`);
}

/** Fields of a report, or of what a handset writes. */
type Report = Readonly<Record<string, string>>;

/** Resolves with the status of the answer; `undefined` if there is none. */
export async function post(
  { naming, secret, service }: Pick<Reporting, "naming" | "secret" | "service">,
  callbackUrl: string,
  reports: readonly Report[],
): Promise<number | undefined> {
  const { pathname, search } = new URL(callbackUrl);
  const base = service();
  if (base === undefined) return undefined;
  const body = JSON.stringify({ events: reports });
  const signature = createHmac("sha256", secret).update(body).digest("hex");
  const query = new URLSearchParams({ ...reports[0] });
  const signal = AbortSignal.timeout(TIME_LIMIT_MS);
  try {
    const response =
      naming === "ours"
        ? await fetch(`${base}${pathname}${search}${search ? "&" : "?"}${query}`, { signal })
        : await fetch(base + pathname, {
            method: "POST",
            headers: { "Content-Type": "application/json", "X-Signature": signature },
            body,
            signal,
          });
    await response.text();
    return response.status;
  } catch {
    return undefined;
  }
}
