import { expect, test } from "bun:test";
import { LARGE_BODY } from "../../../core/email/large-body.ts";
import type { EmailContent } from "../../../core/messages/message.ts";
import type { ClaimedJob } from "../../../core/queue/claimed-job.ts";
import { inWorld, type OpenStore, QUEUE, sent, type World } from "../world.contract.ts";

/** Surrogate pairs wherever it may be cut. */
const TEXT = `x${"\u{1f4e6}".repeat(LARGE_BODY)}`;
const HTML = `<p>${"ä".repeat(LARGE_BODY)}</p>`;

/** Accepts an email with these texts, and gives its id. */
export async function acceptMail(
  world: Pick<World, "store" | "account" | "clock" | "id">,
  texts: Pick<EmailContent, "bodyText" | "bodyHtml">,
): Promise<string> {
  const messageId = world.id();
  const recipient = { email: "ann@example.net" };
  const content: EmailContent = {
    channel: "email",
    from: { email: "hello@acme.example" },
    to: [recipient],
    subject: "News",
    ...texts,
  };
  const message = {
    id: messageId,
    recipient: "",
    status: "queued",
    parts: [{ status: "pending", address: recipient.email }],
    jobs: [{ queue: QUEUE }],
    expiresAt: world.clock.now + 3_600_000,
  } as const;
  await world.store.intake.accept({
    accountId: world.account.id,
    flow: "single",
    content,
    messages: [message],
  });
  return messageId;
}

/** The texts, however the store hands them out. */
async function textsOf({ store }: World, { content, messageId }: ClaimedJob) {
  const given = content as EmailContent;
  const { bodyText, bodyHtml } = given.isBodyApart
    ? ((await store.queue.largeBody?.(messageId)) ?? {})
    : given;
  return { bodyText, bodyHtml };
}

export function largeBodyContract(open: OpenStore): void {
  test(
    "large texts come back as they were given, each as often as it is claimed",
    inWorld(open, async (world) => {
      await acceptMail(world, { bodyText: TEXT, bodyHtml: HTML });
      const job = await world.claimOne();
      expect(job.content).toMatchObject({ subject: "News" });
      const { bodyText, bodyHtml } = await textsOf(world, job);
      expect(bodyText === TEXT && bodyHtml === HTML).toBe(true);
      await world.store.queue.release([job], world.clock.now);
      expect((await textsOf(world, await world.claimOne())).bodyText === TEXT).toBe(true);
    }),
  );

  test(
    "a large text alone comes back alone",
    inWorld(open, async (world) => {
      await acceptMail(world, { bodyHtml: HTML });
      const { bodyText, bodyHtml } = await textsOf(world, await world.claimOne());
      expect(bodyText).toBeUndefined();
      expect(bodyHtml === HTML).toBe(true);
    }),
  );

  test(
    "large texts are wiped once no attempt can need them",
    inWorld(open, async (world) => {
      const messageId = await acceptMail(world, { bodyText: TEXT });
      const job = await world.claimOne();
      expect(await world.inside.hasBody(messageId)).toBe(true);
      await world.settle(job, { outcomes: [sent("id-1")], keepsContent: false });
      expect(await world.inside.hasBody(messageId)).toBe(false);
      expect(await world.store.queue.largeBody?.(messageId)).toBeUndefined();
    }),
  );
}
