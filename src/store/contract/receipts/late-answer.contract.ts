import { expect, test } from "bun:test";
import type { LateAnswer } from "../../../core/receipts/late-answer.ts";
import { partReference } from "../../../core/receipts/short-reference.ts";
import {
  CONNECTOR,
  inWorld,
  type OpenStore,
  SECOND,
  sent,
  unconfirmed,
  type World,
} from "../world.contract.ts";

function answer(world: World, messageId: string, over: Partial<LateAnswer> = {}): Promise<void> {
  const late = { connectorId: CONNECTOR, messageId, part: 0, parts: 1, providerMessageIds: ["late-1"] };
  return world.store.receipts.recordLateAnswer({ ...late, ...over }, world.clock.now);
}

/** Every job that becomes ready within a minute. */
async function laterJobs({ clock, store, claim }: World) {
  clock.now += 60 * SECOND;
  await store.queue.stage(clock.now, 10);
  return claim();
}

const again = (now: number) => ({ kind: "again", dueAt: now + SECOND }) as const;

export function lateAnswerContract(open: OpenStore): void {
  test(
    "a part that was unconfirmed has been sent, its retry is cancelled, and its receipt matches",
    inWorld(open, async (world) => {
      const { sms, claimOne, settle, clock, receive, status, history, inside } = world;
      const [id = ""] = await sms();
      await settle(await claimOne(), { outcomes: [unconfirmed()], next: again(clock.now) });
      expect(await inside.hasBody(id)).toBe(true);
      const size = { segments: 1, encoding: "gsm7" };
      await answer(world, id, { detail: size });
      expect(await status(id)).toBe("sent");
      expect(await inside.hasBody(id)).toBe(false);
      expect(await laterJobs(world)).toEqual([]);
      await receive("late-1");
      expect(await history(id)).toEqual(["attempt:queued", "late_answer:sent", "receipt:delivered"]);
      const timeline = await world.store.messages.timeline({
        accountId: world.account.id,
        channel: "sms",
        id,
      });
      expect(timeline?.[1]).toMatchObject({ eventType: "sms.sent", detail: size });
    }),
  );

  test(
    "a failure that came before its id is kept while an attempt is under way, also where the answer before was the only entry",
    inWorld(open, async (world) => {
      const { sms, claimOne, settle, receive, status } = world;
      await receive("0A", { status: "failed" });
      const [id = ""] = await sms();
      const job = await claimOne();
      // One id, in two forms.
      await answer(world, id, { providerMessageIds: ["10"] });
      await answer(world, id, { providerMessageIds: ["0A"] });
      expect(await status(id)).toBe("sent");
      await settle(job, { outcomes: [sent("11")] });
      await receive("11");
      expect(await status(id)).toBe("delivered");
    }),
  );

  test(
    "an account that keeps bodies keeps that of a message which a receipt proves sent, before its attempt is given up and after",
    inWorld(open, async (world) => {
      const { store, account, sms, claimOne, settle, clock, receive, status, inside } = world;
      await store.records.setSettings(account.id, { keep_bodies: "true" });
      for (const isBefore of [true, false]) {
        const [id = ""] = await sms();
        const job = await claimOne();
        const steps = [
          () => receive(`x-${id}`, { reference: partReference(id, 0), recipient: "+919812345678" }),
          () => settle(job, { outcomes: [unconfirmed()], next: again(clock.now), keepsContent: true }),
        ];
        for (const step of isBefore ? steps : steps.reverse()) await step();
        expect(await status(id)).toBe("delivered");
        expect(await inside.hasBody(id)).toBe(true);
      }
    }),
  );

  test(
    "a held message has been sent likewise",
    inWorld(open, async (world) => {
      const { sms, claimOne, settle, clock, status } = world;
      const [id = ""] = await sms();
      const next = { kind: "held", dueAt: clock.now + SECOND } as const;
      await settle(await claimOne(), { outcomes: [unconfirmed()], next });
      await answer(world, id);
      expect(await status(id)).toBe("sent");
      expect(await laterJobs(world)).toEqual([]);
    }),
  );

  test(
    "where another part is still open, only that one is tried again, to be joined as the one that was sent",
    inWorld(open, async (world) => {
      const { sms, claimOne, settle, clock, status } = world;
      const [id = ""] = await sms();
      await settle(await claimOne(), { outcomes: [unconfirmed(), unconfirmed()], next: again(clock.now) });
      await answer(world, id, { part: 1, parts: 2, joinedBy: "sar" });
      expect(await status(id)).toBe("queued");
      const [job] = await laterJobs(world);
      expect(job?.progress.parts).toMatchObject([
        { status: "unconfirmed" },
        { status: "sent", providerMessageId: "late-1", connectorId: CONNECTOR, joinedBy: "sar" },
      ]);
    }),
  );

  test(
    "told twice, it tells of one copy, whose failure is the message's",
    inWorld(open, async (world) => {
      const { sms, claimOne, settle, clock, receive, status } = world;
      const [id = ""] = await sms();
      await settle(await claimOne(), { outcomes: [unconfirmed()], next: again(clock.now) });
      for (let told = 0; told < 2; told++) await answer(world, id);
      await receive("late-1", { status: "undelivered" });
      expect(await status(id)).toBe("undelivered");
    }),
  );

  test(
    "a part whose receipt has come stays delivered if the answer comes once more, and the message is once the others are",
    inWorld(open, async (world) => {
      const { sms, claimOne, settle, clock, receive, status } = world;
      const [id = ""] = await sms();
      await settle(await claimOne(), { outcomes: [unconfirmed(), unconfirmed()], next: again(clock.now) });
      await answer(world, id, { parts: 2 });
      await receive("late-1");
      await answer(world, id, { parts: 2 });
      await answer(world, id, { part: 1, parts: 2, providerMessageIds: ["late-2"] });
      expect(await status(id)).toBe("sent");
      await receive("late-2");
      expect(await status(id)).toBe("delivered");
    }),
  );

  test(
    "a part that was sent again meanwhile stays as it is, and the receipts of both match",
    inWorld(open, async (world) => {
      const { sms, claimOne, settle, clock, receive, status } = world;
      const [id = ""] = await sms();
      await settle(await claimOne(), { outcomes: [unconfirmed()], next: again(clock.now) });
      const [job] = await laterJobs(world);
      await settle(job!, { outcomes: [sent("second")] });
      await answer(world, id);
      expect((await world.message(id)).progress.parts).toMatchObject([{ providerMessageId: "second" }]);
      expect(await receive("late-1")).toMatchObject([{ kind: "applied", messageId: id }]);
      expect(await receive("second")).toMatchObject([{ kind: "late", messageId: id }]);
      expect(await status(id)).toBe("delivered");
    }),
  );

  test(
    "while it is being sent again, the answer holds, whatever becomes of that",
    inWorld(open, async (world) => {
      const { sms, claimOne, settle, clock, status } = world;
      const [id = ""] = await sms();
      await settle(await claimOne(), { outcomes: [unconfirmed()], next: again(clock.now) });
      const [job] = await laterJobs(world);
      await answer(world, id);
      expect(await status(id)).toBe("sent");
      expect(await settle(job!, { outcomes: [unconfirmed()], next: again(clock.now) })).toBe(true);
      expect(await status(id)).toBe("sent");
      expect(await laterJobs(world)).toEqual([]);
    }),
  );

  test(
    "an answer that comes before the attempt it is late for has been settled holds too",
    inWorld(open, async (world) => {
      const { sms, claimOne, settle, clock, status } = world;
      const [id = ""] = await sms();
      const job = await claimOne();
      await answer(world, id, { parts: 2 });
      expect(await status(id)).toBe("sending");
      await settle(job, { outcomes: [unconfirmed(), sent("other")], next: again(clock.now) });
      expect(await status(id)).toBe("sent");
      expect(await laterJobs(world)).toEqual([]);
    }),
  );

  test(
    "a receipt that came before the late answer is applied with it",
    inWorld(open, async (world) => {
      const { sms, claimOne, settle, clock, receive, status, store } = world;
      const [id = ""] = await sms();
      await settle(await claimOne(), { outcomes: [unconfirmed()], next: again(clock.now) });
      expect(await receive("late-1")).toEqual([{ kind: "parked" }]);
      await answer(world, id);
      expect(await status(id)).toBe("delivered");
      expect(await store.receipts.countParked()).toBe(0);
    }),
  );

  test(
    "a final state holds, and an answer for a message that is gone is nothing",
    inWorld(open, async (world) => {
      const { sms, claimOne, settle, status, history } = world;
      const [id = ""] = await sms();
      await settle(await claimOne(), {
        outcomes: [unconfirmed()],
        next: { kind: "done", end: "window_over" },
      });
      await answer(world, id);
      expect(await status(id)).toBe("failed");
      expect(await history(id)).toEqual(["attempt:failed", "late_answer:failed"]);
      await answer(world, world.id());
    }),
  );
}
