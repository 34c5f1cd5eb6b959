import { expect, test } from "bun:test";
import { ERASED_WORDS } from "../../../core/messages/erased-words.ts";
import { ERASED_ADDRESS } from "../../../core/messages/erasure.ts";
import { inWorld, type OpenStore, type World } from "../world.contract.ts";

const ADDRESS = "asha@x.test";

/** What is left, once one recipient of an email to several was erased, of what mail hosts said. */
export function erasedWordsContract(open: OpenStore): void {
  test(
    "what was said about the recipient of an email to several goes, however it names them, and what was said about others stays",
    inWorld(open, async (world) => {
      const parts = [ADDRESS, "ravi@x.test"].map((address) => ({ status: "pending", address }) as const);
      const id = await world.email({ parts, jobs: [{ queue: "queue-a" }] });
      const refused = (message: string) =>
        ({ kind: "rejected", bounced: true, error: { code: "5.1.1", message } }) as const;
      const outcomes = [refused("550 User asha unknown"), refused("550 ravi left, ask asha@x.test")];
      await world.settle(await world.claimOne(), { outcomes });
      const target = { messageId: id, part: 0 };
      await world.receive("", { target, status: "complained", raw: "forwarded to a.rao@y.test" });
      await erase(world, ADDRESS);
      const query = { accountId: world.account.id, channel: "email", id } as const;
      const timeline = (await world.store.messages.timeline(query)) ?? [];
      const told = timeline.map((entry) => [entry.recipient, entry.error?.code, entry.error?.message]);
      const ofRavi = `550 ravi left, ask ${ERASED_ADDRESS}`;
      expect(told).toEqual([
        [undefined, "5.1.1", ERASED_WORDS],
        [ERASED_ADDRESS, "5.1.1", ERASED_WORDS],
        ["ravi@x.test", "5.1.1", ofRavi],
        [ERASED_ADDRESS, undefined, undefined],
      ]);
      expect(timeline.at(-1)?.detail).toMatchObject({ receipt_status: "complained", raw: ERASED_WORDS });
      const { progress } = await world.message(id, "email");
      expect(progress.parts.map((part) => part.error?.message)).toEqual([ERASED_WORDS, ofRavi]);
      expect(JSON.stringify([timeline, progress])).not.toMatch(/asha|rao/);
    }),
  );

  test(
    "a recipient's words go from an email that another job still sends",
    inWorld(open, async (world) => {
      const parts = [ADDRESS, "ravi@x.test"].map((address) => ({ status: "pending", address }) as const);
      const jobs = [
        { queue: "queue-a", parts: [0] },
        { queue: "queue-b", parts: [1] },
      ];
      const id = await world.email({ parts, jobs });
      const error = { code: "smtp.550", message: "550 <ASHA@x.test>: no such user" };
      await world.settle(await world.claimOne(), { outcomes: [{ kind: "rejected", bounced: true, error }] });
      await erase(world, ADDRESS);
      const query = { accountId: world.account.id, channel: "email", id } as const;
      const timeline = await world.store.messages.timeline(query);
      const told = timeline?.find((entry) => entry.eventType === "email.bounced");
      expect(told).toMatchObject({ recipient: ERASED_ADDRESS, status: "bounced", sequence: 1 });
      expect(told?.error).toEqual({ code: "smtp.550", message: ERASED_WORDS });
      expect(await world.claim(1, "queue-b")).toHaveLength(1);
    }),
  );
}

async function erase({ store, id, clock }: World, recipient: string): Promise<void> {
  await store.erasures.create({ id: id(), recipient, salt: "s", digest: "d", createdAt: clock.now });
  for (let steps = 0; steps < 500; steps++) if ((await store.erasures.advance(clock.now, 10)) === 0) return;
  throw new Error("erasing does not end");
}
