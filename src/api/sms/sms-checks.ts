/**
 * The checks that a request has to pass before it is accepted: Send SMS reports all problems at once, its `dry_run` the
 * verdict of each check. To add a check, add it to `SANDBOX_CHECKS` or `LIVE_CHECKS`.
 */
import type { ErrorCollector } from "../../core/body/field-errors.ts";
import type { SmsContent } from "../../core/messages/message.ts";
import type { Route, Sender, SmsTemplate } from "../../core/records/accounts.ts";
import type { KeyOwner } from "../../core/records/api-key.ts";
import { chooseRoute, SANDBOX_QUEUES } from "../../core/records/routes.ts";
import { readSetting } from "../../core/records/settings.ts";
import { isIndian } from "../../core/sms/phone-number.ts";
import type { SendSms } from "../../core/sms/send-sms.ts";
import { isTooLong, MAX_SEGMENTS } from "../../core/sms/sms-segments.ts";
import { renderSms, type SmsToRender } from "../../core/sms/sms-text.ts";
import { renderTemplate } from "../../core/sms/template.ts";
import type { Directory } from "../records/directory.ts";
import type { MaybePromise } from "../when-ready.ts";
import { type FoundTemplates, findTemplates, templateFieldOf } from "./find-templates.ts";
import { GUARD_CHECKS } from "./guard-checks.ts";
import { refuseNumbers } from "./refuse-numbers.ts";
import { REGISTRATION_CHECKS, TEMPLATE_CHECK } from "./registration-checks.ts";

/** A request while it is checked: the records that the checks use, and what they have resolved so far. */
export interface CheckedSms {
  readonly caller: KeyOwner;
  readonly request: SendSms;
  readonly directory: Directory;
  readonly templates: FoundTemplates;
  /** The template whose text is sent. */
  readonly template: SmsTemplate | undefined;
  /** The account's senders; empty in a sandbox, which needs none. */
  readonly senders: readonly Sender[];
  readonly routes: readonly Route[];
  /** Unix milliseconds. */
  readonly now: number;
  /** The sender and DLT ids that are sent, as far as they differ from the request's. */
  resolved?: SmsContent["resolved"];
  /** One for each number of the request's `to`, in its order; "" if no route leads to the number. */
  queues: readonly string[];
}

/** Gathers the records that the checks need. Returns a promise for a live account, or if a template is not cached. */
export function gatherSms(directory: Directory, asked: SmsRequest): MaybePromise<CheckedSms> {
  const templates = findTemplates(directory, asked.caller.account.id, asked.request);
  return templates instanceof Promise
    ? whenFound(directory, asked, templates)
    : gatherOthers(directory, asked, templates);
}

export interface SmsRequest {
  readonly caller: KeyOwner;
  readonly request: SendSms;
  readonly now: number;
}

async function whenFound(
  directory: Directory,
  asked: SmsRequest,
  templates: Promise<FoundTemplates>,
): Promise<CheckedSms> {
  return gatherOthers(directory, asked, await templates);
}

function gatherOthers(
  directory: Directory,
  { caller, request, now }: SmsRequest,
  templates: FoundTemplates,
): MaybePromise<CheckedSms> {
  const template = templates.byId ?? templates.byDltId;
  const sms = {
    caller,
    request,
    now,
    directory,
    templates,
    template,
    senders: NONE,
    routes: NONE,
    queues: NONE,
  };
  return caller.account.mode === "sandbox" ? sms : withRegistered(sms);
}

const NONE: readonly never[] = [];

async function withRegistered(sms: CheckedSms): Promise<CheckedSms> {
  const { directory, caller } = sms;
  const senders = await directory.senders(caller.account.id);
  return { ...sms, senders, routes: await directory.routes() };
}

/** Runs the checks that apply, in order. Returns a promise only if one of them does. */
export function runChecks(sms: CheckedSms, errors: Errors): MaybePromise<void> {
  return judgeFrom(0, sms, errors);
}

/** One collector for all checks, or a function that gives each its own. */
type Errors = ErrorCollector | ((check: SmsCheck) => ErrorCollector);

