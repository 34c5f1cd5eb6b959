import { describe, expect, test } from "bun:test";
import { idOf, never, openSimulator, sms } from "../../../test/fakes/open-simulator.ts";

describe("an SMS to an ordinary number", () => {
  test("is taken at once and delivered within a second", async () => {
    const { simulator, clock, receipts, memory } = openSimulator("sms");
    const outcome = await simulator.send(sms("+919812345678"), never);
    const id = idOf(outcome.parts[0]);
    expect(outcome).toMatchObject({
      countsAsAttempt: true,
      detail: { segments: 1, encoding: "gsm7", simulated: "delivered" },
    });
    expect(memory.entries().map((entry) => entry.id)).toEqual([id]);
    await clock.advance(99);
    expect(receipts).toEqual([]);
    await clock.advance(901);
    expect(receipts).toMatchObject([
      { connectorId: "simulator-sms", providerMessageId: id, status: "delivered" },
    ]);
    await simulator.stop();
  });

  test("is one entry with one receipt, however many segments it has", async () => {
    const { simulator, clock, receipts, memory } = openSimulator("sms");
    const outcome = await simulator.send(sms("+919812345678", { text: "₹".repeat(200) }), never);
    expect(outcome.parts).toHaveLength(1);
    expect(memory.entries().map((entry) => entry.rendered)).toMatchObject([
      { segments: 3, encoding: "ucs2" },
    ]);
    await clock.advance(1_000);
    expect(receipts).toHaveLength(1);
  });

  test("is shown with what it was made of", async () => {
    const { simulator, memory } = openSimulator("sms");
    const message = sms("+919812345678", {
      from: "SHOPIN",
      content: {
        channel: "sms",
        templateId: "0190b6a2-0000-7000-8000-000000000001",
        dltTemplateId: "1107160000000000001",
        dltEntityId: "1101160000000000001",
        variables: { "1": 4711 },
      },
    });
    await simulator.send(message, never);
    expect(memory.entries()).toMatchObject([
      {
        accountId: "account-1",
        messageId: message.messageId,
        channel: "sms",
        to: "+919812345678",
        rendered: {
          from: "SHOPIN",
          text: "Your code is 4711",
          template_id: "0190b6a2-0000-7000-8000-000000000001",
          dlt_template_id: "1107160000000000001",
          dlt_entity_id: "1101160000000000001",
          variables: { "1": "4711" },
          segments: 1,
          encoding: "gsm7",
        },
      },
    ]);
  });

  test("of which only the template's id is known has no text and no segments", async () => {
    const { simulator, memory } = openSimulator("sms");
    const { text: _, ...message } = sms("+919812345678", {
      content: { channel: "sms", dltTemplateId: "1107160000000000001" },
    });
    const outcome = await simulator.send(message, never);
    expect(outcome.parts[0]?.kind).toBe("sent");
    expect(memory.entries()[0]?.rendered).toEqual({ dlt_template_id: "1107160000000000001" });
  });

  test("is rejected when no 255 segments can hold it", async () => {
    const { simulator, memory } = openSimulator("sms");
    for (const text of ["a".repeat(255 * 153 + 1), "₹".repeat(255 * 67 + 1), "a".repeat(1_000_000)]) {
      const outcome = await simulator.send(sms("+919812345678", { text }), never);
      expect(outcome.parts[0]).toMatchObject({ kind: "rejected", error: { code: "smpp.too_long" } });
    }
    expect(memory.entries()).toEqual([]);
  });
});

describe.each(["+1500555000", "+91900000000"])("the magic numbers %s…", (stem) => {
  test("1 is taken, and a receipt says undelivered", async () => {
    const { simulator, clock, receipts } = openSimulator("sms");
    const outcome = await simulator.send(sms(`${stem}1`), never);
    const id = idOf(outcome.parts[0]);
    await clock.advance(1_000);
    expect(receipts).toMatchObject([
      { providerMessageId: id, status: "undelivered", error: { code: "receipt.undeliv" } },
    ]);
  });

  test("2 is rejected with a reason, and nothing was taken", async () => {
    const { simulator, memory } = openSimulator("sms");
    const outcome = await simulator.send(sms(`${stem}2`), never);
    expect(outcome.parts).toMatchObject([{ kind: "rejected", error: { code: "smpp.0x0000000b" } }]);
    expect(memory.entries()).toEqual([]);
  });

  test("3 is throttled three times at no cost, and then delivered once", async () => {
    const { simulator, clock, receipts, memory } = openSimulator("sms");
    const message = sms(`${stem}3`);
    for (const _ of [1, 2, 3]) {
      const outcome = await simulator.send(message, never);
      expect(outcome).toMatchObject({
        parts: [{ kind: "deferred", retryAfterMs: 250, error: { code: "smpp.0x00000058" } }],
        countsAsAttempt: false,
      });
    }
    expect((await simulator.send(message, never)).parts[0]?.kind).toBe("sent");
    await clock.advance(1_000);
    expect(receipts.map(({ status }) => status)).toEqual(["delivered"]);
    expect(memory.entries()).toHaveLength(1);
  });

  test("3 counts for each message on its own", async () => {
    const { simulator } = openSimulator("sms");
    const [one, other] = [sms(`${stem}3`), sms(`${stem}3`)];
    for (const message of [one, one, one, other]) await simulator.send(message, never);
    expect((await simulator.send(one, never)).parts[0]?.kind).toBe("sent");
    expect((await simulator.send(other, never)).parts[0]?.kind).toBe("deferred");
  });

  test("4 is taken, and no receipt ever comes", async () => {
    const { simulator, clock, receipts, memory } = openSimulator("sms");
    expect((await simulator.send(sms(`${stem}4`), never)).parts[0]?.kind).toBe("sent");
    await clock.advance(24 * 3_600_000);
    expect(receipts).toEqual([]);
    expect(memory.entries()).toHaveLength(1);
  });

  test("5 is never taken, costs no attempts, and is asked for ever more rarely", async () => {
    const { simulator, clock } = openSimulator("sms");
    const message = sms(`${stem}5`);
    const waits: number[] = [];
    for (let attempt = 0; attempt < 40; attempt++) {
      const { parts, countsAsAttempt } = await simulator.send(message, never);
      expect(countsAsAttempt).toBe(false);
      const wait = parts[0]?.kind === "deferred" ? parts[0].retryAfterMs! : 0;
      waits.push(wait);
      await clock.advance(wait);
    }
    expect(waits.slice(0, 3)).toEqual([1_000, 1_000, 1_000]);
    expect(waits.at(-1)).toBe(15 * 60_000);
  });

  test("6 is answered after 5 seconds, and then delivered", async () => {
    const { simulator, clock, receipts } = openSimulator("sms");
    let isAnswered = false;
    const sent = simulator.send(sms(`${stem}6`), never).then((outcome) => {
      isAnswered = true;
      return outcome;
    });
    await clock.advance(4_999);
    expect(isAnswered).toBe(false);
    await clock.advance(1);
    idOf((await sent).parts[0]);
    await clock.advance(1_000);
    expect(receipts.map(({ status }) => status)).toEqual(["delivered"]);
  });

  test("0, 7 and longer numbers are ordinary", async () => {
    const { simulator, clock, receipts } = openSimulator("sms");
    for (const end of ["0", "7", "12"]) {
      expect((await simulator.send(sms(stem + end), never)).parts[0]?.kind).toBe("sent");
    }
    await clock.advance(1_000);
    expect(receipts.map(({ status }) => status)).toEqual(["delivered", "delivered", "delivered"]);
  });
});
