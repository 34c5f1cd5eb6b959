/** The checks of a request's recipients, in sandbox and live accounts alike: allowed destinations and opt-outs. */
import type { ErrorCollector } from "../../core/body/field-errors.ts";
import { readSetting, type StoredSettings } from "../../core/records/settings.ts";
import { senderKey } from "../../core/suppressions/opt-out.ts";
import { refuseNumbers } from "./refuse-numbers.ts";
import type { CheckedSms, SmsCheck } from "./sms-checks.ts";

const DESTINATIONS: SmsCheck = {
  name: "allowed_destinations",
  appliesTo: ({ caller }) => caller.settings.allowed_destinations !== undefined,
  judge(sms, errors) {
    const prefixes = allowedPrefixes(sms.caller.settings);
    if (prefixes.length === 0) return;
    const isAllowed = (number: string) => prefixes.some((prefix) => number.startsWith(prefix));
    refuseNumbers(sms, errors, {
      isRefused: (number) => !isAllowed(number),
      reason: `the account may only send to numbers that begin with ${prefixes.join(", ")} (allowed_destinations)`,
      summary: (bad, total) => `${bad} of ${total} numbers are not among those the account may send to`,
    });
  },
};

const OPT_OUTS: SmsCheck = {
  name: "opt_outs",
  judge(sms, errors) {
    const { caller, request, resolved, directory } = sms;
    const from = resolved?.from ?? request.from;
    const sender = from === undefined ? undefined : senderKey(from);
    const { id: accountId } = caller.account;
    const { to } = request;
    const found = directory.optedOut(sender ? { accountId, to, sender } : { accountId, to });
    const whose = sender === undefined ? NO_SENDER : "this sender";
    if (found instanceof Promise) return reportWhenFound(found, { sms, whose }, errors);
    if (found.length > 0) reportOptedOut(found, { sms, whose }, errors);
  },
};

const NO_SENDER = "the account, or from one of its senders, and no sender is named";

type Numbers = readonly string[];

interface Asked {
  readonly sms: CheckedSms;
  /** From whom the recipients want no more. */
  readonly whose: string;
}

async function reportWhenFound(
  finding: Promise<Numbers>,
  asked: Asked,
  errors: ErrorCollector,
): Promise<void> {
  const found = await finding;
  if (found.length > 0) reportOptedOut(found, asked, errors);
}

function reportOptedOut(optedOut: Numbers, { sms, whose }: Asked, errors: ErrorCollector): void {
  const out = new Set(optedOut);
  refuseNumbers(sms, errors, {
    isRefused: (number) => out.has(number),
    reason: `has opted out of messages from ${whose}`,
    summary: (bad, total) => `${bad} of ${total} recipients have opted out of messages from ${whose}`,
  });
}

/** For sandbox and live accounts. */
export const GUARD_CHECKS: readonly SmsCheck[] = [DESTINATIONS, OPT_OUTS];

function allowedPrefixes(settings: StoredSettings): readonly string[] {
  const listed = readSetting(settings, "allowed_destinations") ?? "";
  return listed.split(",").flatMap((prefix) => {
    const digits = prefix.trim().replace(/^\+/, "");
    return digits === "" ? [] : [`+${digits}`];
  });
}
