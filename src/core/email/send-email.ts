import Type, { type Static } from "typebox";
import { createErrors, type ErrorCollector } from "../body/field-errors.ts";
import { type Parsed, parseBody, type Valid, validFields } from "../body/parse-body.ts";
import { isStorable, NOT_STORABLE } from "../body/text-rules.ts";
import {
  type DeliveryOptions,
  deliveryOptionFields,
  parseDeliveryOptions,
} from "../messages/delivery-options.ts";
import { present } from "../present.ts";
import { type EmailAddress, parseEmailAddress } from "./email-address.ts";
import { judgeHeaders, lineProblem, UNSUBSCRIBE_HEADERS } from "./email-headers.ts";

/** A valid request to send an email. Whether the sender's domain is verified is judged later. */
export interface SendEmail extends DeliveryOptions {
  readonly from: Mailbox;
  /** 1 to 50; at most 50 together with `cc` and `bcc`. */
  readonly to: readonly Mailbox[];
  readonly cc?: readonly Mailbox[];
  readonly bcc?: readonly Mailbox[];
  readonly subject: string;
  /** At least one of the two bodies is there, and not empty. */
  readonly bodyHtml?: string;
  readonly bodyText?: string;
  readonly replyTo?: EmailAddress;
  readonly headers?: Readonly<Record<string, string>>;
  /** Every recipient gets an unsubscribe link of their own. */
  readonly unsubscribe?: true;
}

export interface Mailbox {
  readonly email: EmailAddress;
  readonly name?: string;
}

export const INVALID_EMAIL_ADDRESS = "invalid email address: expected a form like asha@example.com";

const mailbox = (description: string) =>
  Type.Object(
    {
      email: Type.String({ minLength: 1, format: "idn-email", examples: ["asha@example.com"] }),
      name: Type.Optional(
        Type.String({ maxLength: 256, description: "Display name.", examples: ["Asha Rao"] }),
      ),
    },
    { description },
  );

const copies = (description: string) =>
  Type.Optional(Type.Array(mailbox("A recipient."), { maxItems: 20, description }));

export const SendEmailBody = Type.Object(
  {
    from: mailbox("The sender; the address must belong to a verified domain."),
    to: Type.Array(mailbox("A recipient."), {
      minItems: 1,
      maxItems: 50,
      description: "1 to 50 recipients; `to`, `cc` and `bcc` together at most 50.",
    }),
    cc: copies("At most 20."),
    bcc: copies("At most 20; never shown to other recipients."),
    subject: Type.String({
      minLength: 1,
      maxLength: 998,
      description: "The subject line. If it is only spaces, the mail has none.",
      examples: ["Your order has shipped"],
    }),
    body_html: Type.Optional(
      Type.String({ description: "HTML content. Either `body_html` or `body_text` is required." }),
    ),
    body_text: Type.Optional(
      Type.String({ description: "Plain text content.", examples: ["It will be with you on Friday."] }),
    ),
    reply_to: Type.Optional(Type.String({ format: "idn-email", examples: ["help@example.com"] })),
    headers: Type.Optional(
      Type.Unsafe<Record<string, string>>(
        Type.Object(
          {},
          {
            additionalProperties: Type.String({ maxLength: 998 }),
            maxProperties: 50,
            description:
              "Custom headers. Refused are names that the service sets itself (`From`, `Date`, …), and values that name recipients to a provider (`X-SMTPAPI` with `to`).",
            examples: [{ "X-Order": "A-1001" }],
          },
        ),
      ),
    ),
    unsubscribe: Type.Optional(
      Type.Boolean({
        description:
          "Offers each recipient a way to unsubscribe with one click (RFC 8058): a link of their own in `List-Unsubscribe`, which puts the address on the account's suppression list.",
      }),
    ),
    attachments: Type.Optional(
      Type.Array(Type.Unknown(), {
        description:
          "Emails have no attachments: a list that is not empty is refused, so that none is sent without them.",
      }),
    ),
    dry_run: Type.Optional(
      Type.Boolean({
        description: "Only SMS has a dry run: `true` is refused here, so that nothing is sent.",
      }),
    ),
    ...deliveryOptionFields,
  },
  {
    title: "SendEmail",
    examples: [
      {
        from: { email: "shop@example.com", name: "Example Shop" },
        to: [{ email: "asha@example.com", name: "Asha Rao" }],
        subject: "Your order has shipped",
        body_text: "It will be with you on Friday.",
      },
    ],
  },
);

/**
 * Parses a body as far as that needs no database, or returns all its problems. The rules are the same in sandbox and live accounts.
 * `now`: Unix milliseconds.
 */
export function parseSendEmail(body: unknown, now: number): Parsed<SendEmail> {
  return parseBody(SendEmailBody, body, (valid, errors) => toRequest(valid, { errors, now }));
}

