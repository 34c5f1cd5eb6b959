/** What an SMSC may send in the middle of things, and how it is answered: as SMPP 3.4 says, and without harm to what is under way. */
import { afterEach, expect, test } from "bun:test";
import { closeSmppRigs, openBoundSmppRig, sendThrough } from "../../../../../test/fakes/smpp-rig.ts";
import { cString } from "../wire/octets.ts";
import { encodePdu, responseTo, TAG } from "../wire/pdu.ts";

afterEach(closeSmppRigs);

const ALERT_NOTIFICATION = 0x102;
const GENERIC_NACK = 0x80000000;

/** With a submit_sm under way that has not been answered. */
async function openWaiting() {
  const rig = await openBoundSmppRig({ dial: { holdSubmits: true } });
  const outcome = sendThrough(rig.channel);
  await rig.smsc.until(() => rig.smsc.submits.length === 1);
  const answered = () =>
    rig.smsc.others.map(({ commandId, status, sequence }) => ({ commandId, status, sequence }));
  return { ...rig, outcome, answered };
}

test.each([
  ["outbind", 0x0b],
  ["a bind", 0x09],
  ["submit_sm", 0x04],
  ["submit_multi", 0x21],
  ["query_sm", 0x03],
  ["broadcast_sm", 0x112],
  ["cancel_broadcast_sm", 0x113],
])("%s from the SMSC is a command it may not give, and gets a generic_nack", async (_, commandId) => {
  const { smsc, outcome, answered } = await openWaiting();
  smsc.sendRaw(encodePdu({ commandId, sequence: 77, body: cString("x") }));
  await smsc.until(() => smsc.others.length === 1);
  expect(answered()).toEqual([{ commandId: GENERIC_NACK, status: 3, sequence: 77 }]);
  smsc.release();
  expect((await outcome).parts).toMatchObject([{ kind: "sent" }]);
});

test("answers that belong to no request, alerts and nacks of nobody's change nothing, and get no answer", async () => {
  const { smsc, outcome, answered, channel } = await openWaiting();
  const [submit] = smsc.submits;
  const own = submit?.sequence ?? 0;
  for (const pdu of [
    { commandId: responseTo(0x04), sequence: own + 1_000, body: cString("stray") },
    { commandId: responseTo(0x04), sequence: 0, body: cString("stray") },
    {
      commandId: responseTo(0x03),
      sequence: own,
      body: Buffer.concat([cString("1"), cString(""), Buffer.of(2, 0)]),
    },
    { commandId: responseTo(0x112), sequence: own, body: cString("b") },
    { commandId: responseTo(0x15), sequence: own + 5 },
    {
      commandId: ALERT_NOTIFICATION,
      sequence: 9,
      body: Buffer.concat([Buffer.of(1, 1), cString("4917"), Buffer.of(1, 1), cString("17")]),
    },
    { commandId: GENERIC_NACK, status: 3, sequence: 0 },
    { commandId: GENERIC_NACK, status: 8, sequence: own + 1_000 },
  ])
    smsc.sendRaw(encodePdu(pdu));
  // Its answer is the first there is.
  expect(await smsc.request(0x15)).toMatchObject({ status: 0 });
  expect(answered().map(({ commandId }) => commandId)).toEqual([responseTo(0x15)]);
  smsc.release();
  expect((await outcome).parts).toEqual([{ kind: "sent", providerMessageIds: [submit?.messageId ?? ""] }]);
  expect(channel.status().state).toBe("up");
});

test("a receipt in a data_sm is stored and answered as such; one that cannot be read is refused", async () => {
  const { smsc, receipts } = await openWaiting();
  const address = Buffer.concat([Buffer.of(1, 1), cString("4917")]);
  const head = Buffer.concat([cString(""), address, address, Buffer.of(0x04, 0, 0)]);
  const tlv = (tag: number, value: Buffer) => {
    const header = Buffer.alloc(4);
    header.writeUInt16BE(tag, 0);
    header.writeUInt16BE(value.length, 2);
    return Buffer.concat([header, value]);
  };
  const id = tlv(TAG.receiptedMessageId, Buffer.from(cString("A1")));
  const body = Buffer.concat([head, id, tlv(TAG.messageState, Buffer.of(2))]);
  expect(await smsc.request(0x103, body)).toMatchObject({ commandId: responseTo(0x103), status: 0 });
  expect(receipts).toMatchObject([{ providerMessageId: "A1", status: "delivered" }]);
  expect(await smsc.request(0x103, head.subarray(0, 4))).toMatchObject({
    commandId: responseTo(0x103),
    status: 0xc2,
  });
});

test("a receipt whose sm_length counts more octets than there are is stored, and acknowledged", async () => {
  const { smsc, receipts } = await openWaiting();
  const text = Buffer.from("id:A1 stat:DELIVRD err:000");
  const address = Buffer.concat([Buffer.of(1, 1), cString("4917")]);
  const fields = [cString(""), address, address, Buffer.of(0x04, 0, 0, 0, 0, 0, 0, 0, 0)];
  const body = Buffer.concat([...fields, Buffer.of(text.length + 1), text]);
  expect(await smsc.request(0x05, body)).toMatchObject({ commandId: responseTo(0x05), status: 0 });
  expect(receipts).toMatchObject([{ providerMessageId: "A1", status: "delivered" }]);
});
