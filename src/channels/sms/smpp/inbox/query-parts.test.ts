import { afterEach, expect, test } from "bun:test";
import { getEventListeners } from "node:events";
import {
  closeSmppRigs,
  openBoundSmppRig,
  openSmppRig,
  sendThrough,
} from "../../../../../test/fakes/smpp-rig.ts";
import { createOctetReader } from "../wire/octets.ts";

afterEach(closeSmppRigs);

const never = new AbortController().signal;
const config = { query_sm: true };

test("only where the connector says that the SMSC may be asked, the channel can", async () => {
  expect((await openSmppRig()).channel.query).toBeUndefined();
  expect((await openSmppRig({ config })).channel.query).toBeFunction();
});

test("what the SMSC says is final becomes receipts that name the messages as their answers did", async () => {
  const states: Record<string, [number, number]> = { A1: [2, 0], "0b2": [5, 9], c3: [1, 0], d4: [8, 0] };
  const { channel, clock } = await openBoundSmppRig({ dial: { queryState: (id) => states[id] }, config });
  const asked = ["A1", "0b2", "c3", "d4", "unknown"].map((providerMessageId) => ({ providerMessageId }));
  const receipts = await channel.query!(asked, never);
  expect(receipts).toEqual([
    {
      connectorId: "c1",
      providerMessageId: "A1",
      receivedAt: clock.now(),
      raw: "query_sm message_state=2 error_code=0",
      status: "delivered",
    },
    {
      connectorId: "c1",
      providerMessageId: "B2",
      receivedAt: clock.now(),
      raw: "query_sm message_state=5 error_code=9",
      status: "undelivered",
      error: { code: "receipt.undeliv", message: "the SMSC reported UNDELIV, error 9" },
    },
    expect.objectContaining({
      providerMessageId: "D4",
      status: "failed",
      error: { code: "receipt.rejectd", message: "the SMSC reported REJECTD" },
    }),
  ]);
});

test("an SMSC is asked with the id as it wrote it, and the sender as the message went out with", async () => {
  const { channel, smsc } = await openBoundSmppRig({
    config: { ...config, id_format: "resp_dec_receipt_hex" },
  });
  await channel.query!([{ providerMessageId: "00123", from: "PSTRDR" }], never);
  const reader = createOctetReader(smsc.others.find(({ commandId }) => commandId === 0x03)!.body);
  expect([reader.cString(), reader.u8(), reader.u8(), reader.cString()]).toEqual(["00123", 5, 0, "PSTRDR"]);
});

test("what it says names a message by the number that its receipts have, though answers write that in another base", async () => {
  const { channel } = await openBoundSmppRig({
    dial: { queryState: () => [2, 0] },
    config: { ...config, id_format: "resp_dec_receipt_hex" },
  });
  expect(await channel.query!([{ providerMessageId: "00123" }], never)).toMatchObject([
    { providerMessageId: "7B", status: "delivered" },
  ]);
});

test("questions take their turn within window and rate, and give it back", async () => {
  const { channel, smsc, clock } = await openBoundSmppRig({
    dial: { queryState: () => [2, 0] },
    config: { ...config, window: 1, max_per_second: 1 },
  });
  const asking = channel.query!([{ providerMessageId: "1" }, { providerMessageId: "2" }], never);
  await smsc.until(() => smsc.others.length === 1);
  await smsc.request(0x15);
  expect(smsc.others.filter(({ commandId }) => commandId === 0x03)).toHaveLength(1);
  await clock.advance(1000);
  expect(await asking).toHaveLength(2);
  await clock.advance(1000);
  expect(await sendThrough(channel)).toMatchObject({ parts: [{ kind: "sent" }] });
});

test("without a session, and on abort, it ends with what is known", async () => {
  const { channel } = await openSmppRig({ config });
  expect(await channel.query!([{ providerMessageId: "1" }], never)).toEqual([]);
  const bound = await openBoundSmppRig({ dial: { queryState: () => [2, 0] }, config });
  const controller = new AbortController();
  const asking = bound.channel.query!(
    [{ providerMessageId: "1" }, { providerMessageId: "2" }],
    controller.signal,
  );
  controller.abort();
  expect((await asking).length).toBeLessThan(2);
});

test("an SMSC that does not answer, or answers in pieces, costs the question and no more", async () => {
  const { channel, smsc } = await openBoundSmppRig({
    dial: { queryState: (id) => (id === "1" ? ([] as unknown as [number, number]) : [2, 0]) },
    config,
  });
  const receipts = await channel.query!([{ providerMessageId: "1" }, { providerMessageId: "2" }], never);
  expect(receipts.map(({ providerMessageId }) => providerMessageId)).toEqual(["2"]);
  expect(smsc.binds).toHaveLength(1);
});

test("nothing of the questions stays on the signal, which may live on for as long as the process", async () => {
  const { channel } = await openBoundSmppRig({ dial: { queryState: () => [2, 0] }, config });
  const { signal } = new AbortController();
  const asked = ["1", "2", "3"].map((providerMessageId) => ({ providerMessageId }));
  expect(await channel.query!(asked, signal)).toHaveLength(3);
  expect(getEventListeners(signal, "abort")).toEqual([]);
});
