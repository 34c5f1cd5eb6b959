import { afterEach, expect, test } from "bun:test";
import { closeSmppRigs, openBoundSmppRig, sendThrough } from "../../../../../test/fakes/smpp-rig.ts";
import { COMMAND } from "../wire/pdu.ts";

afterEach(closeSmppRigs);

test("an SMSC that lives and answers no submit_sm for twice the time for an answer is bound to again", async () => {
  const rig = await openBoundSmppRig({ dial: { holdSubmits: true }, config: { response_timeout_ms: 5_000 } });
  const { smsc, statuses } = rig;
  for (let past = 0; past < 10_000; past += 500) {
    while (rig.channel.freeSlots() > 0) void sendThrough(rig.channel);
    // It lives.
    await smsc.request(COMMAND.enquireLink);
    await rig.clock.advance(500);
  }
  await rig.state("down");
  expect(statuses.at(-1)?.reason).toBe("the SMSC has answered no submit_sm for 10 s");
  expect(smsc.submits).toHaveLength(11);
  smsc.dial.holdSubmits = false;
  await rig.clock.advance(1_000);
  await rig.state("up");
  expect(await sendThrough(rig.channel)).toMatchObject({ parts: [{ kind: "sent" }] });
});

test("an answer that is lost keeps back no other messages", async () => {
  const rig = await openBoundSmppRig({ dial: { holdSubmits: true }, config: { response_timeout_ms: 5_000 } });
  const { smsc, channel, clock } = rig;
  const lost = sendThrough(channel);
  await smsc.until(() => smsc.submits.length === 1);
  smsc.dial.holdSubmits = false;
  await clock.advance(1_000);
  await sendThrough(channel);
  await clock.advance(4_000);
  expect(await lost).toMatchObject({ parts: [{ kind: "unconfirmed" }] });
  expect(channel.freeSlots()).toBe(10);
});
