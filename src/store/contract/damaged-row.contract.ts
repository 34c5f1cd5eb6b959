import { expect, test } from "bun:test";
import { sendAndReceive, states, take } from "./webhooks/outbox.contract.ts";
import {
  CONNECTOR,
  HOUR,
  inWorld,
  type OpenStore,
  rejection,
  SECOND,
  sent,
  type World,
} from "./world.contract.ts";

const MINUTE = 60 * SECOND;

/** More than any test makes fail. */
const MOST_PUT_OFF = 5_000;

/** How long the row of an old message waits, and of a new one. */
const PUT_OFF = 5 * MINUTE;
const FIRST_PUT_OFF = 5 * SECOND;

/** Makes a message's row unreadable; resolves with a function that mends it. */
async function damage({ inside }: World, id: string): Promise<() => Promise<void>> {
  await inside.change(`UPDATE messages SET error = 'nonsense' WHERE id = '${id}'`);
  return async () => void (await inside.change(`UPDATE messages SET error = NULL WHERE id = '${id}'`));
}

/** Repeats a call until it is no longer rejected for a row; resolves with its result, and what it was rejected with. */
export async function untilPassed<T>(
  call: () => Promise<T>,
): Promise<{ value: T; putOff: readonly string[] }> {
  const putOff: string[] = [];
  for (;;) {
    try {
      return { value: await call(), putOff };
    } catch (error) {
      if (!(error instanceof Error) || error.name !== "RowPutOff") throw error;
      putOff.push(error.message);
      if (putOff.length > MOST_PUT_OFF) throw new Error(`without an end: ${error.message}`);
    }
  }
}

