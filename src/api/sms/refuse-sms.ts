import type { ErrorCollector } from "../../core/field-errors.ts";
import { parsePhoneNumber } from "../../core/sms/phone-number.ts";
import { soundSendSms } from "../../core/sms/send-sms.ts";
import { callerOf } from "../caller.ts";
import type { Call } from "../endpoint.ts";
import { validationFailed } from "../errors.ts";
import type { Directory } from "../records/directory.ts";
import { openFlight, preflight, type SmsFlight } from "./sms-preflight.ts";

/** Refuses a body that is not sound, along with all that its sound part would be refused for. */
export async function refuseSms(directory: Directory, call: Call): Promise<never> {
  const caller = callerOf(call);
  const { now } = call;
  const json = call.body?.json ?? {};
  const { request, errors } = soundSendSms(json, { mode: caller.account.mode, now });
  const flight = await openFlight(directory, { caller, request, now });
  const sound = ofSoundPart(flight, { json, errors });
  await preflight(withoutUnknown(flight, errors), sound);
  throw validationFailed(errors.list());
}

/** What a field that was refused might have decided is left open: routes lead wherever they may. */
function withoutUnknown(flight: SmsFlight, errors: ErrorCollector): SmsFlight {
  if (!["from", "template_id", "dlt_template_id"].some((field) => errors.has(field))) return flight;
  const routes = flight.routes.map(({ sender: _sender, category: _category, ...route }) => route);
  return { ...flight, routes };
}

interface Refused {
  readonly json: Readonly<Record<string, unknown>>;
  readonly errors: ErrorCollector;
}

/** Names entries of `to` as the body does, and says nothing of variables where they, or their template, are unknown. */
function ofSoundPart({ request }: SmsFlight, { json, errors }: Refused): ErrorCollector {
  const to: readonly unknown[] = Array.isArray(json.to) ? json.to : [];
  const places = to.flatMap((entry, index) => (isNumber(entry) ? [index] : []));
  const areNone = Object.keys(request.variables ?? {}).length === 0;
  const isOpen = errors.has("template_id") || (errors.has("variables") && areNone);
  return {
    has: (field) => errors.has(field),
    isEmpty: () => errors.isEmpty(),
    list: () => errors.list(),
    summarise: (field, summary) => errors.summarise(field, summary),
    add(field, reason) {
      if (!isOpen || field.split(".")[0] !== "variables") errors.add(field, reason);
    },
    addEntry(field, entry) {
      const index = places[entry.index] ?? entry.index;
      errors.addEntry(field, { ...entry, index, total: to.length, at: `${field}.${index}` });
    },
  };
}

function isNumber(entry: unknown): boolean {
  return typeof entry === "string" && parsePhoneNumber(entry) !== undefined;
}
