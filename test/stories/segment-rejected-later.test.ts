/** What receipts say of the first segments of a long message while the others wait for the rate. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { cString } from "../../src/channels/sms/smpp/octets.ts";
import { COMMAND, TAG } from "../../src/channels/sms/smpp/pdu.ts";
import { onBothStores } from "../both-stores.ts";
import { type FakeSmsc, type ReceivedSubmit, startFakeSmsc } from "../fakes/fake-smsc.ts";
import { type HeldPostrider, type MessageAt, startHeldPostrider } from "../held-postrider.ts";
import { connectSmsc, openLiveSms } from "../live-sms.ts";

const SEGMENTS = 6;

/** An attempt then sends only the segments that the rate allows within its time, and the next goes on. */
const SLOW = { max_per_second_per_sender: 1, response_timeout_ms: 4_000 };

onBothStores(() => {
  let postrider: HeldPostrider;
  let smsc: FakeSmsc;

  beforeEach(async () => {
    [postrider, smsc] = await Promise.all([startHeldPostrider(), startFakeSmsc({ receipts: "none" })]);
  });

  afterEach(async () => {
    await postrider.close();
    await smsc.close();
  });

  async function openSlow(config: Record<string, unknown> = SLOW) {
    const connector = await connectSmsc(postrider, smsc, config);
    const live = await openLiveSms(postrider, {
      connectors: [connector],
      body: "x".repeat(150 * SEGMENTS),
    });
    await postrider.passUntil(() => smsc.bound().length > 0, 20_000);
    return live;
  }

  /** Tells of each segment as soon as it is taken, until the message has the status. */
  async function tellUntil(
    message: MessageAt,
    status: string,
    tell: (submit: ReceivedSubmit) => Promise<unknown>,
  ): Promise<void> {
    let told = 0;
    await postrider.passUntil(async () => {
      await smsc.request(COMMAND.enquireLink);
      for (const submit of smsc.submits.slice(told)) {
        told++;
        await tell(submit);
      }
      return (await postrider.status(message)) === status;
    }, 60_000);
  }

  test("once a receipt says that a segment was rejected, those after it are not sent, and the timeline says why", async () => {
    const live = await openSlow();
    const message = await live.send("+14155550601");
    await tellUntil(message, "failed", (submit) => smsc.sendReceipt(submit, "REJECTD"));
    const submits = smsc.submits.length;
    expect(submits).toBeLessThan(SEGMENTS);
    const last = (await live.timeline(message)).at(-1);
    expect(last).toMatchObject({ kind: "status", status: "failed", error: { code: "receipt.rejectd" } });
    expect(last?.detail?.reason).toBe(
      `segment 1 was rejected; not sent: ${SEGMENTS - submits} of ${SEGMENTS}`,
    );
    await postrider.pass(30_000);
    expect(smsc.submits).toHaveLength(submits);
  });

  test("a segment that was not delivered does not keep the others back, and the message is undelivered", async () => {
    const live = await openSlow();
    const message = await live.send("+14155550602");
    await tellUntil(message, "undelivered", (submit) =>
      smsc.sendReceipt(submit, submit === smsc.submits[0] ? "UNDELIV" : "DELIVRD"),
    );
    expect(smsc.submits).toHaveLength(SEGMENTS);
  });

  test("receipts that name a segment in their text, and something else in their TLV, are applied though they come before its answer is recorded", async () => {
    const live = await openSlow({ max_per_second_per_sender: 1 });
    const message = await live.send("+14155550603");
    await tellUntil(message, "delivered", ({ messageId }) =>
      smsc.deliver({
        esmClass: 0x04,
        source: { ton: 1, npi: 1, address: "14155550603" },
        shortMessage: Buffer.from(`id:${messageId} stat:DELIVRD err:000`),
        tlvs: new Map([[TAG.receiptedMessageId, cString(`999-${messageId}`)]]),
      }),
    );
    const kinds = (await live.timeline(message)).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === "receipt")).toHaveLength(SEGMENTS);
  });
});
