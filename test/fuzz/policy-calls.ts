/** What domains say of their mail hosts, by dice. */
import { POLICY_MODES } from "../../src/core/email/mail-policy.ts";
import { ask, type Ground } from "./engine-ground.ts";

const DOMAINS = ["example.net", "example.org", "xn--mnchen-3ya.example"];

export async function keepPolicy(ground: Ground): Promise<unknown> {
  const { dice, clock } = ground;
  const domain = dice.oneOf(DOMAINS);
  const maxAgeMs = dice.oneOf([1, 10_000, 400_000]);
  const policy = {
    policyId: dice.oneOf(["1", "2"]),
    mode: dice.oneOf(POLICY_MODES),
    mx: dice.oneOf([[], ["mx.example.net"], ["mx.example.net", "*.example.org"]]),
    maxAgeMs,
    expiresAt: clock.now + maxAgeMs,
  };
  await ask(ground, (store) => store.mailPolicies.keep(domain, policy, clock.now));
  return true;
}

export async function lookAtPolicies(ground: Ground): Promise<void> {
  for (const domain of DOMAINS) await ask(ground, (store) => store.mailPolicies.find(domain));
}
