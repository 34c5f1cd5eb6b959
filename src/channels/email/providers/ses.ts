/** Amazon SES: reads its notifications and its events (JSON in the JSON of an SNS message). Pure. */
import {
  bounced,
  COMPLAINED,
  codeIn,
  DELIVERED,
  dropped,
  type Json,
  listOf,
  type MailEvent,
  objectOf,
  textOf,
  type Verdict,
} from "./mail-event.ts";

/** Notifications say `notificationType`, published events `eventType` (SES Developer Guide, notification contents). */
export function sesEvents(body: unknown): readonly MailEvent[] {
  const event = objectOf(body);
  const type = textOf(event.eventType) ?? textOf(event.notificationType) ?? "";
  const mail = objectOf(event.mail);
  const shared = { providerMessageId: textOf(mail.messageId) ?? "", ownId: messageIdOf(mail), word: type };
  return outcomesOf(type, event).flatMap(([recipient, verdict]) =>
    recipient === undefined || !verdict ? [] : [{ ...shared, recipient, verdict }],
  );
}

/** SES replaces the Message-ID. The original is among the headers, if SES is set up to include them. */
function messageIdOf(mail: Json): string | undefined {
  const header = listOf(mail.headers)
    .map(objectOf)
    .find(({ name }) => textOf(name)?.toLowerCase() === "message-id");
  return textOf(header?.value) ?? textOf(objectOf(mail.commonHeaders).messageId);
}

type Outcome = readonly [string | undefined, Verdict | undefined];

function outcomesOf(type: string, event: Json): readonly Outcome[] {
  const address = (each: unknown) => textOf(objectOf(each).emailAddress);
  switch (type) {
    case "Delivery":
      return listOf(objectOf(event.delivery).recipients).map((each) => [textOf(each), DELIVERED]);
    case "Bounce": {
      const bounce = objectOf(event.bounce);
      return listOf(bounce.bouncedRecipients).map((each) => [
        address(each),
        bounceOf(bounce, objectOf(each)),
      ]);
    }
    case "Complaint": {
      const complaint = objectOf(event.complaint);
      const verdict = complaintOf(complaint);
      return listOf(complaint.complainedRecipients).map((each) => [address(each), verdict]);
    }
    case "Reject": {
      const verdict = dropped(textOf(objectOf(event.reject).reason) ?? "");
      return listOf(objectOf(event.mail).destination).map((each) => [textOf(each), verdict]);
    }
    default:
      return [];
  }
}

/** The mail to somebody who complained before is taken and not sent. Nothing else is heard of it. */
function complaintOf({ complaintFeedbackType: type, complaintSubType: subType }: Json): Verdict | undefined {
  if (subType === "OnAccountSuppressionList")
    return dropped("on the provider's suppression list", "complaint");
  return type === "not-spam" ? undefined : COMPLAINED;
}

/** SES also reports out-of-office answers as transient bounces: only one with the action `failed` counts. */
function bounceOf({ bounceType }: Json, recipient: Json): Verdict | undefined {
  if (bounceType === "Transient" && recipient.action !== "failed") return undefined;
  const text = (textOf(recipient.diagnosticCode) ?? "").replace(/^\s*smtp;\s*/i, "");
  const code = codeIn(textOf(recipient.status), text);
  const kind = bounceType === "Permanent" ? "hard" : bounceType === "Transient" ? "soft" : "message";
  return bounced({ ...(code !== undefined && { code }), text }, kind);
}
