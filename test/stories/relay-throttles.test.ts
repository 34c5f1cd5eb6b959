/** A relay that takes so many mails a second and answers the rest with 454, as Amazon SES does. */
import { expect, test } from "bun:test";
import { onBothStores } from "../both-stores.ts";
import { startLiveEmail } from "../live-email.ts";

const PER_SECOND = 5;
const MAILS = 40;

onBothStores(() => {
  test("mails beyond a relay's rate go out at that rate, and not after the waits of a failed attempt", async () => {
    const { postrider, relay, ask, timeline, account, close } = await startLiveEmail({ max_connections: 10 });
    const taken = new Map<number, number>();
    Object.defineProperty(relay.dial, "message", {
      get() {
        const second = Math.floor(postrider.now() / 1_000);
        taken.set(second, (taken.get(second) ?? 0) + 1);
        const isOver = (taken.get(second) ?? 0) > PER_SECOND;
        return isOver ? { code: 454, text: "Throttling failure: Maximum sending rate exceeded." } : undefined;
      },
    });
    const asked = await Promise.all(Array.from({ length: MAILS }, (_, index) => ask([`ann${index}`])));
    expect(asked.map(({ status }) => status)).toEqual(asked.map(() => 202));
    const halfMs = await postrider.passUntil(() => relay.received.length >= MAILS / 2, 48 * 3_600_000);
    // The waits of failed attempts take minutes. On a busy machine the last ones may take as long, since time leaps meanwhile.
    expect(halfMs).toBeLessThan(120_000);
    await postrider.passUntil(() => relay.received.length === MAILS, 48 * 3_600_000);
    const paths = asked.map(({ body }) => `/v1/emails/messages/${body.message_id}`);
    const entries = await Promise.all(paths.map((path) => timeline({ path, apiKey: account.apiKey })));
    const throttled = entries.flat().filter(({ error }) => error?.code === "smtp.454");
    expect(throttled.length).toBeGreaterThan(0);
    await close();
  });
});
