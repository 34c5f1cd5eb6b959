import type { Resolver } from "./find-addresses.ts";

/**
 * Lets attempts that ask for the same name at the same time share one DNS query: a thousand webhooks to one host begin
 * together. Nothing is remembered, and each attempt judges the answer for itself.
 */
export function shareQuestions(resolver: Resolver): Resolver {
  return {
    resolve4: share((name) => resolver.resolve4(name)),
    resolve6: share((name) => resolver.resolve6(name)),
  };
}

type Question = (name: string) => Promise<readonly string[]>;

/** Queries under way: at most one per attempt. */
function share(ask: Question): Question {
  const underWay = new Map<string, Promise<readonly string[]>>();
  return (name) => {
    const asked = underWay.get(name);
    if (asked) return asked;
    const answer = ask(name).finally(() => underWay.delete(name));
    underWay.set(name, answer);
    return answer;
  };
}
