/** The dry run of Send SMS: what would become of a request. Nothing is stored and nothing is sent. */
import { setImmediate } from "node:timers/promises";
import { HEALTHY_SCORE } from "../../core/alarms/connector-health.ts";
import { createErrors, type ErrorCollector } from "../../core/body/field-errors.ts";
import type { Connector, Route } from "../../core/records/accounts.ts";
import { isIndian } from "../../core/sms/phone-number.ts";
import { earliestSendAt } from "../../core/sms/promotional-hours.ts";
import { renderSms } from "../../core/sms/sms-text.ts";
import { charactersOf, MAX_FORCING_NAMED } from "../../core/sms/transliterate.ts";
import { toIso } from "../../core/time/timestamp.ts";
import { isUuid } from "../../core/uuid.ts";
import type { Answer } from "../answer.ts";
import { toHealth } from "../health-resource.ts";
import type { MessageDeps } from "../messages/message-deps.ts";
import { judgeLimits, type LimitVerdict } from "./dry-run-limits.ts";
import {
  type CheckedSms,
  checksOf,
  gatherSms,
  runChecks,
  type SmsCheck,
  type SmsRequest,
} from "./sms-checks.ts";
import { windowEnd } from "./sms-window.ts";

/** Checks each recipient separately, so that each has verdicts of its own; a number that is given twice is checked once. */
export async function dryRunSms(deps: MessageDeps, { caller, request, now }: SmsRequest): Promise<Answer> {
  const shared = createShared(deps, { caller, request, now });
  const byRecipient = new Map<string, DryRunResource>();
  const messages: DryRunResource[] = [];
  for (const recipient of request.to) {
    const alone = { ...request, to: [recipient], isBatch: false };
    const known = byRecipient.get(recipient);
    const message = known ?? (await judgeOne(deps, { caller, request: alone, now }, shared));
    byRecipient.set(recipient, message);
    messages.push(message);
    if (messages.length % AT_ONCE === 0) await setImmediate();
  }
  const json = request.isBatch
    ? { dry_run: true, would_send: messages.every((each) => each.would_send), messages }
    : messages[0];
  return { status: 200, json: JSON.stringify(json) };
}

type DryRunResource = Awaited<ReturnType<typeof judgeOne>>;

/** How many recipients are checked before other requests get their turn. */
const AT_ONCE = 20;

/** What is worked out once for all recipients: the limits, against which they count together, and the text. */
interface Shared {
  readonly limits: (template: CheckedSms["template"]) => Promise<LimitVerdict | undefined>;
  /** One text for each connector, for Indian numbers and for others. */
  readonly text: (sms: CheckedSms, connector: Connector | undefined) => ShownText;
}

function createShared({ intake, directory }: MessageDeps, asked: SmsRequest): Shared {
  let limits: Promise<LimitVerdict | undefined> | undefined;
  const texts = new Map<string, ShownText>();
  return {
    limits(template) {
      limits ??= judgeLimits(intake, { ...asked, template });
      return limits;
    },
    text(sms, connector) {
      const key = `${connector?.id} ${sms.request.to.some(isIndian)}`;
      const text = texts.get(key) ?? textOf(directory, sms, connector);
      texts.set(key, text);
      return text;
    },
  };
}

async function judgeOne(deps: MessageDeps, asked: SmsRequest, shared: Shared) {
  const sms = await gatherSms(deps.directory, asked);
  const errors = new Map<SmsCheck, ErrorCollector>();
  await runChecks(sms, (check) => {
    const own = createErrors();
    errors.set(check, own);
    return own;
  });
  const { request, resolved, template } = sms;
  const route = routeOf(sms);
  const limit = limitVerdict(await shared.limits(template), request.to[0] ?? "");
  return {
    dry_run: true,
    would_send: limit.verdict !== "refused" && [...errors.values()].every((each) => each.isEmpty()),
    to: request.to[0],
    from: resolved?.from ?? request.from,
    template_id: request.templateId ?? template?.id,
    dlt_template_id: resolved?.dltTemplateId ?? request.dltTemplateId,
    dlt_entity_id: resolved?.dltEntityId ?? request.dltEntityId,
    category: template?.category,
    status: request.scheduleAt === undefined ? "queued" : "scheduled",
    deferred_until: deferredUntil(sms),
    expires_at: toIso(windowEnd(request, asked.caller, asked.now)),
    ...shared.text(sms, await likelyConnector(deps, route)),
    route: route && (await toRoute(deps, route)),
    checks: [...checksOf(sms.caller).map((check) => toVerdict(check, errors.get(check))), limit],
  };
}

