/** An SMS that one connector has taken in fewer segments than an earlier attempt had made, of which more is heard later. */
import { expect, test } from "bun:test";
import {
  CONNECTOR,
  deferred,
  HOUR,
  inWorld,
  type OpenStore,
  sent,
  unconfirmed,
  type World,
} from "../world.contract.ts";
import { nextJob, OTHER, triedBy } from "./copies-world.contract.ts";

/** The other connector takes the message, and reports that both of its segments were delivered; `told` comes between. */
async function takenInTwo(world: World, id: string, told: () => Promise<unknown>): Promise<string> {
  await world.settle(await nextJob(world), {
    connectorId: OTHER,
    outcomes: [sent(`1 ${id}`), sent(`2 ${id}`)],
  });
  expect(await world.status(id)).toBe("sent");
  await told();
  for (const name of [`1 ${id}`, `2 ${id}`]) await world.receive(name, { connectorId: OTHER });
  return world.status(id);
}

export function takenInFewerContract(open: OpenStore): void {
  test(
    "is delivered once those segments are, though an answer to the earlier attempt, for one of its three, has come since",
    inWorld(open, async (world) => {
      const [id = ""] = await world.sms();
      const tried = triedBy(world, CONNECTOR, unconfirmed());
      await world.settle(await world.claimOne(), { ...tried, outcomes: Array(3).fill(unconfirmed()) });
      const late = { connectorId: CONNECTOR, messageId: id, part: 0, parts: 3, providerMessageIds: ["late"] };
      const answer = () => world.store.receipts.recordLateAnswer(late, world.clock.now);
      expect(await takenInTwo(world, id, answer)).toBe("delivered");
    }),
  );

  test(
    "is delivered once those segments are, though the earlier attempt, which had lost its lease, is settled since",
    inWorld(open, async (world) => {
      for (const counted of [undefined, Array(3).fill(deferred())])
        for (const first of [sent("lost"), deferred()]) {
          const [id = ""] = await world.sms();
          const tried = triedBy(world, CONNECTOR, deferred());
          if (counted) await world.settle(await world.claimOne(), { ...tried, outcomes: counted });
          const lost = await nextJob(world);
          world.clock.now += HOUR;
          const settle = () => world.settle(lost, { outcomes: [first, unconfirmed(), unconfirmed()] });
          expect(await takenInTwo(world, id, settle)).toBe("delivered");
        }
    }),
  );
}
