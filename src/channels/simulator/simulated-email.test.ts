import { describe, expect, test } from "bun:test";
import { email, idOf, never, openSimulator } from "../../../test/fakes/open-simulator.ts";
import type { Part } from "../../core/messages/message.ts";

describe("an email", () => {
  test("has one entry and one receipt for each recipient, and outcomes of their own", async () => {
    const { simulator, clock, receipts, memory } = openSimulator("email");
    const addresses = ["ann@example.com", "bounce@example.com", "reject@example.org", "defer@example.net"];
    const outcome = await simulator.send(email(addresses), never);
    expect(outcome.parts.map((part) => part?.kind)).toEqual(["sent", "sent", "rejected", "deferred"]);
    expect(outcome.countsAsAttempt).toBe(false);
    // Refused as a message, not as a recipient: the state is `failed`.
    expect(outcome.parts[2]).toEqual({
      kind: "rejected",
      error: { code: "5.7.1", message: expect.any(String) },
    });
    expect(memory.entries().map(({ to }) => to)).toEqual(["ann@example.com", "bounce@example.com"]);
    await clock.advance(1_000);
    const byId = Object.fromEntries(receipts.map((receipt) => [receipt.providerMessageId, receipt]));
    expect(byId[idOf(outcome.parts[0])]).toMatchObject({ status: "delivered" });
    expect(byId[idOf(outcome.parts[1])]).toMatchObject({ status: "bounced", error: { code: "5.1.1" } });
  });

  test("that is long is composed alone, so that twenty of them let others work between the pieces of each", async () => {
    const { simulator } = openSimulator("email");
    const one = email(["ann@example.com"]);
    const long = { ...one, content: { ...one.content, bodyText: "Grüße an alle.\n".repeat(10_000) } };
    let turns = 0;
    let isOver = false;
    const turn = () => {
      turns++;
      if (!isOver) setImmediate(turn);
    };
    turn();
    const sent = await Promise.all(Array.from({ length: 20 }, () => simulator.send(long, never)));
    isOver = true;
    expect(sent.flatMap(({ parts }) => parts.map((part) => part?.kind))).toEqual(Array(20).fill("sent"));
    expect(turns).toBeGreaterThan(60);
  });

  test("that is long and does not get its turn is put off", async () => {
    const { simulator, clock, memory } = openSimulator("email");
    const one = email(["ann@example.com"]);
    const long = { ...one, content: { ...one.content, bodyText: "x".repeat(100_000) } };
    const sending = [1, 2].map(() => simulator.send(long, never));
    await clock.advance(2_000);
    const outcomes = await Promise.all(sending);
    expect(outcomes.map(({ parts }) => parts[0]?.kind)).toEqual(["sent", "deferred"]);
    expect(memory.entries()).toHaveLength(1);
  });

  test("to defer@ is put off three times and then delivered, and nobody else gets it twice", async () => {
    const { simulator, memory } = openSimulator("email");
    const message = email(["ann@example.com", "defer@example.com"]);
    await simulator.send(message, never);
    const parts: Part[] = [
      { status: "sent", address: "ann@example.com" },
      { status: "pending", address: "defer@example.com" },
    ];
    for (const _ of [2, 3]) {
      const { parts: outcomes } = await simulator.send({ ...message, parts, only: [1] }, never);
      expect(outcomes).toMatchObject([undefined, { kind: "deferred", retryAfterMs: 250 }]);
    }
    const last = await simulator.send({ ...message, parts, only: [1] }, never);
    expect(last.parts.map((part) => part?.kind)).toEqual([undefined, "sent"]);
    expect(memory.entries().map(({ to }) => to)).toEqual(["ann@example.com", "defer@example.com"]);
  });

  test("goes by the local part: any domain, any case, with or without a label", async () => {
    const { simulator } = openSimulator("email");
    const addresses = [
      "REJECT@a.example",
      "reject+run42@b.example",
      "rejected@a.example",
      "a@reject.example",
    ];
    const { parts } = await simulator.send(email(addresses), never);
    expect(parts.map((part) => part?.kind)).toEqual(["rejected", "rejected", "sent", "sent"]);
  });

  test("to constructor@ is ordinary", async () => {
    const { simulator } = openSimulator("email");
    const { parts } = await simulator.send(
      email(["constructor@example.com", "__proto__@example.com"]),
      never,
    );
    expect(parts.map((part) => part?.kind)).toEqual(["sent", "sent"]);
  });

  test("to noreceipt@ stays sent, to never@ is put off every time, to slow@ is answered after 5 seconds", async () => {
    const { simulator, clock, receipts } = openSimulator("email");
    expect((await simulator.send(email(["noreceipt@example.com"]), never)).parts[0]?.kind).toBe("sent");
    await clock.advance(60_000);
    expect(receipts).toEqual([]);
    const unwilling = email(["never@example.com"]);
    for (const _ of [1, 2, 3, 4, 5]) {
      expect((await simulator.send(unwilling, never)).parts[0]?.kind).toBe("deferred");
    }
    const slow = simulator.send(email(["slow@example.com"]), never);
    await clock.advance(5_000);
    idOf((await slow).parts[0]);
  });

  test("is shown with every field, and the source holds no Bcc", async () => {
    const { simulator, memory } = openSimulator("email");
    const message = email(["ann@example.com"]);
    await simulator.send(
      {
        ...message,
        parts: [...message.parts, { status: "pending", address: "eve@example.com" }],
        content: {
          ...message.content,
          bcc: [{ email: "eve@example.com", name: "Eve" }],
          bodyHtml: "<p>Thank you.</p>",
          replyTo: "help@example.com",
          headers: { "X-Order": "17" },
        },
      },
      never,
    );
    const [first, second] = memory.entries();
    expect([first?.to, second?.to]).toEqual(["ann@example.com", "eve@example.com"]);
    expect(first?.rendered).toMatchObject({
      from: { email: "shop@example.com", name: "Shop" },
      to: [{ email: "ann@example.com" }],
      bcc: [{ email: "eve@example.com", name: "Eve" }],
      subject: "Your order",
      body_text: "Thank you.",
      body_html: "<p>Thank you.</p>",
      reply_to: "help@example.com",
      headers: { "X-Order": "17" },
    });
    const source = String(first?.rendered.source);
    expect(source).toContain("Subject: Your order\r\n");
    expect(source).toContain("X-Order: 17\r\n");
    expect(source).not.toContain("eve@example.com");
    expect(first?.rendered).not.toHaveProperty("truncated");
  });

  test("that is large is kept cut, and says so", async () => {
    const { simulator, memory } = openSimulator("email");
    const message = email(["ann@example.com"]);
    const bodyText = "All work and no play. ".repeat(20_000);
    await simulator.send({ ...message, content: { ...message.content, bodyText } }, never);
    const rendered = memory.entries()[0]?.rendered;
    expect(rendered?.truncated).toEqual(["body_text", "source"]);
    expect(String(rendered?.source)).toHaveLength(256 * 1024);
    expect(String(rendered?.body_text)).toHaveLength(256 * 1024);
  });

  test("whose headers are large is kept with the first 64 KiB of them, and says so", async () => {
    const { simulator, memory } = openSimulator("email");
    const message = email(["ann@example.com"]);
    const value = "x ".repeat(15_000);
    const headers = { "X-A": value, "X-B": value, "X-C": value, "X-D": value };
    await simulator.send({ ...message, content: { ...message.content, headers } }, never);
    const rendered = memory.entries()[0]?.rendered;
    expect(rendered?.truncated).toEqual(["headers"]);
    const kept = rendered?.headers as Record<string, string>;
    expect([kept["X-A"], kept["X-B"]]).toEqual([value, value]);
    expect(Object.entries(kept).flat().join("").length).toBeLessThanOrEqual(64 * 1024);
  });

  test("whose headers end just where those that are kept do is kept whole, and one that is empty is missed as others are", async () => {
    const { simulator, memory } = openSimulator("email");
    const message = email(["ann@example.com"]);
    const fits = { "X-A": "x ".repeat(32_765), "X-B": "" };
    const given = [fits, { ...fits, "X-C": "" }];
    for (const headers of given)
      await simulator.send({ ...message, content: { ...message.content, headers } }, never);
    const [whole, cut] = memory.entries().map(({ rendered }) => rendered);
    expect([whole?.headers, whole?.truncated]).toEqual([fits, undefined]);
    expect([cut?.headers, cut?.truncated]).toEqual([fits, ["headers"]]);
  });

  test("that cannot be composed is rejected, as over SMTP", async () => {
    const { simulator } = openSimulator("email");
    const message = email(["ann@example.com"]);
    const forged = { ...message.content, subject: "Hi\r\nBcc: eve@example.com" };
    const { parts } = await simulator.send({ ...message, content: forged }, never);
    expect(parts).toMatchObject([{ kind: "rejected", error: { code: "smtp.invalid_message" } }]);
  });
});
