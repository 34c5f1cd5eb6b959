/** What an account's records make of a request: who is suppressed, and which queue serves whom. */

import { domainOf, type EmailAddress } from "../../core/email/email-address.ts";
import type { SendEmail } from "../../core/email/send-email.ts";
import { createErrors, type ErrorCollector } from "../../core/field-errors.ts";
import type { KeyOwner, NewJob } from "../../core/messages/accept-request.ts";
import type { Part, Recipient } from "../../core/messages/message.ts";
import type { Route } from "../../core/records/accounts.ts";
import { chooseRoute, type Destination, SANDBOX_QUEUES } from "../../core/records/routes.ts";
import { readSetting } from "../../core/records/settings.ts";
import { validationFailed } from "../errors.ts";
import type { Directory } from "../records/directory.ts";

export interface EmailPlan {
  /** One per recipient, in the order to, cc, bcc. */
  readonly parts: readonly Part[];
  /** One per queue. */
  readonly jobs: readonly NewJob[];
}

/** Refuses, with every problem at once, what could not be sent. */
export async function planEmail(
  directory: Directory,
  caller: KeyOwner,
  request: SendEmail,
): Promise<EmailPlan> {
  const addressed = addressedIn(request);
  // Whom the account's suppression list holds is left out just before the wire.
  const parts = addressed.map(({ recipient }): Part => ({ status: "pending", address: recipient.email }));
  const errors = createErrors();
  const queues = await judgeEmail(directory, caller, { request, addressed, errors });
  if (!errors.isEmpty()) throw validationFailed(errors.list());
  return { parts, jobs: jobsOf(queues, request) };
}

interface Judged {
  readonly request: SendEmail;
  readonly errors: ErrorCollector;
  /** Absent: to be found. */
  readonly addressed?: readonly Addressed[];
}

/**
 * What an account's records refuse of a request, and the queue of each recipient, "" where none leads there. An address
 * that is empty was refused before: it is passed over, and what it might have decided is left open.
 */
export async function judgeEmail(
  directory: Directory,
  caller: KeyOwner,
  { request, errors, addressed = addressedIn(request) }: Judged,
): Promise<readonly string[]> {
  const { id: accountId, mode } = caller.account;
  if (mode === "sandbox") return addressed.map(() => SANDBOX_QUEUES.email);
  const { email } = request.from;
  if (email) await judgeSender(directory, caller, { email, errors });
  if (request.unsubscribe) await judgeUnsubscribe(directory, errors);
  const routes = await directory.routes();
  return queuesOf(
    email ? routes : routes.map(({ sender: _sender, ...route }) => route),
    { accountId, channel: "email", sender: domainOf(email) },
    { addressed, errors },
  );
}

/** A recipient and where the request names it. */
interface Addressed {
  readonly recipient: Recipient;
  readonly field: "to" | "cc" | "bcc";
  readonly index: number;
  readonly total: number;
}

function addressedIn(request: SendEmail): readonly Addressed[] {
  return (["to", "cc", "bcc"] as const).flatMap((field) => {
    const recipients = request[field] ?? [];
    return recipients.map((recipient, index) => ({ recipient, field, index, total: recipients.length }));
  });
}

/** In a live account a sender's domain is verified. */
async function judgeSender(
  directory: Directory,
  { account }: KeyOwner,
  { email, errors }: { email: EmailAddress; errors: ErrorCollector },
): Promise<void> {
  const domain = await directory.domain(account.id, domainOf(email));
  if (domain?.verifiedAt === undefined) errors.add("from.email", "domain is not verified");
}

async function judgeUnsubscribe(directory: Directory, errors: ErrorCollector): Promise<void> {
  const publicUrl = readSetting(await directory.settings(undefined), "public_url");
  if (!publicUrl?.startsWith("https://"))
    errors.add("unsubscribe", "needs the setting public_url, with https://");
}

function queuesOf(
  routes: readonly Route[],
  asked: Omit<Destination, "destination">,
  { addressed, errors }: { addressed: readonly Addressed[]; errors: ErrorCollector },
): readonly string[] {
  return addressed.map(({ recipient, field, index, total }) => {
    if (!recipient.email) return "";
    const destination = domainOf(recipient.email);
    const route = chooseRoute(routes, { ...asked, destination });
    if (!route) errors.addEntry(field, { index, total, at: `${field}.${index}.email`, reason: NO_ROUTE });
    return route?.id ?? "";
  });
}

const NO_ROUTE = "no route of the account leads to this domain";

/** One envelope per queue; one per recipient where each mail holds a link of its own. */
function jobsOf(queues: readonly string[], { unsubscribe }: SendEmail): readonly NewJob[] {
  if (unsubscribe) return queues.map((queue, index) => ({ queue, parts: [index] }));
  const envelopes = new Map<string, number[]>();
  queues.forEach((queue, index) => {
    const covered = envelopes.get(queue);
    if (covered) covered.push(index);
    else envelopes.set(queue, [index]);
  });
  return [...envelopes].map(([queue, covered]) =>
    covered.length === queues.length ? { queue } : { queue, parts: covered },
  );
}
