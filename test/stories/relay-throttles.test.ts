/** A relay that takes so many mails a second and answers the rest with 454, as Amazon SES does. */
import { expect, test } from "bun:test";
import { onBothStores } from "../both-stores.ts";
import { startLiveEmail } from "../live-email.ts";

const PER_SECOND = 5;
const MAILS = 40;

const STEP_MS = 100;
/** Waits as after a failed attempt would take 7 to 39 minutes. */
const LONGEST_MS = 180_000;

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
    // In steps that do not grow, and each with an answer over a socket: time is not to leap while mails are under way.
    for (let pastMs = 0; relay.received.length < MAILS && pastMs < LONGEST_MS; pastMs += STEP_MS) {
      await fetch(`${postrider.url}/healthz`);
      await postrider.pass(STEP_MS);
    }
    expect(relay.received).toHaveLength(MAILS);
    const paths = asked.map(({ body }) => `/v1/emails/messages/${body.message_id}`);
    const entries = await Promise.all(paths.map((path) => timeline({ path, apiKey: account.apiKey })));
    const throttled = entries.flat().filter(({ error }) => error?.code === "smtp.454");
    expect(throttled.length).toBeGreaterThan(0);
    await close();
  });
});
