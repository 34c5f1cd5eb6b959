import { afterEach, expect, test } from "bun:test";
import {
  closeSmppRigs,
  LONG_TEXT,
  openBoundSmppRig,
  outgoingSms,
  sendThrough,
} from "../../../../test/fakes/smpp-rig.ts";

afterEach(closeSmppRigs);

/** Lets go what is to be written, before anything is read. */
const written = () =>
  new Promise<void>((resolve) => process.nextTick(() => process.nextTick(() => process.nextTick(resolve))));

test.each(["closes", "resets"] as const)(
  "segments are sent that the SMSC has answered before it %s the connection, though others meet a closed one",
  async (how) => {
    const { channel, smsc, clock, state } = await openBoundSmppRig({ dial: { holdSubmits: true } });
    const answered = sendThrough(channel, outgoingSms({ text: LONG_TEXT }));
    await smsc.until(() => smsc.submits.length === 2);
    smsc.release();
    if (how === "closes") smsc.dropAll();
    else smsc.resetAll();
    const others = [];
    for (let count = 0; count < 3; count++) {
      others.push(sendThrough(channel));
      await written();
    }
    expect((await answered).parts.map((part) => part?.kind)).toEqual(["sent", "sent"]);
    for (const { parts } of await Promise.all(others)) expect(parts[0]?.kind).not.toBe("sent");
    await state("down");
    await clock.advance(1_000);
    await state("up");
    expect(await sendThrough(channel)).toMatchObject({ parts: [{ kind: "sent" }] });
  },
);
