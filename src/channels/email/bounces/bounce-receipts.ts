/** What a returned mail says of the recipient whose return path it came to. Pure. */
import { bounceKind } from "../../../core/email/bounce-kind.ts";
import type { PartRef, Receipt } from "../../../core/messages/outcome.ts";
import { toOneLine } from "../smtp/smtp-replies.ts";
import type { DsnAction, DsnRecipient } from "./dsn.ts";
import type { ReturnMail } from "./return-mail.ts";

/** Stands on the timeline where a connector would. */
const RETURN_PATH = "return-path";

const MAX_RAW = 255;

/** `undefined` where the mail moves nothing: a delay, an answer. The return path says who it is about, not the report. */
export function toBounceReceipt(mail: ReturnMail, target: PartRef, receivedAt: number): Receipt | undefined {
  const shared = { connectorId: RETURN_PATH, providerMessageId: "", target, receivedAt };
  if (mail.kind === "feedback") {
    const { kind, word } = mail.feedback;
    if (kind === "none") return undefined;
    return { ...shared, status: "complained", suppress: kind, raw: `feedback ${word}` };
  }
  if (mail.kind !== "dsn") return undefined;
  const gravest = graveOf(mail.recipients);
  return gravest && { ...shared, ...verdictOf(gravest), raw: rawOf(gravest) };
}

/**
 * A return path has one recipient. Where its report tells of several, an alias was expanded on the far side, and the
 * worst counts.
 */
function graveOf(recipients: readonly DsnRecipient[]): DsnRecipient | undefined {
  return GRAVITY.flatMap((action) => recipients.find((each) => each.action === action) ?? [])[0];
}

/** `delayed` is no outcome. */
const GRAVITY: readonly DsnAction[] = ["failed", "delivered", "relayed", "expanded"];

/**
 * All three successes are the last good word there will be: `relayed` says that the next server gives no
 * notifications (RFC 3464 §2.3.3), and a bounce may still follow any of them.
 */
function verdictOf(report: DsnRecipient): Pick<Receipt, "status" | "error" | "suppress"> {
  if (report.action !== "failed") return { status: "delivered" };
  const { code = "bounced", text = "", stage, server } = report;
  const error = { code, message: toOneLine(text) || "the message came back" };
  const kind = bounceKind({ code, text, ...(stage && { stage }), ...(server !== undefined && { server }) });
  return { status: "bounced", error, ...(kind !== "message" && { suppress: `${kind}_bounce` }) };
}

function rawOf({ action, code, text = "" }: DsnRecipient): string {
  return toOneLine([action, code, text].filter(Boolean).join(" ")).slice(0, MAX_RAW);
}
