/** A relay takes an email, and gives it back later. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { admin } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { exchangeNdr, outOfOffice, postfixDsn, qmailText } from "../fakes/bounce-mails.ts";
import { internationalDsn } from "../fakes/worded-reports.ts";
import { type LiveEmail, startLiveEmail } from "../live-email.ts";

onBothStores(() => {
  let live: LiveEmail;

  beforeEach(async () => {
    live = await startLiveEmail();
  });

  afterEach(() => live.close());

  test("an alias that still reaches somebody has bounced, and may be written to again", async () => {
    const message = await live.send(["all"]);
    const gone = "Final-Recipient: rfc822; left@example.net\r\nAction: failed\r\nStatus: 5.1.1\r\n\r\n";
    const reached = postfixDsn({ recipient: "all@example.net", action: "delivered", status: "2.0.0" });
    const report = reached.replace("Final-Recipient:", `${gone}Final-Recipient:`);
    expect(await live.back(message.returnPath(0), report)).toStartWith("250");
    expect(await live.postrider.status(message)).toBe("bounced");
    expect(await live.suppressions()).toEqual([]);
  });

  test("name servers that do not answer take no domain's return path away", async () => {
    const { data } = await admin<{ data: { domain_id: string }[] }>(live.postrider, "/domains");
    live.dns.failing.add("bounce.acme.example");
    const shown = await admin(live.postrider, `/domains/${data[0]?.domain_id}/verify`, {});
    expect(JSON.stringify(shown)).toContain("DNS could not be asked");
    await live.postrider.pass(2_100);
    const message = await live.send(["ann"]);
    expect(message.returnPath(0)).toMatch(/^b-[a-z0-9]+@bounce\.acme\.example$/);
  });

  test("a recipient whose mail comes back has bounced, and is not written to again", async () => {
    const message = await live.send(["ann", "bob"]);
    expect(await live.postrider.status(message)).toBe("sent");
    expect(await live.back(message.returnPath(1), postfixDsn({ recipient: "bob@example.net" }))).toStartWith(
      "250",
    );
    expect(await live.postrider.status(message)).toBe("bounced");
    const events = (await live.timeline(message)).filter(
      ({ kind, recipient }) => kind === "status" && recipient,
    );
    expect(events.map(({ status, recipient }) => [status, recipient])).toEqual([
      ["sent", "ann@example.net"],
      ["sent", "bob@example.net"],
      ["bounced", "bob@example.net"],
    ]);
    expect(events.at(-1)).toMatchObject({ error: { code: "5.1.1" } });
    expect(await live.suppressions()).toMatchObject([
      { email: "bob@example.net", reason: "hard_bounce", source: message.id },
    ]);
    await live.postrider.pass(1_100);
    const next = await live.send(["ann", "bob"]);
    expect(live.relay.received.at(-1)?.to).toEqual(["ann@example.net"]);
    expect(
      (await live.timeline(next)).find(({ recipient }) => recipient === "bob@example.net"),
    ).toMatchObject({
      status: "failed",
      error: { code: "suppressed" },
    });
  });

  test("what the report says of a recipient moves nobody but the one whose return path it came to", async () => {
    const message = await live.send(["ann", "bob"]);
    await live.back(message.returnPath(0), exchangeNdr({ recipient: "bob@example.net" }));
    const bounced = (await live.timeline(message)).filter(
      ({ kind, status }) => `${kind}:${status}` === "status:bounced",
    );
    expect(bounced).toMatchObject([{ recipient: "ann@example.net" }]);
    // The one whose mail came to somebody else may lead to others, too.
    expect(await live.suppressions()).toEqual([]);
    await live.back(message.returnPath(0), exchangeNdr({ recipient: "ann@example.net" }));
    expect(await live.suppressions()).toMatchObject([{ email: "ann@example.net", reason: "hard_bounce" }]);
  });

  test("a report of delivery delivers; a bounce that follows it still bounces, once", async () => {
    const message = await live.send(["ann"]);
    const delivered = postfixDsn({ action: "delivered", status: "2.0.0", reply: "250 2.0.0 Ok" });
    await live.back(message.returnPath(0), delivered);
    expect(await live.postrider.status(message)).toBe("delivered");
    for (let times = 0; times < 3; times++) await live.back(message.returnPath(0).toUpperCase(), qmailText());
    expect(await live.postrider.status(message)).toBe("bounced");
    const kinds = (await live.timeline(message)).map(({ kind, status }) => `${kind}:${status}`);
    expect(kinds.filter((kind) => kind === "status:bounced")).toHaveLength(1);
  });

  test.each([{}, { unsubscribe: true }])(
    "who is named twice, in whatever spelling, gets one mail, and one report settles the message (%p)",
    async (over) => {
      await admin(live.postrider, "/settings/public_url", { value: "https://postrider.example" }, "PUT");
      await live.postrider.pass(2_100);
      const again = { cc: [{ email: "ann@EXAMPLE.net" }], bcc: [{ email: "Ann@example.net" }] };
      const message = await live.send(["ann"], { ...again, ...over });
      const delivered = postfixDsn({ action: "delivered", status: "2.0.0", reply: "250 2.0.0 Ok" });
      await live.back(message.returnPath(0), delivered);
      expect(await live.postrider.status(message)).toBe("delivered");
      expect(live.relay.received.map(({ to }) => to)).toEqual([["ann@example.net"]]);
      const events = (await live.timeline(message)).filter(({ kind }) => kind === "status");
      expect(events.map(({ status, recipient }) => [status, recipient])).toEqual([
        ["sent", "ann@example.net"],
        ["delivered", "ann@example.net"],
      ]);
    },
  );

  test("an international address that is gone is not written to again, and the reason can be read", async () => {
    const recipient = "用户@example.net";
    const message = await live.send(["用户"]);
    const report = internationalDsn({ recipient, reply: "550 5.1.1 用户不存在" });
    expect(await live.back(message.returnPath(0), report)).toStartWith("250");
    expect((await live.timeline(message)).at(-1)).toMatchObject({
      status: "bounced",
      recipient,
      error: { code: "5.1.1", message: "550 5.1.1 用户不存在" },
    });
    expect(await live.suppressions()).toMatchObject([{ email: recipient, reason: "hard_bounce" }]);
  });

  test("an answer that nobody wrote is taken and moves nothing", async () => {
    const message = await live.send(["ann"]);
    const before = await live.timeline(message);
    expect(await live.back(message.returnPath(0), outOfOffice())).toStartWith("250");
    expect(await live.timeline(message)).toEqual(before);
  });

  test("a bounce of a message that is gone is taken, counted and not kept", async () => {
    const gone = live.keys.returnPaths.address({
      messageId: "01997c6e-0000-7000-8000-000000000000",
      part: 0,
      host: "bounces.acme.example",
    });
    expect(await live.back(gone, postfixDsn())).toStartWith("250");
    const metrics = await (await fetch(`${live.postrider.url}/metrics`)).text();
    expect(metrics).toContain('postrider_return_mail_total{kind="unknown_message"} 1');
    expect(metrics).toContain("postrider_receipts_parked 0");
  });

  test("no address stands in the log of a bounce", async () => {
    const message = await live.send(["ann"]);
    await live.back(message.returnPath(0), postfixDsn());
    const line = live.postrider.logged.find(({ msg }) => msg === "a mail came back");
    expect(line).toMatchObject({
      kind: "dsn",
      results: ["applied"],
      message_ids: [message.id],
      code: "5.1.1",
    });
    expect(JSON.stringify(live.postrider.logged)).not.toContain("ann@example.net");
  });
});
