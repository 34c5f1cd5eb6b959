/** Emails of the largest size go ways of their own: nobody waits for them. */
import { afterEach, expect, test } from "bun:test";
import { LARGE_BODY } from "../../src/core/email/large-body.ts";
import { send } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import type { MessageAt } from "../held-postrider.ts";
import { type LiveEmail, startLiveEmail } from "../live-email.ts";
import { until } from "../until.ts";

onBothStores(() => {
  let live: LiveEmail;

  afterEach(() => live.close());

  const TEXT = "All is well, and here is what we know of it, line for line.\n".repeat(LARGE_BODY / 50);

  async function acceptLarge(name: string, over: Readonly<Record<string, unknown>> = {}): Promise<MessageAt> {
    const { apiKey } = live.account;
    const { status, body } = await send(live.postrider, {
      apiKey,
      path: "/v1/emails/messages",
      body: {
        from: { email: "hello@acme.example" },
        to: [{ email: `${name}@example.net` }],
        subject: "News",
        body_text: TEXT,
        ...over,
      },
    });
    expect(status).toBe(202);
    return { path: `/v1/emails/messages/${body.message_id}`, apiKey };
  }

  const received = () => live.relay.received.map(({ to }) => to[0]?.split("@")[0]);

  test("while a relay holds large messages open, small ones go out over the same connector, and then the large ones do", async () => {
    live = await startLiveEmail({ max_connections: 5 });
    const held = Promise.withResolvers<void>();
    live.relay.dial.holdMessage = held.promise;
    live.relay.dial.holdFrom = LARGE_BODY;
    const names = ["l1", "l2", "l3", "l4", "l5", "l6", "l7"];
    const large = await Promise.all(names.map((name) => acceptLarge(name)));
    for (const name of ["s1", "s2", "s3"]) await live.send([name]);
    expect(received()).toEqual(["s1", "s2", "s3"]);
    held.resolve();
    for (const message of large) await live.postrider.reached(message, "sent");
    expect(received().slice(3).sort()).toEqual(names);
  });

  test("a large text and HTML arrive as they were sent, signed", async () => {
    live = await startLiveEmail();
    const body_text = `x${"\u{1f4e6} Paket\n".repeat(LARGE_BODY / 8)}`;
    const body_html = `<p>${"ä ".repeat(LARGE_BODY)}</p>`;
    const message = await acceptLarge("ann", { body_text, body_html });
    // In real time: the thread that composes it starts in no held time, and limits would pass meanwhile.
    await until(() => received().length > 0);
    await live.postrider.reached(message, "sent");
    const { parsed } = await live.relay.mail(0);
    expect(parsed.text?.replaceAll("\r\n", "\n").trim() === body_text.trim()).toBe(true);
    expect(parsed.html?.trim() === body_html.trim()).toBe(true);
    expect(parsed.headers.filter(({ key }) => key === "dkim-signature")).toHaveLength(2);
  });
});
