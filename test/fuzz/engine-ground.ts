/** The ground on which two engines are asked the same, and what has happened on it. */
import { expect } from "bun:test";
import type { ClaimedJob } from "../../src/core/queue/claimed-job.ts";
import type { ClaimedWebhook } from "../../src/core/webhooks/webhook-outbox.ts";
import type { Inside } from "../../src/store/contract/world.contract.ts";
import type { Store } from "../../src/store/store.ts";
import type { Dice } from "../chaos/dice.ts";

export interface Ground {
  /** The same calls are made of both, one after the other. */
  readonly stores: readonly [Store, Store];
  readonly insides: readonly [Inside, Inside];
  readonly dice: Dice;
  readonly clock: { now: number };
  readonly id: () => string;
  readonly accountId: string;
  /** That one first, and others, which may not be there (yet, or any more). */
  readonly accounts: readonly string[];
  readonly appId: string;
  readonly messages: Accepted[];
  /** What each engine has claimed. */
  readonly jobs: (readonly [ClaimedJob, ClaimedJob])[];
  readonly webhooks: (readonly [ClaimedWebhook, ClaimedWebhook])[];
}

interface Accepted {
  readonly id: string;
  readonly accountId: string;
  readonly channel: "sms" | "email";
  /** Its number, or the addresses. */
  readonly to: readonly string[];
  readonly expiresAt: number;
}

/** What each engine answers, which has to be the same. */
export async function ask<T>(
  { stores: [one, other] }: Pick<Ground, "stores">,
  call: (store: Store, engine: 0 | 1) => Promise<T>,
  shown: (answer: T) => unknown = (answer) => answer,
): Promise<readonly [T, T]> {
  const answers = [await call(one, 0), await call(other, 1)] as const;
  expect(shown(answers[1])).toEqual(shown(answers[0]));
  return answers;
}
