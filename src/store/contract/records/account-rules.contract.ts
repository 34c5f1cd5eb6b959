import { expect, test } from "bun:test";
import type { ApiKey, Sender, SmsTemplate } from "../../../core/records/accounts.ts";
import { DAY, inWorld, type OpenStore, QUEUE, SMS, type World } from "../world.contract.ts";

/** What holds among the records of one account, also where changes arrive together. */
export function accountRulesContract(open: OpenStore): void {
  test(
    "revoked keys go with their account, and stay with one that is in use",
    inWorld(open, async (world) => {
      const { store, addAccount, id, clock } = world;
      const { now } = clock;
      const owner = await addAccount();
      const other: ApiKey = { id: id(), accountId: owner.id, prefix: "p", digest: id(), createdAt: now };
      const key: ApiKey = { ...other, id: id(), digest: id(), revokedAt: now };
      const owned: Sender = { ...sender(world), accountId: owner.id };
      await store.records.create("apiKeys", key);
      await store.records.create("senders", owned);
      expect(await store.records.remove("accounts", owner.id)).toBe("in_use");
      expect(await store.records.find("apiKeys", { id: key.id })).toEqual(key);
      await store.records.remove("senders", owned.id);
      await store.records.create("apiKeys", other);
      expect(await store.records.remove("accounts", owner.id)).toBe("in_use");
      await store.records.update("apiKeys", other, { revokedAt: now });
      expect(await store.records.remove("accounts", owner.id)).toBe(true);
      expect(await store.records.find("apiKeys", { id: key.id })).toBeUndefined();
    }),
  );

  test(
    "a template may be given the DLT template id that it has, and no other template's",
    inWorld(open, async ({ store, account, id, clock }) => {
      const template = (dltTemplateId: string): SmsTemplate => {
        const shared = { accountId: account.id, name: "otp", body: "hi", createdAt: clock.now };
        return { ...shared, id: id(), dltTemplateId };
      };
      const [one, other] = [template("1107"), template("1108")];
      for (const each of [one, other]) await store.records.create("smsTemplates", each);
      expect(await store.records.update("smsTemplates", one, { dltTemplateId: "1107" })).toEqual(one);
      expect(await store.records.update("smsTemplates", one, { dltTemplateId: "1108" })).toEqual({
        conflict: "dltTemplateId",
      });
    }),
  );

  test(
    "a message for an account that has been deleted is not stored, and those accepted with it are",
    inWorld(open, async ({ store, addAccount, sms, key, claim, clock, id }) => {
      const gone = await addAccount();
      expect(await store.records.remove("accounts", gone.id)).toBe(true);
      const idempotency = { ...key("k"), answer: { status: 202, body: "{}" } };
      const message = { id: id(), recipient: "+1", status: "queued" as const, parts: [] };
      const late = {
        accountId: gone.id,
        flow: "single" as const,
        content: SMS,
        messages: [{ ...message, expiresAt: clock.now + DAY, jobs: [{ queue: QUEUE }] }],
      };
      const [, kept, unkept] = await Promise.all([
        sms(),
        store.intake.accept({ ...late, idempotency }),
        store.intake.accept(late),
        sms(),
      ]);
      expect([kept, unkept]).toEqual([{ kind: "no_account" }, { kind: "no_account" }]);
      expect(await claim()).toHaveLength(2);
      const [again] = await sms({ idempotency });
      expect(await claim()).toMatchObject([{ messageId: again }]);
    }),
  );

  test(
    "of senders made or changed to the default at once one is it, and one that is refused takes it from nobody",
    inWorld(open, async (world) => {
      const { store, addAccount } = world;
      const owner = await addAccount();
      const made = ["A", "B", "C", "D"].map((senderId) => ({
        ...sender(world),
        accountId: owner.id,
        senderId,
        isDefault: true,
      }));
      const defaults = async () =>
        (await store.records.list("senders", { accountId: owner.id }, { limit: 10 }))
          .filter(({ isDefault }) => isDefault)
          .map(({ senderId }) => senderId);
      await Promise.all(made.map((each) => store.records.create("senders", each)));
      expect(await defaults()).toHaveLength(1);
      const read = await store.records.list("senders", { accountId: owner.id }, { limit: 10 });
      const others = read.filter(({ isDefault }) => !isDefault);
      await Promise.all(others.map((each) => store.records.update("senders", each, { isDefault: true })));
      expect(await defaults()).toHaveLength(1);
      const c = (await store.records.find("senders", { id: made[2]!.id }))!;
      await store.records.update("senders", c, { isDefault: true });
      const again = { ...sender(world), accountId: owner.id, senderId: "A", isDefault: true };
      expect(await store.records.create("senders", again)).toEqual({ conflict: "senderId" });
      expect(await defaults()).toEqual(["C"]);
    }),
  );

  test(
    "of templates of one DLT id that are made at once there is one in an account",
    inWorld(open, async (world) => {
      const { store, addAccount, id, clock } = world;
      const { now } = clock;
      const [one, two] = [await addAccount(), await addAccount()];
      const template = (accountId: string): SmsTemplate => ({
        id: id(),
        accountId,
        name: "x",
        body: "y",
        dltTemplateId: "1107160000000000001",
        createdAt: now,
      });
      const create = (accountId: string) => store.records.create("smsTemplates", template(accountId));
      const made = await Promise.all([create(one.id), create(one.id), create(one.id), create(two.id)]);
      expect(made.filter((each) => each === "created")).toHaveLength(2);
      const { dltTemplateId = "", ...plain } = template(one.id);
      await store.records.create("smsTemplates", plain);
      const taken = { conflict: "dltTemplateId" };
      expect(await store.records.update("smsTemplates", plain, { dltTemplateId })).toEqual(taken);
    }),
  );
}

function sender({ id, account, clock }: World): Sender {
  return { id: id(), accountId: account.id, senderId: "S", isDefault: false, createdAt: clock.now };
}
