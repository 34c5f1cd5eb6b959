/** Straight to the recipient's own mail host: what it answers is what becomes of each recipient. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { dkimVerify } from "mailauth/lib/dkim/verify";
import { admin } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { type FakeSmtp, startFakeSmtp } from "../fakes/fake-smtp.ts";
import { type LiveMx, startLiveMx } from "../live-mx.ts";

onBothStores(() => {
  let smtp: FakeSmtp;
  let mx: LiveMx;

  beforeEach(async () => {
    smtp = await startFakeSmtp();
    mx = await startLiveMx(smtp.port);
  });

  afterEach(async () => {
    await smtp.close();
    await mx.close();
  });

  test("what the recipient's own host takes is delivered, signed with both keys that the DNS holds", async () => {
    const message = await mx.send("ann", "bob");
    expect(await mx.end(message)).toBe("delivered");
    expect(await mx.recipients(message)).toEqual({ ann: "delivered", bob: "delivered" });
    const mail = await smtp.mail(0);
    expect(mail.to).toEqual(["ann@example.net", "bob@example.net"]);
    const resolver = async (name: string) => [[mx.dns.txt.get(name) ?? ""]];
    const { results } = await dkimVerify(mail.raw.replaceAll(/\r?\n/g, "\r\n"), { resolver });
    expect(results.map(({ status }) => status.result)).toEqual(["pass", "pass"]);
  });

  test("a recipient that the host refuses has bounced, and the others are delivered", async () => {
    smtp.dial.rcpt = { "bob@example.net": { code: 550, text: "5.1.1 no such user" } };
    const message = await mx.send("ann", "bob");
    expect(await mx.end(message)).toBe("bounced");
    expect(await mx.recipients(message)).toEqual({ ann: "delivered", bob: "bounced" });
  });

  test("a mailbox that the host finds missing or full only after DATA has bounced, and the missing one is suppressed", async () => {
    const list = () => admin<{ data: { email: string; reason: string }[] }>(mx.postrider, "/suppressions");
    smtp.dial.message = { code: 552, text: "5.2.2 mailbox full" };
    expect(await mx.end(await mx.send("ann"))).toBe("bounced");
    smtp.dial.message = { code: 550, text: "5.7.1 looks like spam" };
    expect(await mx.end(await mx.send("bob"))).toBe("failed");
    expect((await list()).data).toEqual([]);
    smtp.dial.message = { code: 550, text: "5.1.1 no such user" };
    expect(await mx.end(await mx.send("cid"))).toBe("bounced");
    expect((await list()).data).toMatchObject([{ email: "cid@example.net", reason: "hard_bounce" }]);
  });

  test("nobody is suppressed because hosts refuse the sender's name or relaying, but whom Yahoo does not know is", async () => {
    smtp.dial.rcpt = {
      "ann@example.net": { code: 550, text: "Access denied - Invalid HELO name (See RFC2821 4.1.1.1)" },
      "bob@example.net": { code: 553, text: "that domain isn't in my list of allowed rcpthosts (#5.7.1)" },
      "cid@example.net": { code: 550, text: "Mailbox is full" },
    };
    expect(await mx.end(await mx.send("ann", "bob", "cid"))).toBe("bounced");
    smtp.dial.message = {
      code: 554,
      text: "30 Sorry, your message cannot be delivered. This mailbox is disabled.",
    };
    expect(await mx.end(await mx.send("dan"))).toBe("bounced");
    const { data } = await admin<{ data: { email: string }[] }>(mx.postrider, "/suppressions");
    expect(data).toMatchObject([{ email: "dan@example.net", reason: "hard_bounce" }]);
  });

  test("the timeline tells why a recipient is waited for, also where another was refused", async () => {
    smtp.dial.rcpt = {
      "bob@example.net": { code: 550, text: "5.1.1 no such user" },
      "cid@example.net": { code: 451, text: "4.7.1 greylisted" },
    };
    const message = await mx.send("ann", "bob", "cid");
    expect(await mx.firstError(message)).toBe("4.7.1");
    const bounced = (await mx.timeline(message)).find(({ status }) => status === "bounced");
    expect(bounced).toMatchObject({ recipient: "bob@example.net", error: { code: "5.1.1" } });
  });

  test("a greylisting host is asked again within five minutes, and the message is delivered once", async () => {
    smtp.dial.rcpt = { "*": { code: 451, text: "4.7.1 greylisted, come back in a minute" } };
    const message = await mx.send("ann");
    expect(await mx.firstError(message)).toBe("4.7.1");
    expect(smtp.received).toHaveLength(0);
    delete smtp.dial.rcpt;
    expect(await mx.end(message, 300_000)).toBe("delivered");
    expect(smtp.received).toHaveLength(1);
  });

  test("while a host takes no mail from us, others to it wait for seconds, which is no attempt", async () => {
    smtp.dial.mail = { code: 421, text: "4.7.0 Try again later, closing connection." };
    const first = await mx.send("ann");
    expect(await mx.firstError(first)).toBe("4.7.0");
    delete smtp.dial.mail;
    const second = await mx.send("bob");
    expect(await mx.firstError(second)).toBe("mx.resting");
    expect(smtp.received).toEqual([]);
    // The rest is not over because the machine's clock was set forward.
    expect(await mx.postrider.reached({ ...second, withinMs: 30_000 }, "delivered")).toBe("delivered");
    expect(await mx.end(first, 60_000)).toBe("delivered");
    expect(smtp.received.map(({ to }) => to)).toEqual([["bob@example.net"], ["ann@example.net"]]);
  });

  test("each domain of a message goes to its own hosts, and one that is down holds up no other", async () => {
    mx.dns.mx.set("down.example", ["10 mx.down.example"]);
    mx.dns.a.set("mx.down.example", ["127.0.0.9"]);
    const message = await mx.send("ann", "bob@down.example");
    expect(await mx.firstError(message)).toBe("4.4.1");
    expect(await mx.recipients(message)).toEqual({ ann: "delivered" });
    expect(await mx.postrider.status(message)).toBe("queued");
    mx.dns.a.set("mx.down.example", ["127.0.0.1"]);
    expect(await mx.end(message, 600_000)).toBe("delivered");
    expect(smtp.received.map(({ to }) => to)).toEqual([["ann@example.net"], ["bob@down.example"]]);
  });

  test("connections are used again, and closed when nothing is left to do", async () => {
    for (const name of ["ann", "bob", "cid"]) expect(await mx.end(await mx.send(name))).toBe("delivered");
    expect(smtp.connections()).toBe(1);
    await mx.postrider.pass(11_000);
    await smtp.openConnections(0);
  });

  test("hosts that put mail off do not count against the connector: it speaks to many others", async () => {
    smtp.dial.rcpt = { "*": { code: 451, text: "4.3.0 later" } };
    for (const name of ["a", "b", "c", "d", "e", "f"]) await mx.firstError(await mx.send(name));
    const { data } = await admin<{ data: { status: { health?: { score: number } } }[] }>(
      mx.postrider,
      "/connectors",
    );
    expect(data[0]?.status.health).toMatchObject({ score: 1 });
  });
});