/** The valid fields of a body that `parseSendEmail` refuses, and all its problems. An invalid address becomes "". */
export function readSendEmail(
  body: Readonly<Record<string, unknown>>,
  now: number,
): { readonly request: SendEmail; readonly errors: ErrorCollector } {
  const errors = createErrors();
  return { request: toRequest(validFields(SendEmailBody, body, errors), { errors, now }), errors };
}

function toRequest(valid: ValidEmail, judging: { errors: ErrorCollector; now: number }): SendEmail {
  const { errors } = judging;
  judgeTotal(valid, errors);
  if (valid.subject !== undefined) judgeSubject(valid.subject, errors);
  // If it were ignored, a message would be sent that its caller only wanted to try.
  if (valid.dry_run) errors.add("dry_run", NO_DRY_RUN);
  // Nor was an invoice meant to be sent without the file.
  if (valid.attachments?.length) errors.add("attachments", NO_ATTACHMENTS);
  if (valid.headers) judgeHeaders(valid.headers, errors, valid.unsubscribe ? UNSUBSCRIBE_HEADERS : []);
  return {
    ...parseDeliveryOptions(valid, judging),
    ...parseBodies(valid, errors),
    ...present({
      cc: valid.cc && parseMailboxes("cc", valid.cc, errors),
      bcc: valid.bcc && parseMailboxes("bcc", valid.bcc, errors),
      replyTo: parseReplyTo(valid.reply_to, errors),
      headers: valid.headers as SendEmail["headers"],
      unsubscribe: valid.unsubscribe || undefined,
    }),
    from: parseSender(valid.from ?? {}, errors),
    to: parseMailboxes("to", valid.to ?? [], errors),
    subject: valid.subject ?? "",
  };
}

type ValidEmail = Valid<Static<typeof SendEmailBody>>;
type ValidMailbox = { readonly email?: string | undefined; readonly name?: string | undefined };

const MAX_RECIPIENTS = 50;
const ONE_OF_TWO = "either body_html or body_text is required";
const NO_ATTACHMENTS = "are not supported: link to the files instead";
const NO_DRY_RUN = "is available for SMS only: nothing was sent";

function judgeTotal({ to = [], cc = [], bcc = [] }: ValidEmail, errors: ErrorCollector): void {
  const total = to.length + cc.length + bcc.length;
  if (total <= MAX_RECIPIENTS) return;
  errors.add("to", `to, cc and bcc must have at most ${MAX_RECIPIENTS} recipients in total, not ${total}`);
}

function judgeSubject(subject: string, errors: ErrorCollector): void {
  const problem = lineProblem(subject);
  if (problem) errors.add("subject", problem);
}

/** An empty body counts as absent. */
function parseBodies(valid: ValidEmail, errors: ErrorCollector): Pick<SendEmail, "bodyHtml" | "bodyText"> {
  const bodyHtml = valid.body_html || undefined;
  const bodyText = valid.body_text || undefined;
  const isOneRefused = errors.has("body_html") || errors.has("body_text");
  if (bodyHtml === undefined && bodyText === undefined && !isOneRefused) {
    errors.add("body_html", ONE_OF_TWO);
    errors.add("body_text", ONE_OF_TWO);
  }
  if (bodyHtml !== undefined && !isStorable(bodyHtml)) errors.add("body_html", NOT_STORABLE);
  if (bodyText !== undefined && !isStorable(bodyText)) errors.add("body_text", NOT_STORABLE);
  return present({ bodyHtml, bodyText });
}

function parseReplyTo(text: string | undefined, errors: ErrorCollector): EmailAddress | undefined {
  if (text === undefined) return undefined;
  const address = parseEmailAddress(text);
  if (address === undefined) errors.add("reply_to", INVALID_EMAIL_ADDRESS);
  return address;
}

function parseSender(sender: ValidMailbox, errors: ErrorCollector): Mailbox {
  return parseMailbox(sender, (name, reason) => errors.add(`from.${name}`, reason));
}

function parseMailboxes(
  field: "to" | "cc" | "bcc",
  entries: readonly (ValidMailbox | undefined)[],
  errors: ErrorCollector,
): readonly Mailbox[] {
  const total = entries.length;
  return entries.map((entry = {}, index) =>
    parseMailbox(entry, (name, reason) =>
      errors.addEntry(field, { index, total, at: `${field}.${index}.${name}`, reason }),
    ),
  );
}

/** A field that the schema refused is absent here, and was reported already. */
function parseMailbox(
  { email, name }: ValidMailbox,
  report: (name: "email" | "name", reason: string) => void,
): Mailbox {
  const address = email === undefined ? undefined : parseEmailAddress(email);
  if (email !== undefined && address === undefined) report("email", INVALID_EMAIL_ADDRESS);
  const nameProblem = name ? lineProblem(name) : undefined;
  if (nameProblem) report("name", nameProblem);
  return { email: address ?? NO_ADDRESS, ...present({ name: name || undefined }) };
}

/** Stands for an address that was refused. The value that it is part of is dropped. */
const NO_ADDRESS = "" as EmailAddress;
