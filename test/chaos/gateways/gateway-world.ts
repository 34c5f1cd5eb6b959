/** The parts of a chaos run with HTTP gateways: the processes, the gateways, perhaps an SMSC, two accounts, and their receivers. */
import { admin } from "../../admin.ts";
import { startFakeDns } from "../../fakes/fake-dns.ts";
import { BEHAVIOURS } from "../../fakes/fake-webhook-receiver.ts";
import type { PostriderProcess } from "../../postrider-process.ts";
import { allowHooks } from "../../webhook-rig.ts";
import { type Fleet, type Store, startFleet } from "../fleet.ts";
import type { Account } from "../model.ts";
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
import { type GatewayPlan, gatewayPlanOf, type Writing } from "./gateway-plan.ts";
import { type Handsets, type Line, startHandsets } from "./handsets.ts";
import { STATUSES } from "./reports.ts";

export interface GatewayWorld extends SmsWorld {
  readonly plan: GatewayPlan;
  readonly gateways: readonly ChaosGateway[];
  readonly smscs: readonly ChaosSmsc[];
  /** The connector to each gateway. */
  readonly connectors: readonly string[];
  /** The number of each account, which handsets write to. */
  readonly numbers: ReadonlyMap<Account, string>;
  readonly handsets: Handsets;
  write(step: Writing): void;
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
  const connected = await connectAll(service, plan, { gateways, smscs, fleet });
  const connectors = connected.ids;
  const opening = { connectors, windowSeconds: WINDOW_SECONDS, seed, now: fleet.now };
  const receivers = await openAccounts(service, opening);
  await setRoutes(service, plan);
  const accounts = [...receivers.keys()];
  const numbers = await openNumbers(service, accounts);
  const handsets = startHandsets(seed, fleet.now);
  return {
    seed,
    plan,
    fleet,
    gateways,
    smscs,
    connectors: connected.gateways,
    accounts,
    receivers,
    numbers,
    handsets,
    write: ({ gateway, account, pieces }) =>
      handsets.write({
        to: numbers.get(accounts[account]!)!,
        pieces,
        over: connected.lines[gateway % connected.lines.length]!,
      }),
    model: newModel(accounts),
    handOvers: () => [
      ...gateways.flatMap(({ requests }) => requests),
      ...smscs.flatMap(({ submits }) => submits),
    ],
    beKind() {
      for (const provider of [...gateways, ...smscs]) provider.beKind();
      for (const receiver of receivers.values()) receiver.behave(BEHAVIOURS.ok);
    },
    close: () => closeWorld({ fleet, peers: [handsets, ...gateways, ...smscs, ...receivers.values()], dns }),
  };
}

const SECRET = "shared with the gateways";

function startGateways(
  { namings }: GatewayPlan,
  { seed, fleet }: { readonly seed: string; readonly fleet: Fleet },
): Promise<readonly ChaosGateway[]> {
  const service = inTurn(fleet);
  return Promise.all(
    namings.map((naming, place) =>
      startChaosGateway({
        name: place === 0 ? "first" : "second",
        seed,
        naming,
        secret: SECRET,
        now: fleet.now,
        service,
      }),
    ),
  );
}

/** The URL of a process that runs, another one each time. */
function inTurn(fleet: Fleet): () => string | undefined {
  let calls = 0;
  return () => fleet.some((count) => calls++ % count)?.url;
}

type Providers = Pick<GatewayWorld, "gateways" | "smscs" | "fleet">;

interface Connected {
  /** In the order of the route. */
  readonly ids: readonly string[];
  readonly gateways: readonly string[];
  /** Of the gateways. */
  readonly lines: readonly Line[];
}

async function connectAll(
  service: PostriderProcess,
  plan: GatewayPlan,
  { gateways, smscs, fleet }: Providers,
): Promise<Connected> {
  const made: { readonly connector_id: string; readonly callback_path: string }[] = [];
  for (const gateway of gateways) {
    const shared = plan.isOneAccount && made[0] ? { receipts_with: [made[0].connector_id] } : {};
    const config = { ...configOf(gateway, plan), ...shared };
    made.push(await admin(service, "/connectors", { kind: "http", name: gateway.name, config }));
  }
  if (plan.isOneAccount)
    for (const [place, gateway] of gateways.entries()) gateway.shareReports(made[1 - place]!.callback_path);
  const own = made.map(({ connector_id }) => connector_id);
  const ids = [...own];
  for (const smsc of smscs) {
    const id = await connectChaosSmsc(service, smsc);
    if (plan.smsc === "first") ids.unshift(id);
    else ids.push(id);
  }
  const toLine = ({ naming }: ChaosGateway, place: number): Line => ({
    naming,
    secret: SECRET,
    service: inTurn(fleet),
    callbackUrl: PUBLIC_URL + made[place]!.callback_path,
  });
  return { ids, gateways: own, lines: gateways.map(toLine) };
}

const FIRST_NUMBER = 447_800_000_000;

/** Gives each account a number, and its receiver what handsets write to it. */
async function openNumbers(
  service: PostriderProcess,
  accounts: readonly Account[],
): Promise<ReadonlyMap<Account, string>> {
  const numbers = new Map<Account, string>();
  for (const [place, account] of accounts.entries()) {
    const { accountId: account_id, callbackUrl: value } = account;
    const number = `+${FIRST_NUMBER + place}`;
    await admin(service, "/inbound-numbers", { account_id, number });
    await admin(service, `/settings/inbound_url?account_id=${account_id}`, { value }, "PUT");
    numbers.set(account, number);
  }
  return numbers;
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
        id: { json: "/id" },
        to: [{ json: "/to" }],
        status: [{ json: "/state" }],
        statuses: STATUSES,
        inbound: INBOUND,
      },
    },
  };
}

const INBOUND = {
  when: { json: "/kind" },
  is: ["MO"],
  id: { json: "/id" },
  text: { json: "/text" },
  from: { json: "/from" },
  to: { json: "/to" },
  part: { reference: { json: "/ref" }, total: { json: "/total" }, number: { json: "/number" } },
};

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
