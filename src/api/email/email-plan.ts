/** What becomes of a request to send an email: its parts, the queue that serves each recipient, and what is refused. */
import { createErrors, type ErrorCollector } from "../../core/body/field-errors.ts";
import { domainOf, type EmailAddress } from "../../core/email/email-address.ts";
import type { SendEmail } from "../../core/email/send-email.ts";
import type { NewJob } from "../../core/messages/accept-request.ts";
import type { Part, Recipient } from "../../core/messages/message.ts";
import type { Route } from "../../core/records/accounts.ts";
import type { KeyOwner } from "../../core/records/api-key.ts";
import { chooseRoute, type Destination, SANDBOX_QUEUES } from "../../core/records/routes.ts";
import { readSetting } from "../../core/records/settings.ts";
import { addressKey } from "../../core/suppressions/address-key.ts";
import { validationFailed } from "../errors.ts";
import type { Directory } from "../records/directory.ts";

export interface EmailPlan {
  /** One per mailbox, in the order to, cc, bcc: whoever is named twice gets one mail, and has one outcome. */
  readonly parts: readonly Part[];
  /** One per queue; one per recipient if each mail has its own unsubscribe link. */
  readonly jobs: readonly NewJob[];
}

/** Plans the parts and jobs of a request; refuses one that could not be sent, with every problem at once. */
export async function planEmail(
  directory: Directory,
  caller: KeyOwner,
  request: SendEmail,
): Promise<EmailPlan> {
  const addressed = addressedIn(request);
  const errors = createErrors();
  const queues = await judgeEmail(directory, caller, { request, addressed, errors });
  if (!errors.isEmpty()) throw validationFailed(errors.list());
  const mailboxes = firstMentions(addressed);
  // Suppressed recipients are planned too: they are left out just before sending.
  const parts = mailboxes.map(
    (at): Part => ({ status: "pending", address: addressed[at]?.recipient.email ?? "" }),
  );
  const ownQueues = mailboxes.map((at) => queues[at] ?? "");
  return { parts, jobs: jobsOf(ownQueues, request) };
}

/** Where each mailbox is first named, in whatever spelling. */
function firstMentions(addressed: readonly Addressed[]): readonly number[] {
  const first = new Map<string, number>();
  for (const [at, { recipient }] of addressed.entries()) {
    const key = addressKey(recipient.email);
    if (!first.has(key)) first.set(key, at);
  }
  return [...first.values()];
}

interface Judged {
  readonly request: SendEmail;
  readonly errors: ErrorCollector;
  /** The recipients of the request, if they are known already. */
  readonly addressed?: readonly Addressed[];
}

/**
 * Checks a request against the account's records, noting every problem, and returns the queue of each recipient, "" if
 * there is none. An empty address has been refused already: a recipient without one is skipped, and without that of the
 * sender routes match whatever sender they ask for.
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

/** A recipient, and its place in the request. */
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

/** The sender's domain must be verified for the account. */
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

function jobsOf(queues: readonly string[], { unsubscribe }: SendEmail): readonly NewJob[] {
  if (unsubscribe) return queues.map((queue, index) => ({ queue, parts: [index] }));
  const byQueue = Map.groupBy(queues.keys(), (index) => queues[index] ?? "");
  return [...byQueue].map(([queue, parts]) =>
    parts.length === queues.length ? { queue } : { queue, parts },
  );
}
