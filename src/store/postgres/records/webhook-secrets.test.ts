import { expect, test } from "bun:test";
import { race } from "../database/race.contract.ts";

test("of two rotations upon the same secret in two processes only one adds a secret, however they fall together", () =>
  race(async ({ store, other, account, whileHeld }) => {
    const add = ({ records }: typeof store, secret: string, createdAt: number, newest?: number) =>
      records.addWebhookSecret(account.id, { secret, createdAt }, newest);
    await add(store, "whsec_first", 1);
    let added: Promise<(boolean | undefined)[]> | undefined;
    await whileHeld("webhook_secrets", async (isWaiting) => {
      added = Promise.all([add(store, "whsec_second", 2, 1), add(other, "whsec_third", 3, 1)]);
      await isWaiting(2);
    });
    expect((await added)?.toSorted()).toEqual([false, true]);
    expect((await store.records.webhookSecrets(account.id))[1]?.secret).toBe("whsec_first");
  }));
