/** Turns a returned mail into the receipt of the recipient whose return path it came to. Pure. */
import { type BounceKind, bounceKind } from "../../../core/email/bounce-kind.ts";
import type { PartRef, Receipt } from "../../../core/messages/outcome.ts";
import { present } from "../../../core/present.ts";
import { toOneLine } from "../smtp/smtp-replies.ts";
import type { DsnAction, DsnRecipient } from "./dsn.ts";
import type { ReturnMail } from "./return-mail.ts";

/** Shown on the timeline in place of a connector. */
const RETURN_PATH = "return-path";

const MAX_RAW = 255;

/** `undefined` if the mail changes nothing, like a delay or an auto-reply. Whom it is about is told by the return path alone. */
export function toBounceReceipt(mail: ReturnMail, target: PartRef, receivedAt: number): Receipt | undefined {
  const shared = { connectorId: RETURN_PATH, providerMessageId: "", target, receivedAt };
  if (mail.kind === "feedback") {
    const { kind, word } = mail.feedback;
    if (kind === "none") return undefined;
    return { ...shared, status: "complained", suppress: kind, raw: `feedback ${word}` };
  }
  if (mail.kind !== "dsn") return undefined;
  const worst = worstOf(mail.recipients);
  return worst && { ...shared, ...verdictOf(worst, mail.recipients), raw: rawOf(worst) };
}

/** Anybody who writes to an unsubscribe address wants no more mail, whatever the subject: only mail to them contains it. */
export function toUnsubscribeReceipt(target: PartRef, receivedAt: number): Receipt {
  const shared = { connectorId: RETURN_PATH, providerMessageId: "", target, receivedAt };
  return { ...shared, status: "complained", suppress: "unsubscribe", raw: "mail to the unsubscribe address" };
}

/** A return path has one recipient. If the report names several, an alias was expanded there, and the worst outcome counts. */
function worstOf(recipients: readonly DsnRecipient[]): DsnRecipient | undefined {
  for (const action of WORST_FIRST) {
    const found = recipients.find((each) => each.action === action);
    if (found) return found;
  }
  return undefined;
}

/** Without `delayed`, which is no outcome. */
const WORST_FIRST: readonly DsnAction[] = ["failed", "delivered", "relayed", "expanded"];

/**
 * `delivered`, `relayed` and `expanded` are all the success there will be: `relayed` says that the next server sends no
 * notifications (RFC 3464 §2.3.3). A bounce may still follow any of them.
 */
function verdictOf(
  worst: DsnRecipient,
  recipients: readonly DsnRecipient[],
): Pick<Receipt, "status" | "recipient" | "error" | "suppress"> {
  if (worst.action !== "failed") return { status: "delivered" };
  const { code = "bounced", text = "", recipient } = worst;
  const kind = mildestOf(recipients);
  return {
    status: "bounced",
    ...(recipient !== undefined && ADDRESS.test(recipient) && { recipient }),
    error: { code, message: toOneLine(text) || "the message came back" },
    ...(kind !== "message" && { suppress: `${kind}_bounce` }),
  };
}

/** No more than an address: some servers add words, or leave its domain out. */
const ADDRESS = /^[^\s@]{1,64}@[^\s@()]{1,255}$/;

/** The mildest of several bounces, for an alias: it takes mail as long as one address behind it does. */
function mildestOf(recipients: readonly DsnRecipient[]): BounceKind {
  const kinds = new Set(recipients.map(kindOf));
  return kinds.has("message") ? "message" : kinds.has("soft") ? "soft" : "hard";
}

/** That an alias leads to an address that is gone does not tell whether it leads to others: it counts as what may be mended. */
function kindOf({ action, isForwarded, code = "bounced", text = "", ...refusal }: DsnRecipient): BounceKind {
  if (action !== "failed") return "message";
  const { stage, server, recipient } = refusal;
  const kind = bounceKind({ code, text, ...present({ stage, server, recipient }) });
  return isForwarded && kind === "hard" ? "soft" : kind;
}

function rawOf({ action, code, text = "" }: DsnRecipient): string {
  return toOneLine([action, code, text].filter(Boolean).join(" ")).slice(0, MAX_RAW);
}