function judgeFrom(first: number, sms: CheckedSms, errors: Errors): MaybePromise<void> {
  const checks = checksOf(sms.caller);
  for (let next = first; next < checks.length; next++) {
    const check = checks[next];
    if (!check || check.appliesTo?.(sms) === false) continue;
    const judged = check.judge(sms, typeof errors === "function" ? errors(check) : errors);
    if (judged instanceof Promise) return judgeAfter(judged, next + 1, { sms, errors });
  }
}

interface Judging {
  readonly sms: CheckedSms;
  readonly errors: Errors;
}

async function judgeAfter(judged: Promise<void>, next: number, { sms, errors }: Judging): Promise<void> {
  await judged;
  return judgeFrom(next, sms, errors);
}

export interface SmsCheck {
  /** Shown by `dry_run`. */
  readonly name: string;
  /** Absent: it applies to every request. */
  appliesTo?(sms: CheckedSms): boolean;
  /** Adds problems under the fields of the request, and may set `resolved` or `queues`. */
  judge(sms: CheckedSms, errors: ErrorCollector): MaybePromise<void>;
}

/** The checks for requests of this account, in order. */
export function checksOf({ account }: KeyOwner): readonly SmsCheck[] {
  return account.mode === "sandbox" ? SANDBOX_CHECKS : LIVE_CHECKS;
}

const VARIABLES: SmsCheck = {
  name: "variables",
  appliesTo: ({ template }) => template !== undefined,
  judge({ template, request, caller }, errors) {
    if (!template) return;
    const { variables = {}, to } = request;
    const rendered = renderTemplate(template.body, variables);
    if ("text" in rendered) {
      const { settings } = caller;
      const isTooLongSent = readSetting(settings, "sms_transliterate")
        ? isTooLongAsSent(template.body, { variables, settings, to })
        : isTooLong(rendered.text);
      if (isTooLongSent) errors.add(request.variables ? "variables" : templateFieldOf(request), TOO_LONG);
      return;
    }
    for (const name of rendered.missing) errors.add(`variables.${name}`, "required by the template");
  },
};

/** Whether that holds for any recipient: texts to Indian numbers are transliterated in another way, and `…` becomes longer by it. */
function isTooLongAsSent(body: string, { to, ...sms }: SmsToRender): boolean {
  const [indian, other] = [to.find(isIndian), to.find((each) => !isIndian(each))];
  return [indian, other].some((each) => {
    if (each === undefined) return false;
    const rendered = renderSms(body, { ...sms, to: [each] });
    return "text" in rendered && isTooLong(rendered.text);
  });
}

const TOO_LONG = `the text would need more than ${MAX_SEGMENTS} segments`;

const SANDBOX_ROUTE: SmsCheck = {
  name: "route",
  judge(sms) {
    sms.queues = sms.request.to.map(toSandbox);
  },
};

const toSandbox = () => SANDBOX_QUEUES.sms;

const ROUTE: SmsCheck = {
  name: "route",
  judge(sms, errors) {
    const { request, routes, template, caller, resolved } = sms;
    const asked = {
      accountId: caller.account.id,
      channel: "sms",
      sender: resolved?.from ?? request.from,
      category: template?.category,
    } as const;
    const queues = request.to.map((destination) => chooseRoute(routes, { ...asked, destination })?.id ?? "");
    sms.queues = queues;
    refuseNumbers(sms, errors, {
      isRefused: (_number, index) => queues[index] === "",
      reason: "no route of the account leads to this number",
      summary: (bad, total) => `no route of the account leads to ${bad} of ${total} numbers`,
    });
  },
};

const SANDBOX_CHECKS: readonly SmsCheck[] = [VARIABLES, ...GUARD_CHECKS, SANDBOX_ROUTE];

/** The order matters: a check may use what earlier ones have resolved. */
const LIVE_CHECKS: readonly SmsCheck[] = [
  VARIABLES,
  ...REGISTRATION_CHECKS,
  ...GUARD_CHECKS,
  ROUTE,
  TEMPLATE_CHECK,
];
