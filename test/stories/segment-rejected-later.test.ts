/** What receipts say of the first segments of a long message while the others wait for the rate. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { cString } from "../../src/channels/sms/smpp/wire/octets.ts";
import { COMMAND, TAG } from "../../src/channels/sms/smpp/wire/pdu.ts";
import { onBothStores } from "../both-stores.ts";
import { type FakeSmsc, type ReceivedSubmit, startFakeSmsc } from "../fakes/fake-smsc.ts";
import type { SmscDial } from "../fakes/smsc-dial.ts";
import { type HeldPostrider, type MessageAt, startHeldPostrider } from "../held-postrider.ts";
import { connectSmsc, giveUpOn, IMPATIENT, openLiveSms } from "../live-sms.ts";
import { storedRows } from "../stored-rows.ts";

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
    }, 120_000);
  }

  test("once a receipt says that a segment was rejected, those after it are not sent, and the timeline says why", async () => {
    const live = await openSlow();
    const message = await live.send("+14155550601");
    await tellUntil(message, "failed", (submit) => smsc.sendReceipt(submit, "REJECTD"));
    const submits = smsc.submits.length;
    expect(submits).toBeLessThan(SEGMENTS);
    const failed = (await live.timeline(message)).find(({ status }) => status === "failed");
    expect(failed).toMatchObject({ kind: "receipt", error: { code: "receipt.rejectd" } });
    expect(failed?.detail?.reason).toBe(
      `segment 1 was rejected; not sent: ${SEGMENTS - submits} of ${SEGMENTS}`,
    );
    await postrider.pass(30_000);
    expect(smsc.submits).toHaveLength(submits);
  });

  /** The first segment is taken, and the others are put off or not answered. */
  async function sendInPart(
    settings: Record<string, string>,
    others: Pick<SmscDial, "holdSubmits"> & { submitStatus?: number },
  ) {
    const connector = await connectSmsc(postrider, smsc, IMPATIENT);
    const live = await openLiveSms(postrider, { connectors: [connector], body: "x".repeat(300), settings });
    await postrider.passUntil(() => smsc.bound().length > 0, 20_000);
    smsc.dial.submitStatus = () => {
      if (smsc.submits.length === 0) return 0;
      Object.assign(smsc.dial, others);
      return others.submitStatus;
    };
    const message = await live.send("+14155550604");
    await giveUpOn(2, { postrider, smsc });
    return { live, message };
  }

  test.each([
    ["queued", {}, { submitStatus: 0x08 }],
    ["sending", { on_unconfirmed: "hold" }, { holdSubmits: true }],
  ] as const)(
    "a message that waits as %s for another segment has failed as soon as a receipt rejects one, and nothing more is planned for it",
    async (status, settings, others) => {
      const { live, message } = await sendInPart(settings, others);
      await postrider.reached(message, status);
      const submits = smsc.submits.length;
      await smsc.sendReceipt(smsc.submits[0]!, "REJECTD");
      expect(await postrider.status(message)).toBe("failed");
      const entries = await live.timeline(message);
      expect(entries.at(-1)).toMatchObject({ kind: "receipt", error: { code: "receipt.rejectd" } });
      expect(await storedRows(postrider.dataFolder, "SELECT id FROM jobs")).toEqual([]);
      await postrider.pass(60_000);
      expect([smsc.submits.length, await live.timeline(message)]).toEqual([submits, entries]);
    },
  );

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
