import type { ErrorCollector } from "../../core/body/field-errors.ts";
import { parsePhoneNumber } from "../../core/sms/phone-number.ts";
import { readSendSms } from "../../core/sms/send-sms.ts";
import { callerOf } from "../caller.ts";
import type { Call } from "../endpoint.ts";
import { validationFailed } from "../errors.ts";
import type { Directory } from "../records/directory.ts";
import { type CheckedSms, gatherSms, runChecks } from "./sms-checks.ts";

/** Refuses a body that has bad fields; the refusal also names every problem that the checks find in the good ones. */
export async function refuseSms(directory: Directory, call: Call): Promise<never> {
  const caller = callerOf(call);
  const { now } = call;
  const json = call.body?.json ?? {};
  const { request, errors } = readSendSms(json, { mode: caller.account.mode, now });
  const sms = await gatherSms(directory, { caller, request, now });
  await runChecks(withoutUnknown(sms, errors), createBodyErrors(sms, { json, errors }));
  throw validationFailed(errors.list());
}

/** If a bad field leaves the sender or the category unknown, routes match without these conditions. */
function withoutUnknown(sms: CheckedSms, errors: ErrorCollector): CheckedSms {
  if (!["from", "template_id", "dlt_template_id"].some((field) => errors.has(field))) return sms;
  const routes = sms.routes.map(({ sender: _sender, category: _category, ...route }) => route);
  return { ...sms, routes };
}

interface Refused {
  readonly json: Readonly<Record<string, unknown>>;
  readonly errors: ErrorCollector;
}

/**
 * Passes the problems that the checks find on to `errors`. The checks see only the good entries of `to`, so indexes are
 * translated to those in the body. Missing variables are not reported if all variables, or their template, were refused.
 */
function createBodyErrors({ request }: CheckedSms, { json, errors }: Refused): ErrorCollector {
  const to: readonly unknown[] = Array.isArray(json.to) ? json.to : [];
  const goodIndexes = to.flatMap((entry, index) => (isNumber(entry) ? [index] : []));
  const hasNoVariables = Object.keys(request.variables ?? {}).length === 0;
  const areUnknown = errors.has("template_id") || (errors.has("variables") && hasNoVariables);
  return {
    has: (field) => errors.has(field),
    isEmpty: () => errors.isEmpty(),
    list: () => errors.list(),
    summarise: (field, summary) => errors.summarise(field, summary),
    add(field, reason) {
      if (!areUnknown || field.split(".")[0] !== "variables") errors.add(field, reason);
    },
    addEntry(field, entry) {
      const index = goodIndexes[entry.index] ?? entry.index;
      errors.addEntry(field, { ...entry, index, total: to.length, at: `${field}.${index}` });
    },
  };
}

function isNumber(entry: unknown): boolean {
  return typeof entry === "string" && parsePhoneNumber(entry) !== undefined;
}
