import { afterEach, expect, test } from "bun:test";
import { closeSmppRigs, openBoundSmppRig, sendThrough } from "../../../../../test/fakes/smpp-rig.ts";
import { HOUR_MS } from "../../../../core/time/durations.ts";
import { COMMAND } from "../wire/pdu.ts";
import { ESME_RX_T_APPN, STATUS_OK } from "../wire/status-words.ts";
import { createLateReceipts } from "./late-receipts.ts";

afterEach(closeSmppRigs);

/** A channel whose receipts are stored when the test says so, one promise for each call. */
async function openLateRig() {
  const calls: PromiseWithResolvers<void>[] = [];
  const rig = await openBoundSmppRig({
    deps: {
      onReceipts() {
        const call = Promise.withResolvers<void>();
        calls.push(call);
        return call.promise;
      },
    },
    config: { response_timeout_ms: 1_000 },
  });
  await sendThrough(rig.channel);
  const { smsc, clock } = rig;
  return {
    calls,
    /** Resolves with the status of the answer. */
    deliver: () => smsc.sendReceipt(smsc.submits[0]!),
    /** Resolves once all that was delivered before has been read. */
    read: () => smsc.request(COMMAND.enquireLink),
    clock,
  };
}

test("a receipt that takes too long to store is stored once, however often the SMSC repeats it meanwhile", async () => {
  const { calls, deliver, read, clock } = await openLateRig();
  const first = deliver();
  await read();
  await clock.advance(1_000);
  expect(await first).toBe(ESME_RX_T_APPN);
  const repeats = [deliver(), deliver()];
  await read();
  expect(calls).toHaveLength(1);
  expect(await Promise.all(repeats)).toEqual([ESME_RX_T_APPN, ESME_RX_T_APPN]);
  calls[0]!.resolve();
  expect(await deliver()).toBe(STATUS_OK);
  expect(calls).toHaveLength(1);
});

test("a receipt that took too long, and could not be stored then, is stored when the SMSC repeats it", async () => {
  const { calls, deliver, read, clock } = await openLateRig();
  const first = deliver();
  await read();
  await clock.advance(1_000);
  expect(await first).toBe(ESME_RX_T_APPN);
  calls[0]!.reject(new Error("disk full"));
  const second = deliver();
  await read();
  calls[1]!.resolve();
  expect(await second).toBe(STATUS_OK);
});

test("a receipt of which the store never says what became of it is given to it again after a minute", async () => {
  const { calls, deliver, read, clock } = await openLateRig();
  const first = deliver();
  await read();
  await clock.advance(1_000);
  expect(await first).toBe(ESME_RX_T_APPN);
  for (let second = 0; second < 60; second++) {
    await clock.advance(1_000);
    await read();
  }
  const repeat = deliver();
  await read();
  expect(calls).toHaveLength(2);
  calls[1]!.resolve();
  expect(await repeat).toBe(STATUS_OK);
});

test("a receipt in the words of one that was stored late, an hour ago, is stored: it may be about another message", async () => {
  for (const ageMs of [HOUR_MS - 1, HOUR_MS]) {
    let nowMs = 0;
    let refuse = () => {};
    const after = (_: number, run: () => void) => {
      refuse = run;
      return () => {};
    };
    const late = createLateReceipts({ after, monotonicMs: () => nowMs }, 1_000);
    const receipt = { connectorId: "a", providerMessageId: "1", status: "delivered", receivedAt: 0 } as const;
    const storing = Promise.withResolvers<void>();
    const watched = late.watch([receipt], storing.promise);
    refuse();
    storing.resolve();
    await watched;
    nowMs = ageMs;
    expect(late.answerTo(receipt)).toBe(ageMs < HOUR_MS ? STATUS_OK : undefined);
  }
});
