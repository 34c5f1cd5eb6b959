/** Receipts as SMSCs in the field write them, each of which settles its message as its author meant. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { cString } from "../../src/channels/sms/smpp/wire/octets.ts";
import { type ShortMessage, TAG } from "../../src/channels/sms/smpp/wire/pdu.ts";
import { admin } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { type FakeSmsc, type ReceivedSubmit, startFakeSmsc } from "../fakes/fake-smsc.ts";
import { type HeldPostrider, startHeldPostrider } from "../held-postrider.ts";
import { connectSmsc, type LiveSms, openLiveSms } from "../live-sms.ts";

type Form = (id: string) => Partial<ShortMessage>;

const text =
  (write: (id: string) => string, over: Partial<ShortMessage> = {}): Form =>
  (id) => ({ esmClass: 0x04, shortMessage: Buffer.from(write(id), "latin1"), ...over });

const DATES = "submit date:2611221200 done date:2611221201";
const standard = (id: string, stat = "DELIVRD", err = "000") =>
  `id:${id} sub:001 dlvrd:001 ${DATES} stat:${stat} err:${err} text:`;

const tlvs =
  (state: number, more: readonly (readonly [number, Uint8Array])[] = []) =>
  (id: string) =>
    new Map<number, Uint8Array>([
      [TAG.receiptedMessageId, cString(id)],
      [TAG.messageState, Uint8Array.of(state)],
      ...more,
    ]);

const stateOf =
  (...octets: number[]): Form =>
  (id) => ({
    esmClass: 0x04,
    tlvs: new Map<number, Uint8Array>([...tlvs(0)(id), [TAG.messageState, Uint8Array.from(octets)]]),
  });

const FORMS: readonly (readonly [name: string, form: Form, status: string])[] = [
  ["an id marked as hexadecimal", text((id) => standard(`0x${id.toLowerCase()}`)), "delivered"],
  ["an id in quotes", text((id) => standard(`"${id}"`)), "delivered"],
  ["an id in a TLV with blanks", (id) => ({ esmClass: 0x04, tlvs: tlvs(2)(` ${id} `) }), "delivered"],
  ["keys in mixed case and another order", text((id) => `Stat:Delivrd Err:000 ID:${id}`), "delivered"],
  [
    "equals signs for colons",
    text((id) => `id=${id} sub=001 dlvrd=000 submit date=2611221200 stat=UNDELIV err=27 text=Your`),
    "undelivered",
  ],
  ["equals signs with blanks", text((id) => `id = ${id} stat = DELIVRD err = 000`), "delivered"],
  ["values in quotes", text((id) => `id="${id}", stat="DELIVRD", err="000"`), "delivered"],
  ["bars between the fields", text((id) => `id:${id}|sub:001|stat:DELIVRD|err:000|`), "delivered"],
  ["the form of a query", text((id) => `id=${id}&stat=DELIVRD&err=000`), "delivered"],
  ["msgid for id", text((id) => `msgid:${id} status:DELIVRD`), "delivered"],
  ["message_id for id", text((id) => `message_id=${id} stat=DELIVRD`), "delivered"],
  ["no err", text((id) => `id:${id} sub:001 dlvrd:001 ${DATES} stat:UNDELIV text:`), "undelivered"],
  [
    "dates with a blank",
    text(
      (id) =>
        `id:${id} sub:001 dlvrd:001 submit date:2026-11-22 12:00:00 done date:2026-11-22T12:01:00Z stat:EXPIRED err:0`,
    ),
    "expired",
  ],
  ["a text that ends within a key", text((id) => `id:${id} stat:DELIVRD er`), "delivered"],
  [
    "nothing but the beginning, and a TLV",
    (id) => ({
      ...text((own) => `id:${own} sub:001 dl`)(id),
      tlvs: new Map([[TAG.messageState, Uint8Array.of(5)]]),
    }),
    "undelivered",
  ],
  [
    "UCS-2",
    (id) => ({
      esmClass: 0x04,
      dataCoding: 8,
      shortMessage: Buffer.from(standard(id), "utf16le").swap16(),
    }),
    "delivered",
  ],
  [
    "message_payload",
    (id) => ({
      esmClass: 0x04,
      tlvs: new Map([[TAG.messagePayload, Buffer.from(standard(id, "REJECTD"))]]),
    }),
    "failed",
  ],
  [
    "message_payload beside a short_message of nothing but a NUL",
    (id) => ({
      esmClass: 0x04,
      shortMessage: Buffer.of(0),
      tlvs: new Map([[TAG.messagePayload, Buffer.from(standard(id))]]),
    }),
    "delivered",
  ],
  [
    "a TLV that contradicts the text",
    (id) => ({
      ...text((own) => standard(own))(id),
      tlvs: tlvs(5)(id),
    }),
    "undelivered",
  ],
  [
    "a network's code beside it",
    (id) => ({
      esmClass: 0x04,
      tlvs: tlvs(5, [[TAG.networkErrorCode, Uint8Array.of(3, 0, 27)]])(id),
    }),
    "undelivered",
  ],
  ["a state of 4 octets", stateOf(0, 0, 0, 2), "delivered"],
  ["a state of 2 octets", stateOf(0, 5), "undelivered"],
  ["a state of 4 octets, the least first", stateOf(2, 0, 0, 0), "delivered"],
  ["a state with a NUL", stateOf(2, 0), "delivered"],
  ["a state as a digit", stateOf(0x35), "undelivered"],
  ["a state as a digit with a NUL", stateOf(0x32, 0), "delivered"],
  ["a state in words", stateOf(...cString("DELIVRD")), "delivered"],
  ["a state of 4 octets that is none", stateOf(0, 0, 2, 2), "sent"],
  [
    "a TLV with an id of its own, and the message's in the text",
    (id) => ({ ...text((own) => standard(own))(id), tlvs: tlvs(2)("9990001112") }),
    "delivered",
  ],
  [
    "the message's id in a TLV, and another in the text",
    (id) => ({ ...text(() => standard("9990001112"))(id), tlvs: tlvs(2)(id) }),
    "delivered",
  ],
  ["SKIPPED", text((id) => standard(id, "SKIPPED")), "undelivered"],
  ["ENROUTE", text((id) => standard(id, "ENROUTE")), "sent"],
  ["ACCEPTD", text((id) => standard(id, "ACCEPTD")), "sent"],
  ["UNKNOWN", text((id) => standard(id, "UNKNOWN", "0E0")), "sent"],
  ["an intermediate notice of a failure", text((id) => standard(id, "UNDELIV"), { esmClass: 0x20 }), "sent"],
  ["an intermediate notice of a delivery", text((id) => standard(id), { esmClass: 0x20 }), "delivered"],
  ["the mark of a header, and none", text((id) => standard(id), { esmClass: 0x44 }), "delivered"],
  [
    "a header and its mark",
    text((id) => `\x05\x00\x03\x07\x01\x01${standard(id)}`, { esmClass: 0x44 }),
    "delivered",
  ],
  ["both types at once", text((id) => standard(id, "UNDELIV"), { esmClass: 0x24 }), "undelivered"],
  ["the type of a handset's acknowledgement", text((id) => standard(id), { esmClass: 0x08 }), "delivered"],
  ["the type of a user's acknowledgement", text((id) => standard(id), { esmClass: 0x10 }), "delivered"],
  ["no type, and a TLV", (id) => ({ tlvs: tlvs(2)(id) }), "delivered"],
];

onBothStores(() => {
  let postrider: HeldPostrider;
  let smsc: FakeSmsc;
  let live: LiveSms;

  beforeEach(async () => {
    [postrider, smsc] = await Promise.all([startHeldPostrider(), startFakeSmsc({ receipts: "none" })]);
  });

  afterEach(async () => {
    await smsc.close();
    await postrider.close();
  });

  async function open(config: Record<string, unknown> = {}): Promise<void> {
    live = await openLiveSms(postrider, { connectors: [await connectSmsc(postrider, smsc, config)] });
  }

  async function submitted(to: string) {
    const message = await live.send(to);
    await postrider.reached(message, "sent");
    return { message, submit: smsc.submits.at(-1) as ReceivedSubmit };
  }

  /** Delivers it from the message's number, or another one. */
  const deliver = ({ submit }: { submit: ReceivedSubmit }, form: Form, from = submit.destination.address) =>
    smsc.deliver({
      ...form(submit.messageId),
      source: { ...submit.destination, address: from },
      destination: submit.source,
    });

  async function inbound(): Promise<readonly string[]> {
    const { data } = await admin<{ data: { text: string }[] }>(
      postrider,
      `/inbound-messages?account_id=${live.accountId}`,
    );
    return data.map((each) => each.text);
  }

  test.each([
    ["BLOCKED", 1],
    ["UNKNOWN", 1],
    ["ENROUTE", 0],
    ["ACCEPTD", 0],
  ])(
    "%s leaves a message sent; the timeline has it %p times, where it is the last that is heard",
    async (stat, times) => {
      await open();
      const sent = await submitted("+14155550199");
      const unclear = text((id) => standard(id, stat, "050"));
      expect(await deliver(sent, unclear)).toBe(0);
      await postrider.pass(1_000);
      expect(await postrider.status(sent.message)).toBe("sent");
      const told = (await live.timeline(sent.message)).filter(({ kind }) => kind === "receipt");
      expect(told).toHaveLength(times);
      for (const { status, detail } of told) {
        expect([status, detail?.receipt_status]).toEqual(["sent", "sent"]);
        expect(detail?.raw).toContain(`stat:${stat} err:050`);
      }
      const final = text((id) => standard(id));
      expect(await deliver(sent, final)).toBe(0);
      expect(await postrider.reached(sent.message, "delivered")).toBe("delivered");
    },
  );

  test("each settles its message, and no more than that", async () => {
    await open();
    const found: [string, string][] = [];
    for (const [name, form] of FORMS) {
      const one = await submitted("+14155551400");
      expect(await deliver(one, form)).toBe(0);
      found.push([name, await postrider.status(one.message)]);
    }
    expect(found).toEqual(FORMS.map(([name, , status]) => [name, status]));
    const { data } = await admin<{ data: unknown[] }>(postrider, "/receipts/parked");
    expect(data).toEqual([]);
  });

  test("of two final ones the first counts, and the second is on the timeline", async () => {
    await open();
    for (const [first, second, status] of [
      ["DELIVRD", "UNDELIV", "delivered"],
      ["UNDELIV", "DELIVRD", "undelivered"],
    ] as const) {
      const one = await submitted("+14155551401");
      for (const stat of [first, second, second])
        await deliver(
          one,
          text((id) => standard(id, stat)),
        );
      expect(await postrider.status(one.message)).toBe(status);
      const kinds = (await live.timeline(one.message)).map(({ kind }) => kind);
      expect(kinds).toEqual(["attempt", "receipt", "late_receipt", "late_receipt"]);
    }
  });

  test("ids are found however answers write them, and at any length", async () => {
    await open();
    const spellings: readonly (readonly [write: (id: string) => string, again: (id: string) => string])[] = [
      [(id) => `0x${id}`, (id) => id.slice(2).toLowerCase()],
      [(id) => `'${id}'`, (id) => id.slice(1, -1)],
      [(id) => `  ${id} `, (id) => id.trim()],
      [(id) => `${id}-x`.repeat(10), (id) => id],
      [(id) => `${id}-x`.repeat(60), (id) => `${id}-more`],
    ];
    for (const [write, again] of spellings) {
      smsc.dial.writeId = write;
      const one = await submitted("+14155551402");
      const form: Form = (id) => ({
        esmClass: 0x04,
        tlvs: new Map([[TAG.messagePayload, Buffer.from(standard(again(id)))]]),
      });
      // Nothing but the id says which message it is about.
      expect(await deliver(one, form, "")).toBe(0);
      expect(await postrider.status(one.message)).toBe("delivered");
    }
  });

  test("where nothing marks it, the text makes a receipt only if the connector says so", async () => {
    await open();
    const one = await submitted("+14155551403");
    const unmarked = text((id) => standard(id), { esmClass: 0 });
    await deliver(one, unmarked);
    expect(await postrider.status(one.message)).toBe("sent");
    expect(await inbound()).toEqual([standard(one.submit.messageId)]);
  });

  test("a receipt that only its text makes one is about a message to the number it comes from, and no handset speaks for another", async () => {
    await open({ receipts_by_text: true });
    const one = await submitted("+14155551404");
    const unmarked = text((id) => standard(id, "UNDELIV"), { esmClass: 0 });
    await deliver(one, unmarked, "14155559999");
    await deliver(one, unmarked, "");
    expect(await postrider.status(one.message)).toBe("sent");
    await deliver(one, unmarked);
    expect(await postrider.status(one.message)).toBe("undelivered");
    const another = await submitted("+14155551405");
    await deliver(
      another,
      text((id) => `id=${id} stat=DELIVRD`, { esmClass: 0 }),
    );
    expect(await postrider.status(another.message)).toBe("delivered");
    await deliver(
      one,
      text(() => "Is my id:4711 stat:ok?", { esmClass: 0 }),
    );
    expect(await inbound()).toEqual(["Is my id:4711 stat:ok?"]);
  });
});
