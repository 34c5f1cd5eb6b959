import { expect, test } from "bun:test";
import type { KeptMailPolicy } from "../../core/email/mail-policy.ts";
import { DAY, inWorld, type OpenStore, type World } from "./world.contract.ts";

function policyOf({ clock }: World, over: Partial<KeptMailPolicy> = {}): KeptMailPolicy {
  const mx = ["mx.example.net", "*.example.net"];
  return { policyId: "1", mode: "enforce", mx, maxAgeMs: DAY, expiresAt: clock.now + DAY, ...over };
}

export function mailPolicyContract(open: OpenStore): void {
  test(
    "a domain's mail policy is found as it was kept, and the newest counts",
    inWorld(open, async (world) => {
      const { mailPolicies } = world.store;
      const { now } = world.clock;
      expect(await mailPolicies.find("example.net")).toBeUndefined();
      await mailPolicies.keep("example.net", policyOf(world), now);
      expect(await mailPolicies.find("example.net")).toEqual(policyOf(world));
      const newer = policyOf(world, { policyId: "2", mode: "testing", mx: [], expiresAt: now + 2 * DAY });
      await mailPolicies.keep("example.net", newer, now);
      expect(await mailPolicies.find("example.net")).toEqual(newer);
      expect(await mailPolicies.find("example.org")).toBeUndefined();
    }),
  );

  test(
    "mail policies whose time is over go as others come",
    inWorld(open, async (world) => {
      const { mailPolicies } = world.store;
      await mailPolicies.keep("old.example", policyOf(world), world.clock.now);
      await mailPolicies.keep("long.example", policyOf(world, { expiresAt: world.clock.now + 9 * DAY }), 0);
      world.clock.now += 2 * DAY;
      await mailPolicies.keep("new.example", policyOf(world), world.clock.now);
      expect(await mailPolicies.find("old.example")).toBeUndefined();
      expect(await mailPolicies.find("long.example")).toBeDefined();
    }),
  );
}
