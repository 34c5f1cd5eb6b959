import { expect, test } from "bun:test";
import { openPostgresProxy } from "../../../../test/fakes/postgres-proxy.ts";
import { CONNECTOR, sent } from "../../contract/world.contract.ts";
import type { Store } from "../../store.ts";
import { race } from "../database/race.contract.ts";
import { openOther } from "../postgres-world.contract.ts";

test("recording a hundred receipts takes as many statements as recording one, of those that match and of those that do not", () =>
  race(async (world) => {
    const proxy = await openPostgresProxy(world.url);
    const far = (await openOther(proxy.url)) as unknown as Store;
    const about = { connectorId: CONNECTOR, status: "delivered", receivedAt: world.clock.now } as const;
    const costOf = async (ids: readonly string[]) => {
      const before = proxy.answered();
      await far.receipts.record(ids.map((providerMessageId) => ({ ...about, providerMessageId })));
      return proxy.answered() - before;
    };
    const named = (name: string, count: number) => Array.from({ length: count }, (_, at) => `${name}-${at}`);
    const ids = named("p", 102);
    await world.sms();
    await world.settle(await world.claimOne(), { outcomes: ids.map((id) => sent(id)) });
    const matched = [
      await costOf(ids.slice(0, 1)),
      await costOf(ids.slice(1, 2)),
      await costOf(ids.slice(2)),
    ];
    const parked = [await costOf(["x"]), await costOf(named("y", 100))];
    await far.close();
    await proxy.close();
    expect(matched[2]).toBe(matched[1]!);
    expect(parked[1]).toBe(parked[0]!);
    expect(Math.max(...matched.slice(1), ...parked)).toBeLessThanOrEqual(12);
  }));
