import { expect, test } from "bun:test";
import { HOUR } from "../../contract/world.contract.ts";
import { race } from "../database/race.contract.ts";

const HANDSET = "+919800000001";

test("what is accepted after an erasure was asked for stays to be sent, though by a clock that is behind the erasure's", () =>
  race(async (world) => {
    const { store, id, clock } = world;
    const sms = async () => (await world.sms({ to: [HANDSET] }))[0];
    await sms();
    const asked = { id: id(), recipient: HANDSET, salt: "s", digest: "d", createdAt: clock.now };
    await store.erasures.create(asked);
    clock.now -= HOUR;
    const later = await sms();
    while ((await store.erasures.advance(clock.now, 100)) > 0);
    expect((await world.claim()).map(({ messageId }) => messageId)).toEqual([later ?? ""]);
  }));
