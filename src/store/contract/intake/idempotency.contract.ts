import { expect, test } from "bun:test";
import { DAY, inWorld, type OpenStore, QUEUE, SMS, type World } from "../world.contract.ts";

export function idempotencyContract(open: OpenStore): void {
  test(
    "a key that is taken stores nothing more and replays the first answer byte for byte",
    inWorld(open, async (world) => {
      const body = `{"to":"+91…","ünïcode":"\\u0000 \\n"}`;
      expect(await acceptWith(world, "k", { body })).toEqual({ kind: "accepted" });
      const replay = await acceptWith(world, "k", { body: "another", bodyDigest: "e".repeat(64) });
      expect(replay).toEqual({ kind: "replay", answer: { status: 202, body, bodyDigest: "d".repeat(64) } });
      expect(await world.store.intake.savedAnswer(world.key("k"))).toEqual({
        status: 202,
        body,
        bodyDigest: "d".repeat(64),
      });
      expect(await world.claim()).toHaveLength(1);
    }),
  );

  test(
    "a long answer is replayed byte for byte",
    inWorld(open, async (world) => {
      const body = JSON.stringify(
        Array.from({ length: 1_000 }, (_, index) => ({ id: world.id(), index, to: "ñ✓" })),
      );
      await acceptWith(world, "k", { body });
      expect(await world.store.intake.savedAnswer(world.key("k"))).toMatchObject({ body });
    }),
  );

  test(
    "of many requests with one key at the same time exactly one is accepted, and the others replay it",
    inWorld(open, async (world) => {
      const calls = Array.from({ length: 50 }, (_, index) =>
        acceptWith(world, "k", { body: `answer ${index}` }),
      );
      const results = await Promise.all(calls);
      expect(results.filter((result) => result.kind === "accepted")).toHaveLength(1);
      const first = results.findIndex((result) => result.kind === "accepted");
      const replay = () => ({ kind: "replay", answer: { body: `answer ${first}` } });
      expect(results.toSpliced(first, 1)).toMatchObject(Array.from({ length: calls.length - 1 }, replay));
      expect(await world.claim()).toHaveLength(1);
    }),
  );

  test(
    "who asks for the answer under a key whose request is under way waits for it",
    inWorld(open, async (world) => {
      const { intake } = world.store;
      for (const key of ["one", "two", "three"]) {
        const accepting = acceptWith(world, key, { body: key });
        const saved = await Promise.all([
          intake.savedAnswer(world.key(key)),
          intake.savedAnswer(world.key("x")),
        ]);
        expect(saved).toEqual([expect.objectContaining({ body: key }), undefined]);
        expect((await accepting).kind).toBe("accepted");
      }
    }),
  );

  test(
    "the same key in another scope is another key",
    inWorld(open, async (world) => {
      expect((await acceptWith(world, "k", { scope: "key-1 sms" })).kind).toBe("accepted");
      expect((await acceptWith(world, "k", { scope: "key-2 sms" })).kind).toBe("accepted");
      expect((await acceptWith(world, "bc", { scope: "a" })).kind).toBe("accepted");
      expect((await acceptWith(world, "c", { scope: "ab" })).kind).toBe("accepted");
    }),
  );

  test(
    "a key is new again once it has expired, and not a moment sooner",
    inWorld(open, async (world) => {
      await acceptWith(world, "k", { body: "first" });
      world.clock.now += DAY - 1;
      expect((await acceptWith(world, "k", { body: "second" })).kind).toBe("replay");
      world.clock.now += 1;
      expect(await world.store.intake.savedAnswer(world.key("k"))).toBeUndefined();
      expect((await acceptWith(world, "k", { body: "third" })).kind).toBe("accepted");
      expect(await world.store.intake.savedAnswer(world.key("k"))).toMatchObject({ body: "third" });
    }),
  );

  test(
    "expired keys are pruned, in bounded pieces, and others stay",
    inWorld(open, async (world) => {
      for (const name of ["a", "b", "c"]) await acceptWith(world, name, {});
      world.clock.now += HALF_A_DAY;
      await acceptWith(world, "d", {});
      world.clock.now += HALF_A_DAY;
      // Taken over: it is the youngest now, and stays.
      await acceptWith(world, "a", {});
      const { retention, intake } = world.store;
      expect(await retention.pruneIdempotencyKeys(world.clock.now, 1)).toBe(1);
      expect(await retention.pruneIdempotencyKeys(world.clock.now, 10)).toBe(1);
      expect(await retention.pruneIdempotencyKeys(world.clock.now, 10)).toBe(0);
      expect(await intake.savedAnswer(world.key("a"))).toBeDefined();
      expect(await intake.savedAnswer(world.key("d"))).toBeDefined();
      expect(await intake.savedAnswer({ ...world.key("b"), now: 0 })).toBeUndefined();
    }),
  );
}

const HALF_A_DAY = DAY / 2;

function acceptWith(
  world: World,
  key: string,
  over: { readonly body?: string; readonly bodyDigest?: string; readonly scope?: string },
) {
  const { body = "{}", ...rest } = over;
  return world.store.intake.accept({
    accountId: world.account.id,
    flow: "single",
    content: SMS,
    messages: [
      {
        id: world.id(),
        recipient: "+919812345678",
        status: "queued",
        parts: [],
        expiresAt: world.clock.now + DAY,
        jobs: [{ queue: QUEUE }],
      },
    ],
    idempotency: { ...world.key(key, rest), answer: { status: 202, body } },
  });
}
