/** A recipient calls an email unwanted, and their provider says so. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { admin, send } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { feedbackReport, reencoded } from "../fakes/bounce-mails.ts";
import { type LiveEmail, startLiveEmail } from "../live-email.ts";

onBothStores(() => {
  const HOUR_MS = 3_600_000;

  let live: LiveEmail;

  beforeEach(async () => {
    live = await startLiveEmail();
  });

  afterEach(() => live.close());

  test("a complaint that a relay has encoded anew on its way is understood, by return path or unsubscribe link", async () => {
    const names = ["ann", "bob", "cy", "di", "eva"];
    const message = await live.send(names);
    const linkOf = (name: string) =>
      live.keys.unsubscribes.seal({
        accountId: live.account.accountId,
        messageId: message.id,
        email: `${name}@example.net`,
      });
    const byLink = (name: string) =>
      feedbackReport({
        returnPath: "<redacted>",
        quoted: `List-Unsubscribe: <https://acme.example/unsubscribe/${linkOf(name)}>\r\n\r\n`,
      });
    const inWords = (value: string) =>
      (value.match(/.{1,40}/g) ?? [])
        .map(
          (piece) =>
            `=?us-ascii?Q?${piece.replaceAll(/[^A-Za-z0-9]/g, (sign) => `=${sign.charCodeAt(0).toString(16).toUpperCase()}`)}?=`,
        )
        .join("\r\n ");
    const reports = [
      byLink("eva").replace(/<https:.*>/, inWords),
      reencoded(feedbackReport({ returnPath: message.returnPath(0) }), "base64"),
      reencoded(feedbackReport({ returnPath: message.returnPath(1) }), "quoted-printable"),
      reencoded(byLink("cy"), "base64"),
      reencoded(byLink("di"), "quoted-printable"),
    ];
    for (const report of reports)
      expect(await live.back("abuse@bounces.acme.example", report)).toStartWith("250");
    const found = await live.suppressions();
    expect(found.map(({ email }) => email).toSorted()).toEqual(names.map((name) => `${name}@example.net`));
    expect(found.every(({ reason }) => reason === "complaint")).toBe(true);
  });

  test("a complaint that a feedback loop sends to abuse suppresses the recipient, whose name it does not tell", async () => {
    const message = await live.send(["ann", "bob"]);
    const report = feedbackReport({ returnPath: message.returnPath(1) });
    expect(report).not.toContain("bob@");
    expect(await live.back("abuse@bounces.acme.example", report)).toStartWith("250");
    expect(await live.suppressions()).toMatchObject([
      { email: "bob@example.net", reason: "complaint", source: message.id },
    ]);
    expect(await live.postrider.status(message)).toBe("sent");
    expect((await live.timeline(message)).at(-1)).toMatchObject({
      kind: "receipt",
      recipient: "bob@example.net",
      detail: { receipt_status: "complained", raw: "feedback abuse" },
    });
  });

  test("a complaint about a return path that somebody made up suppresses nobody", async () => {
    await live.send(["ann"]);
    const report = feedbackReport({ returnPath: `b-${"a".repeat(40)}@bounces.acme.example` });
    expect(await live.back("abuse@bounces.acme.example", report)).toStartWith("250");
    expect(await live.suppressions()).toEqual([]);
  });

  test("a message that was accepted before the complaint and goes out after it leaves the recipient out", async () => {
    const earlier = await live.send(["bob"]);
    const { apiKey } = live.account;
    const { body } = await send(live.postrider, {
      apiKey,
      path: "/v1/emails/messages",
      body: {
        from: { email: "hello@acme.example" },
        to: [{ email: "ann@example.net" }, { email: "Bob@example.net" }],
        subject: "News",
        body_text: "All is well.",
        schedule_at: new Date(live.postrider.now() + HOUR_MS).toISOString(),
      },
    });
    await live.back("abuse@bounces.acme.example", feedbackReport({ returnPath: earlier.returnPath(0) }));
    live.postrider.leap(HOUR_MS);
    const later = { path: `/v1/emails/messages/${body.message_id}`, apiKey };
    expect(await live.postrider.reached(later, "sent", "failed")).toBe("sent");
    expect(live.relay.received.slice(1).map(({ to }) => to)).toEqual([["ann@example.net"]]);
    const bob = (await live.timeline(later)).filter(({ recipient }) => recipient === "Bob@example.net");
    expect(bob).toMatchObject([{ status: "failed", error: { code: "suppressed" } }]);
  });

  test("once released, the address is written to again", async () => {
    const message = await live.send(["ann"]);
    await live.back(message.returnPath(0), feedbackReport());
    const [entry] = await live.suppressions();
    expect(entry).toMatchObject({ email: "ann@example.net" });
    await admin(live.postrider, `/suppressions/${entry?.id}`, undefined, "DELETE");
    await live.send(["ann"]);
    expect(live.relay.received).toHaveLength(2);
  });
});
