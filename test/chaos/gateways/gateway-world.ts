/** The parts of a chaos run with HTTP gateways: the processes, the gateways, perhaps an SMSC, two accounts, and their receivers. */
import { admin } from "../../admin.ts";
import { startFakeDns } from "../../fakes/fake-dns.ts";
import { BEHAVIOURS } from "../../fakes/fake-webhook-receiver.ts";
import type { PostriderProcess } from "../../postrider-process.ts";
import { allowHooks } from "../../webhook-rig.ts";
import { type Fleet, type Store, startFleet } from "../fleet.ts";
import type { ChaosSmsc } from "../smsc.ts";
import {
  closeWorld,
  connectChaosSmsc,
  newModel,
  openAccounts,
  RESPONSE_TIMEOUT_MS,
  type SmsWorld,
  startSmscs,
  untilMidnight,
  WINDOW_SECONDS,
} from "../world.ts";
import { type ChaosGateway, startChaosGateway } from "./gateway.ts";
import { ROWS } from "./gateway-answers.ts";
import type { Naming } from "./gateway-fates.ts";
import { type GatewayPlan, gatewayPlanOf } from "./gateway-plan.ts";
import { STATUSES } from "./reports.ts";

export interface GatewayWorld extends SmsWorld {
  readonly plan: GatewayPlan;
  readonly gateways: readonly ChaosGateway[];
  readonly smscs: readonly ChaosSmsc[];
}

/** Reports find a process of the service by themselves, as through a proxy. */
const PUBLIC_URL = "https://sms.chaos.example";

export async function openGatewayWorld(
  store: Store,
  { seed, steps }: { readonly seed: string; readonly steps: number },
): Promise<GatewayWorld> {
  const plan = gatewayPlanOf(seed, steps);
  const fleet = await startFleet(store, untilMidnight() - plan.beforeMidnightMs);
  const dns = await startFakeDns();
  dns.a.set("*", ["127.0.0.1"]);
  const service = fleet.some(() => 0)!;
  await allowHooks(service, dns.address);
  await admin(service, "/settings/public_url", { value: PUBLIC_URL }, "PUT");
  const gateways = await startGateways(plan, { seed, fleet });
  const smscs = plan.smsc ? await startSmscs({ seed, fleet, count: 1 }) : [];
  const connectors = await connectAll(service, plan, { gateways, smscs });
  const opening = { connectors, windowSeconds: WINDOW_SECONDS, seed, now: fleet.now };
  const receivers = await openAccounts(service, opening);
  await setRoutes(service, plan);
  const accounts = [...receivers.keys()];
  return {
    ...{ seed, plan, fleet, gateways, smscs, accounts, receivers },
    model: newModel(accounts),
    handOvers: () => [
      ...gateways.flatMap(({ requests }) => requests),
      ...smscs.flatMap(({ submits }) => submits),
    ],
    beKind() {
      for (const provider of [...gateways, ...smscs]) provider.beKind();
      for (const receiver of receivers.values()) receiver.behave(BEHAVIOURS.ok);
    },
    close: () => closeWorld({ fleet, peers: [...gateways, ...smscs, ...receivers.values()], dns }),
  };
}

const SECRET = "shared with the gateways";

function startGateways(
  { namings }: GatewayPlan,
  { seed, fleet }: { readonly seed: string; readonly fleet: Fleet },
): Promise<readonly ChaosGateway[]> {
  let calls = 0;
  const service = () => fleet.some((count) => calls++ % count)?.url;
  return Promise.all(
    namings.map((naming, place) =>
      startChaosGateway({
        ...{ name: place === 0 ? "first" : "second", seed, naming },
        ...{ secret: SECRET, now: fleet.now, service },
      }),
    ),
  );
}

type Providers = Pick<GatewayWorld, "gateways" | "smscs">;

/** Resolves with their ids, in the order of the route. */
async function connectAll(
  service: PostriderProcess,
  plan: GatewayPlan,
  { gateways, smscs }: Providers,
): Promise<readonly string[]> {
  const ids: string[] = [];
  for (const gateway of gateways) {
    const config = configOf(gateway, plan);
    const { connector_id } = await admin<{ connector_id: string }>(service, "/connectors", {
      ...{ kind: "http", name: gateway.name, config },
    });
    ids.push(connector_id);
  }
  for (const smsc of smscs) {
    const id = await connectChaosSmsc(service, smsc);
    if (plan.smsc === "first") ids.unshift(id);
    else ids.push(id);
  }
  return ids;
}

/** A connector that does not wait long, and the whole description of its gateway. */
function configOf({ url, naming }: ChaosGateway, { maxInFlight }: GatewayPlan) {
  return {
    provider: "custom",
    max_in_flight: maxInFlight,
    connect_timeout_ms: 500,
    response_timeout_ms: RESPONSE_TIMEOUT_MS,
    auth_token: SECRET,
    signature_secret: SECRET,
    gateway: {
      send: {
        url: `${url}/send`,
        auth: { kind: "bearer", value: "{{secret.auth_token}}" },
        ...(naming === "ours"
          ? { method: "GET", query: { ...FIELDS, dlr: "{{callback_url}}?id={{message_id}}" } }
          : { json: FIELDS }),
      },
      answer: { rows: ROWS, error_code: { json: "/error" }, ...ANSWERED_WITH[naming] },
      callback: {
        ...(naming !== "ours" && {
          reports: "/events",
          verify: { scheme: "hmac", header: "X-Signature", secret: "signature_secret" },
        }),
        ...{ id: { json: "/id" }, to: [{ json: "/to" }], status: [{ json: "/state" }], statuses: STATUSES },
      },
    },
  };
}

const FIELDS = {
  ref: "{{message_id}}",
  to: "{{to}}",
  text: "{{text}}",
  segments: "{{segments}}",
  dlr: "{{callback_url}}",
};

const ANSWERED_WITH: Readonly<Record<Naming, object>> = {
  ours: { own_id: true },
  one: { id: { json: "/id" } },
  each: { id: { json: "/messages/*/id" } },
};

interface ShownRoute {
  readonly route_id: string;
  readonly connectors: readonly { readonly connector_id: string }[];
}

async function setRoutes(service: PostriderProcess, { failover, isShared }: GatewayPlan): Promise<void> {
  const { data } = await admin<{ data: readonly ShownRoute[] }>(service, "/routes");
  for (const { route_id, connectors } of data) {
    const weighted = connectors.map(({ connector_id }) => ({ connector_id, weight: 1 }));
    const change = { failover, ...(isShared && { connectors: weighted }) };
    await admin(service, `/routes/${route_id}`, change, "PATCH");
  }
}