function toVerdict({ name }: SmsCheck, errors: ErrorCollector | undefined) {
  if (!errors) return { check: name, verdict: "not_applicable" };
  if (errors.isEmpty()) return { check: name, verdict: "passed" };
  return { check: name, verdict: "refused", details: errors.list() };
}

function limitVerdict(judge: LimitVerdict | undefined, recipient: string) {
  const check = "limits";
  if (!judge) return { check, verdict: "not_applicable" };
  const details = judge(recipient);
  return details ? { check, verdict: "refused", details } : { check, verdict: "passed" };
}

function deferredUntil({ caller, request, template, now }: CheckedSms): string | undefined {
  const { account, settings } = caller;
  const category = template?.category;
  const content = { channel: "sms", ...(category && { category }) } as const;
  const dueAt = request.scheduleAt ?? now;
  const opensAt = earliestSendAt(
    { accountMode: account.mode, settings, content },
    request.to[0] ?? "",
    dueAt,
  );
  return opensAt === dueAt ? undefined : toIso(opensAt);
}

type ShownText = ReturnType<typeof textOf>;

/** Empty if the text is not known here: the template is the provider's, or a variable is missing. */
function textOf(
  directory: MessageDeps["directory"],
  { template, request, caller }: CheckedSms,
  connector: Connector | undefined,
) {
  if (!template) return {};
  const { variables = {} } = request;
  const rendered = renderSms(template.body, { variables, settings: caller.settings, to: request.to });
  if ("missing" in rendered) return {};
  const { text } = rendered;
  const { encoding, parts, units } = directory.segments(connector, text);
  const isWide = (character: string) => directory.segments(connector, character).encoding === "ucs2";
  return {
    encoding,
    ...(encoding === "ucs2" && { forces_ucs2: charactersOf(text, isWide, MAX_FORCING_NAMED) }),
    segments: parts.length,
    units,
    characters: [...text].length,
  };
}

type RouteTaken = Pick<Route, "id" | "connectorIds" | "failover" | "weights">;

/** A sandbox queue has no route; it stands for one to the simulator's connector, whose id is the queue's name. */
function routeOf({ queues, routes }: CheckedSms): RouteTaken | undefined {
  const [queue = ""] = queues;
  if (queue === "") return undefined;
  return routes.find(({ id }) => id === queue) ?? { id: queue, connectorIds: [queue] };
}

/** The connector that would be used now: the route's first healthy one, else its first. */
async function likelyConnector({ directory, connectorStatus }: MessageDeps, route: RouteTaken | undefined) {
  const isHealthy = (id: string) => (connectorStatus(id)?.health?.score ?? 1) >= HEALTHY_SCORE;
  const id = route?.connectorIds.find(isHealthy) ?? route?.connectorIds[0] ?? "";
  return isUuid(id) ? directory.connector(id) : undefined;
}

async function toRoute(deps: MessageDeps, route: RouteTaken) {
  return {
    route_id: route.id,
    failover: route.failover ?? "safe",
    connectors: await Promise.all(route.connectorIds.map((id) => connectorOf(deps, route, id))),
  };
}

async function connectorOf(
  { directory, connectorStatus }: MessageDeps,
  { weights }: Pick<Route, "weights">,
  id: string,
) {
  const connector = isUuid(id) ? await directory.connector(id) : undefined;
  const status = connectorStatus(id);
  return {
    connector_id: id,
    name: connector?.name,
    weight: weights?.[id],
    state: status?.state ?? "unknown",
    health: status?.health && toHealth(status.health),
  };
}
