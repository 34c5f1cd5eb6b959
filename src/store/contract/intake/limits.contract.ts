import { expect, test } from "bun:test";
import type { AcceptResult } from "../../../core/messages/accept-request.ts";
import type { SendingLimits } from "../../../core/messages/sending-limits.ts";
import { HOUR, inWorld, type OpenStore, SMS, type World } from "../world.contract.ts";

const A = "+919812345678";
const B = "+919812345679";

export function limitsContract(open: OpenStore): void {
  test(
    "a day's messages are counted in the transaction that takes them, and a batch is taken whole or not at all",
    inWorld(open, async (world) => {
      const limits = { daily_message_limit: 3 };
      expect(await accept(world, limits, [A, B])).toEqual({ kind: "accepted" });
      expect(await accept(world, limits, [A, B])).toEqual({
        kind: "over_limit",
        refusal: {
          limit: "daily_message_limit",
          allowed: 3,
          used: 2,
          asked: { whole: 2, each: 1 },
          until: Date.UTC(2026, 0, 16),
        },
      });
      expect(await accept(world, limits, [A])).toEqual({ kind: "accepted" });
      expect(await accept(world, limits, [A])).toMatchObject({ kind: "over_limit" });
      expect(await world.claim(10)).toHaveLength(3);
      world.clock.now += 12 * HOUR;
      expect(await accept(world, limits, [A])).toEqual({ kind: "accepted" });
    }),
  );

  test(
    "segments count as often as there are, and an account without a limit is not counted",
    inWorld(open, async (world) => {
      const limits = { daily_segment_limit: 5 };
      expect(await accept(world, {}, [A, B])).toEqual({ kind: "accepted" });
      expect(await accept(world, limits, [A, B], { segments: 3 })).toMatchObject({
        refusal: { limit: "daily_segment_limit", used: 0, asked: { whole: 6, each: 3 } },
      });
      expect(await accept(world, limits, [A], { segments: 3 })).toEqual({ kind: "accepted" });
      expect(await accept(world, limits, [A], { segments: 3 })).toMatchObject({
        refusal: { limit: "daily_segment_limit", used: 3, asked: { whole: 3, each: 3 } },
      });
      expect(await accept(world, limits, [A, B], { segments: 1 })).toEqual({ kind: "accepted" });
      expect(await accept(world, limits, [A], { segments: 1 })).toMatchObject({ refusal: { used: 5 } });
    }),
  );

  test(
    "a recipient's limit is of the hour and of the day, and names who is at it",
    inWorld(open, async (world) => {
      const limits = { recipient_hourly_limit: 1, recipient_daily_limit: 2 };
      expect(await accept(world, limits, [A, B, B])).toMatchObject({
        refusal: { limit: "recipient_hourly_limit", allowed: 1, recipients: [B] },
      });
      expect(await accept(world, limits, [A])).toEqual({ kind: "accepted" });
      expect(await accept(world, limits, [A])).toMatchObject({
        refusal: { limit: "recipient_hourly_limit", until: world.clock.now + HOUR },
      });
      world.clock.now += HOUR;
      expect(await accept(world, limits, [A, B])).toEqual({ kind: "accepted" });
      world.clock.now += HOUR;
      expect(await accept(world, limits, [A, B])).toMatchObject({
        refusal: { limit: "recipient_daily_limit", recipients: [A], until: Date.UTC(2026, 0, 16) },
      });
    }),
  );

  test(
    "requests that come at once are counted one after the other, those of another account apart",
    inWorld(open, async (world) => {
      const limits = { daily_message_limit: 3, recipient_daily_limit: 2 };
      const other = { ...world, account: await world.addAccount() };
      const to = [[A], [A], [B], [B], [A], [B]];
      const ways = [world, other].map((each) => to.map((one) => accept(each, limits, one)));
      for (const results of await Promise.all(ways.map((way) => Promise.all(way)))) {
        expect(results.map(({ kind }) => kind === "accepted")).toEqual([
          true,
          true,
          true,
          false,
          false,
          false,
        ]);
        expect(results.at(-1)).toMatchObject({ refusal: { limit: "daily_message_limit", used: 3 } });
      }
      expect(await accept(world, { recipient_daily_limit: 2 }, [A])).toMatchObject({ kind: "over_limit" });
      expect(await accept(world, { recipient_daily_limit: 2 }, [B])).toEqual({ kind: "accepted" });
    }),
  );

  test(
    "of requests that come at once before and after the full hour, or midnight, each counts where it belongs",
    inWorld(open, async (world) => {
      const limits = { recipient_hourly_limit: 1, recipient_daily_limit: 2 };
      const hours = [21, 22, 22, 23, 24, 24].map((hour) => ({ ...world, clock: { now: hourOf(hour) } }));
      const results = await Promise.all(hours.map((each) => accept(each, limits, [A])));
      const judged = results.map((result) => (result.kind === "over_limit" ? result.refusal.limit : "-"));
      expect(judged).toEqual([
        "-",
        "-",
        "recipient_daily_limit",
        "recipient_daily_limit",
        "-",
        "recipient_hourly_limit",
      ]);
    }),
  );

  test(
    "a repeat under an idempotency key is answered as before and not counted again",
    inWorld(open, async (world) => {
      const limits = { daily_message_limit: 1 };
      const idempotency = { ...world.key("k"), answer: { status: 202, body: "first" } };
      const once = () => accept(world, limits, [A], { idempotency });
      expect(await once()).toEqual({ kind: "accepted" });
      expect(await once()).toMatchObject({ kind: "replay", answer: { body: "first" } });
      const other = { ...world.key("other"), answer: { status: 202, body: "second" } };
      const second = (limit: number) =>
        accept(world, { daily_message_limit: limit }, [A], { idempotency: other });
      expect(await second(1)).toMatchObject({ kind: "over_limit" });
      expect(await second(2)).toEqual({ kind: "accepted" });
    }),
  );

  test(
    "what a limit would say of a request can be asked, and that counts nothing",
    inWorld(open, async (world) => {
      const limits = { daily_message_limit: 3, recipient_hourly_limit: 1 };
      const ask = (recipients: readonly string[], accountId = world.account.id) =>
        world.store.intake.overLimit({
          accountId,
          recipients,
          limited: { limits, now: world.clock.now, segments: 1 },
        });
      for (let times = 0; times < 5; times++) expect(await ask([A])).toBeUndefined();
      await accept(world, limits, [A]);
      expect(await ask([A, B])).toMatchObject({ limit: "recipient_hourly_limit", recipients: [A] });
      expect(await ask([B, B, B])).toMatchObject({ limit: "daily_message_limit", used: 1 });
      expect(await ask([B])).toBeUndefined();
      expect(await ask([B, B, B, B], world.id())).toBeUndefined();
    }),
  );

  test(
    "counts go after their retention",
    inWorld(open, async (world) => {
      await accept(world, { daily_message_limit: 9, recipient_daily_limit: 9 }, [A]);
      expect(await world.store.retention.pruneReceived(world.clock.now, 10)).toBe(0);
      expect(await world.store.retention.pruneReceived(world.clock.now + HOUR, 10)).toBe(2);
    }),
  );
}

/** An hour of 15 January 2026, as Unix milliseconds. */
function hourOf(hour: number): number {
  return Date.UTC(2026, 0, 15, hour);
}

interface More {
  readonly segments?: number;
  readonly idempotency?: ReturnType<World["key"]> & { answer: { status: number; body: string } };
}

function accept(
  { store, account, id, clock }: World,
  limits: SendingLimits,
  to: readonly string[],
  { segments = 1, idempotency }: More = {},
): Promise<AcceptResult> {
  return store.intake.accept({
    accountId: account.id,
    flow: "batch",
    content: SMS,
    messages: to.map((recipient) => ({
      id: id(),
      recipient,
      status: "queued",
      parts: [],
      expiresAt: clock.now + 48 * HOUR,
      jobs: [{ queue: "queue-a" }],
    })),
    ...(Object.keys(limits).length > 0 && { limited: { limits, now: clock.now, segments } }),
    ...(idempotency && { idempotency }),
  } as Parameters<typeof store.intake.accept>[0]);
}