export function damagedRowContract(open: OpenStore): void {
  test(
    "a message that cannot be read keeps no other waiting in its queue, and is claimed once it can be",
    inWorld(open, async (world) => {
      const [first = "", bad = "", ...others] = await world.sms({
        to: ["+1415555010", "+1415555011", "+1415555012"],
      });
      const mend = await damage(world, bad);
      const claimed: string[] = [];
      const claimAll = async () => {
        for (;;) {
          const { value, putOff } = await untilPassed(() => world.claim(2));
          claimed.push(...value.map(({ messageId }) => messageId), ...putOff);
          if (value.length === 0) return;
        }
      };
      await claimAll();
      const told = expect.stringMatching(new RegExp(`^message ${bad}, put off for 5 s: .*JSON`));
      expect(claimed.toSorted()).toEqual([first, ...others, told].toSorted());
      world.clock.now += FIRST_PUT_OFF;
      const again = world.store.queue.stage(world.clock.now, 10).then(() => world.claim());
      expect(await rejection(again)).toMatchObject({ name: "RowPutOff" });
      await mend();
      world.clock.now += FIRST_PUT_OFF;
      await world.store.queue.stage(world.clock.now, 10);
      expect((await world.claim()).map(({ messageId }) => messageId)).toContain(bad);
    }),
  );

  test(
    "a batch whose text cannot be read is put off as a whole, and claimed once it can be",
    inWorld(open, async (world) => {
      const numbers = Array.from({ length: 1_000 }, (_, at) => `+1415555${1_000 + at}`);
      const others = [await world.addAccount(), await world.addAccount(), await world.addAccount()];
      const send = (to: readonly string[]) => others.map((account) => world.sms({ account, to }));
      const good = [...send(["+1415555010"]), ...send(["+1415555011", "+1415555012"])];
      await world.sms({ to: numbers });
      await Promise.all(good);
      const setEnvelope = async (envelope: string) =>
        void (await world.inside.change(`UPDATE contents SET envelope = ${envelope} WHERE messages = 1000`));
      await setEnvelope("'x' || envelope");
      const claimed: string[] = [];
      const putOff: string[] = [];
      for (let last = 1; last > 0; ) {
        const { value, ...told } = await untilPassed(() => world.claim(500));
        claimed.push(...value.map(({ messageId }) => messageId));
        putOff.push(...told.putOff);
        last = value.length;
      }
      expect(putOff).toEqual([
        expect.stringMatching(/^message \S+ and 999 others of its batch, put off for 5 s: /),
      ]);
      expect(claimed.toSorted()).toEqual((await Promise.all(good)).flat().toSorted());
      await setEnvelope("substr(envelope, 2)");
      world.clock.now += FIRST_PUT_OFF;
      expect(await world.store.queue.stage(world.clock.now, 2_000)).toBe(1_000);
      expect(await world.claim(2_000)).toHaveLength(1_000);
    }),
  );

  test(
    "a message that cannot be read, and whose attempt was interrupted, keeps no other from going back in line",
    inWorld(open, async (world) => {
      const ids = await world.sms({ to: ["+1415555010", "+1415555011", "+1415555012"] });
      const [, bad = ""] = ids;
      await world.claim();
      const mend = await damage(world, bad);
      world.clock.now += HOUR;
      const told: string[] = [];
      const staged = async () => {
        const { value, putOff } = await untilPassed(() => world.store.queue.stage(world.clock.now, 10));
        told.push(...putOff);
        return value;
      };
      const moved: number[] = [];
      for (let last = 1; last > 0; moved.push(last)) last = await staged();
      expect(told).toEqual([expect.stringContaining(`message ${bad}, put off for 300 s`)]);
      expect(moved.reduce((sum, count) => sum + count)).toBe(2);
      await mend();
      world.clock.now += PUT_OFF;
      expect(await staged()).toBe(1);
      expect(await world.claim()).toHaveLength(3);
    }),
  );

  test(
    "a message that cannot be read, and whose window is over, keeps no other from expiring",
    inWorld(open, async (world) => {
      const expiresAt = world.clock.now + MINUTE;
      const [first = "", bad = "", last = ""] = await world.sms({
        to: ["+1415555010", "+1415555011", "+1415555012"],
        expiresAt,
      });
      const mend = await damage(world, bad);
      world.clock.now += HOUR;
      const expire = () => untilPassed(() => world.store.queue.expire(world.clock.now, 10));
      while ((await expire()).value > 0);
      expect([await world.status(first), await world.status(last)]).toEqual(["expired", "expired"]);
      await mend();
      world.clock.now += PUT_OFF;
      await world.store.queue.stage(world.clock.now, 10);
      await expire();
      expect(await world.status(bad)).toBe("expired");
    }),
  );

  test(
    "a message that cannot be read, and has no receipt, keeps no other from being flagged and asked about",
    inWorld(open, async (world) => {
      const [, bad = ""] = await world.sms({ to: ["+1415555010", "+1415555011", "+1415555012"] });
      for (const job of await world.claim()) await world.settle(job);
      world.clock.now += HOUR;
      const { receipts } = world.store;
      const flag = (now: number) => receipts.flagOverdue({ now, sentBefore: now - HOUR, limit: 10 });
      const request = { connectorId: CONNECTOR, limit: 10, waitsMs: [MINUTE] };
      const ask = (now: number) => untilPassed(() => receipts.takeQuestions({ ...request, now }));
      const flagAll = async () => {
        let count = 0;
        for (let last = 1; last > 0; count += last)
          last = (await untilPassed(() => flag(world.clock.now))).value;
        return count;
      };
      let mend = await damage(world, bad);
      expect(await flagAll()).toBe(2);
      await mend();
      world.clock.now += PUT_OFF;
      expect(await flagAll()).toBe(1);
      mend = await damage(world, bad);
      const asked = [...(await ask(world.clock.now)).value, ...(await ask(world.clock.now)).value];
      expect(new Set(asked.map(({ messageId }) => messageId)).size).toBe(2);
      await mend();
      expect((await ask(world.clock.now + PUT_OFF)).value.map(({ messageId }) => messageId)).toContain(bad);
    }),
  );

  test(
    "an event that cannot be read keeps no other webhook waiting, and is claimed once it can be",
    inWorld(open, async (world) => {
      const [first, bad, last] = [
        await sendAndReceive(world),
        await sendAndReceive(world),
        await sendAndReceive(world),
      ];
      await world.inside.change(`UPDATE timeline SET detail = 'nonsense' WHERE message_id = '${bad}'`);
      const claimed: string[] = [];
      for (let count = 1; count > 0; ) {
        const { value, putOff } = await untilPassed(() => take(world));
        claimed.push(...value.map(({ messageId }) => messageId), ...putOff.map(() => "put off"));
        count = value.length;
      }
      expect(claimed.toSorted()).toEqual([first, last, "put off"].toSorted());
      expect(await states(world, bad)).toEqual(["1 waiting", "2 held"]);
      await world.inside.change(`UPDATE timeline SET detail = NULL WHERE message_id = '${bad}'`);
      world.clock.now += PUT_OFF;
      await world.store.outbox.stage(world.clock.now, 10);
      expect((await take(world)).map(({ messageId }) => messageId)).toContain(bad);
    }),
  );

  test(
    "a result or receipt that the store cannot take fails alone, beside those that share its commit",
    inWorld(open, async (world) => {
      await world.sms({ to: ["+1415555010", "+1415555011", "+1415555012"] });
      const [first, bad, last] = await world.claim();
      if (!first || !bad || !last) throw new Error("three were accepted");
      const mend = await damage(world, bad.messageId);
      const settled = [world.settle(first), rejection(world.settle(bad)), world.settle(last)];
      expect(await Promise.all(settled)).toEqual([true, expect.any(Error), true]);
      await mend();
      expect(await world.settle(bad, { outcomes: [sent(`p-${bad.messageId}`)] })).toBe(true);
      await damage(world, bad.messageId);
      const receive = ({ messageId }: { messageId: string }) => world.receive(`p-${messageId}`);
      await Promise.all([receive(first), rejection(receive(bad)), receive(last)]);
      expect(await world.status(first.messageId)).toBe("delivered");
      expect(await world.status(last.messageId)).toBe("delivered");
    }),
  );
}
