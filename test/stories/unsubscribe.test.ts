/** A recipient wants no more, and says so with one click. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { admin } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { feedbackReport } from "../fakes/bounce-mails.ts";
import { type LiveEmail, startLiveEmail } from "../live-email.ts";

onBothStores(() => {
  const PUBLIC = "https://mail.acme.example";
  const DAY_MS = 24 * 3_600_000;

  let live: LiveEmail;

  beforeEach(async () => {
    live = await startLiveEmail();
    await admin(live.postrider, "/settings/public_url", { value: PUBLIC }, "PUT");
    await live.postrider.pass(2_100);
  });

  afterEach(() => live.close());

  /** The fields of each mail that the relay has, by recipient. */
  function mails() {
    return live.relay.received.map(({ to, raw }) => {
      const head = raw.slice(0, raw.indexOf("\r\n\r\n")).replace(/\r\n[ \t]+/g, " ");
      const field = (name: string) => new RegExp(`^${name}: (.*)$`, "im").exec(head)?.[1] ?? "";
      const list = field("List-Unsubscribe");
      return {
        to: to[0],
        all: to,
        head,
        post: field("List-Unsubscribe-Post"),
        link: /<(https:[^>]+)>/.exec(list)?.[1] ?? "",
        mailto: /<mailto:([^?>]+)\?subject=([^>]+)>/.exec(list)?.slice(1) ?? [],
      };
    });
  }

  /** As a mail provider posts: no key, no cookie, nothing but the form. */
  function click(link: string, method = "POST"): Promise<Response> {
    const body = method === "POST" ? new URLSearchParams({ "List-Unsubscribe": "One-Click" }) : null;
    return fetch(link.replace(PUBLIC, live.postrider.url), { method, body, redirect: "error" });
  }

  async function sendToBoth() {
    const message = await live.send(["ann", "bob"], { unsubscribe: true });
    await live.postrider.passUntil(() => mails().length === 2, 60_000);
    await live.postrider.reached(message, "sent");
    return message;
  }

  test("every recipient has a link of their own, and one click ends the mail to them and to nobody else", async () => {
    const message = await sendToBoth();
    const [ann, bob] = ["ann", "bob"].map((name) => mails().find(({ to }) => to === `${name}@example.net`)!);
    expect(ann?.post).toBe("List-Unsubscribe=One-Click");
    expect(ann?.link).not.toBe(bob?.link);
    const token = ann?.link.split("/").at(-1) ?? "";
    for (const text of [ann?.link, Buffer.from(token, "base64url").toString("latin1")]) {
      expect(text).not.toContain("ann@");
    }
    const answer = await click(ann!.link);
    expect([answer.status, answer.headers.get("Content-Type")]).toEqual([200, "text/html; charset=utf-8"]);
    await click(ann!.link);
    expect(await live.suppressions()).toMatchObject([
      { email: "ann@example.net", reason: "unsubscribe", source: message.id },
    ]);
    await live.send(["ann", "bob"]);
    expect(live.relay.received.slice(2).map(({ to }) => to)).toEqual([["bob@example.net"]]);
  });

  test("opening the link asks and does nothing; a link that was made up opens nothing", async () => {
    await sendToBoth();
    const page = await click(mails()[0]!.link, "GET");
    expect(page.status).toBe(200);
    expect(await page.text()).toContain('<form method="post">');
    expect(await live.suppressions()).toEqual([]);
    const forged = mails()[0]!.link.replace(/.$/, (last) => (last === "A" ? "Q" : "A"));
    for (const method of ["GET", "POST"]) expect((await click(forged, method)).status).toBe(404);
  });

  test("every DKIM signature covers both fields", async () => {
    await sendToBoth();
    const signed = [...mails()[0]!.head.matchAll(/^DKIM-Signature: (.*)$/gim)].map(([, value]) => value!);
    expect(signed.length).toBeGreaterThan(0);
    for (const value of signed) {
      const names = /\bh=([^;]+)/.exec(value)?.[1]?.replace(/\s/g, "").toLowerCase().split(":");
      expect(names).toContain("list-unsubscribe");
      expect(names).toContain("list-unsubscribe-post");
    }
  });

  test("a mail to the link's address does the same", async () => {
    await sendToBoth();
    const [address = "", subject = ""] = mails()[0]!.mailto;
    expect(address).toEndWith("acme.example");
    expect(await live.back(address, `From: ann@example.net\r\nSubject: ${subject}\r\n\r\n`)).toStartWith(
      "250",
    );
    expect(await live.suppressions()).toMatchObject([{ reason: "unsubscribe" }]);
  });

  test("a mail to the address alone does, too, for as long as the message is kept", async () => {
    const message = await sendToBoth();
    const ann = mails().find(({ to }) => to === "ann@example.net");
    const mail = "From: ann@example.net\r\nSubject: Stop\r\n\r\nNo more, please.\r\n";
    expect(await live.back(ann?.mailto[0] ?? "", mail)).toStartWith("250");
    expect(await live.suppressions()).toMatchObject([
      { email: "ann@example.net", reason: "unsubscribe", source: message.id },
    ]);
  });

  test("a link still works when the message is long gone", async () => {
    const message = await sendToBoth();
    live.postrider.leap(30 * DAY_MS);
    await live.postrider.pass(1_000);
    expect(await live.postrider.status(message)).toBe("404");
    expect((await click(mails()[0]!.link)).status).toBe(200);
    expect(await live.suppressions()).toHaveLength(1);
  });

  test("a complaint that comes when the message is long gone counts, by the link in the mail that it quotes", async () => {
    const messageId = "01997c6e-0000-7000-8000-000000000000";
    const returnPath = live.keys.returnPaths.address({ messageId, part: 0, host: "bounces.acme.example" });
    const wish = { accountId: live.account.accountId, messageId, email: "ann@example.net" };
    const token = live.keys.unsubscribes.seal(wish);
    const quoted = `List-Unsubscribe: <${PUBLIC}/unsubscribe/${token}>, <mailto:${returnPath}?subject=${token}>\r\n\r\n`;
    for (const type of ["not-spam", "abuse"]) {
      const report = feedbackReport({ type, returnPath, quoted });
      expect(await live.back("abuse@acme.example", report)).toStartWith("250");
    }
    expect(await live.suppressions()).toMatchObject([
      { email: "ann@example.net", reason: "complaint", source: messageId },
    ]);
    const metrics = await (await fetch(`${live.postrider.url}/metrics`)).text();
    expect(metrics).toContain('postrider_return_mail_total{kind="feedback"} 2');
  });

  test("a link of an account that a restored database does not know is taken, over HTTP and by mail", async () => {
    await sendToBoth();
    const wish = { accountId: crypto.randomUUID(), messageId: crypto.randomUUID(), email: "ann@example.net" };
    const token = live.keys.unsubscribes.seal(wish);
    const answer = await click(`${PUBLIC}/unsubscribe/${token}`);
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining("unsubscribed")]);
    const [address = ""] = mails()[0]!.mailto;
    expect(await live.back(address, `From: ann@example.net\r\nSubject: ${token}\r\n\r\n`)).toStartWith("250");
    expect(await live.suppressions()).toEqual([]);
  });

  test("a message that does not ask has no such field, and may bring its own", async () => {
    await live.send(["ann"], { headers: { "List-Unsubscribe": "<https://own.example/u>" } });
    expect(mails()[0]).toMatchObject({ link: "https://own.example/u", post: "" });
    const ask = (over: object) => live.ask(["ann"], { unsubscribe: true, ...over });
    const both = await ask({ headers: { "List-Unsubscribe": "<https://own.example/u>" } });
    expect(both).toMatchObject({
      status: 400,
      body: { details: { "headers.List-Unsubscribe": expect.anything() } },
    });
    await admin(live.postrider, "/settings/public_url", { value: "http://mail.acme.example" }, "PUT");
    await live.postrider.pass(1_100);
    expect(await ask({})).toMatchObject({
      status: 400,
      body: { details: { unsubscribe: expect.anything() } },
    });
  });
});
