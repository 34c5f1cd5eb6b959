/** A live account whose route names two connectors, each to an SMSC of its own. */
import { admin } from "./admin.ts";
import { type FakeSmsc, startFakeSmsc } from "./fakes/fake-smsc.ts";
import { type HeldPostrider, startHeldPostrider } from "./held-postrider.ts";
import { connectSmsc, type LiveSms, openLiveSms } from "./live-sms.ts";

/** Fields of the route, given the ids of its connectors. */
type RouteChanges = (ids: readonly [string, string]) => object;

interface Route {
  readonly route_id: string;
}

export interface TwoSmscs {
  readonly postrider: HeldPostrider;
  readonly first: FakeSmsc;
  readonly second: FakeSmsc;
  readonly live: LiveSms;
  /** Of the connectors, the first SMSC's and the second's. */
  readonly ids: readonly [string, string];
  readonly routeId: string;
  changeRoute(changes: RouteChanges): Promise<void>;
  /** Another route of the account's. Resolves with its id. */
  addRoute(fields: RouteChanges): Promise<string>;
  /** Lets time pass until the connector is in the state. */
  is(smsc: FakeSmsc, wanted: string): Promise<void>;
  health(smsc: FakeSmsc): Promise<{ readonly score: number; readonly problems: readonly string[] }>;
  /** Sends so many messages to made-up numbers, each as soon as the one before has been sent. */
  sendEach(count: number): Promise<void>;
  close(): Promise<void>;
}

/** `route`: how the route names them, instead of one after the other. `config`: of both connectors. `body`: the text of its messages. */
export async function openTwoSmscs(
  route: RouteChanges = () => ({}),
  config: Record<string, unknown> = {},
  body?: string,
): Promise<TwoSmscs> {
  const [postrider, first, second] = await Promise.all([
    startHeldPostrider(),
    startFakeSmsc({ receipts: "after" }),
    startFakeSmsc({ receipts: "after" }),
  ]);
  const ids = [
    await connectSmsc(postrider, first, config),
    await connectSmsc(postrider, second, config),
  ] as const;
  const live = await openLiveSms(postrider, { connectors: ids, ...(body && { body }) });
  const { data } = await admin<{ data: Route[] }>(postrider, "/routes");
  const routeId = data[0]?.route_id ?? "";
  const changeRoute: TwoSmscs["changeRoute"] = async (changes) =>
    void (await admin(postrider, `/routes/${routeId}`, changes(ids), "PATCH"));
  await changeRoute(route);
  const statusOf = async (smsc: FakeSmsc) => {
    const path = `/connectors/${smsc === first ? ids[0] : ids[1]}`;
    const { status } = await admin<{ status?: Record<string, unknown> }>(postrider, path);
    return status ?? {};
  };
  const two: TwoSmscs = {
    postrider,
    first,
    second,
    live,
    ids,
    routeId,
    changeRoute,
    async addRoute(fields) {
      const route = { account_id: live.accountId, channel: "sms", ...fields(ids) };
      return (await admin<Route>(postrider, "/routes", route)).route_id;
    },
    is: async (smsc, wanted) =>
      void (await postrider.passUntil(async () => (await statusOf(smsc)).state === wanted, 90_000)),
    health: async (smsc) => (await statusOf(smsc)).health as Awaited<ReturnType<TwoSmscs["health"]>>,
    async sendEach(count) {
      for (let sent = 0; sent < count; sent++) {
        await postrider.reached(await live.send(`+1415${5_550_000 + sent}`), "sent", "delivered");
      }
    },
    async close() {
      await Promise.all([first.close(), second.close()]);
      await postrider.close();
    },
  };
  for (const smsc of [first, second]) await two.is(smsc, "up");
  return two;
}
