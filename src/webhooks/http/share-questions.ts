import type { Resolver } from "./find-addresses.ts";

/**
 * Asks a name server once where several ask it the same at the same time: a thousand webhooks to one host begin together.
 * Nothing is remembered. An answer never is older than the attempt that uses it, and each attempt judges it for itself.
 */
export function shareQuestions(resolver: Resolver): Resolver {
  return {
    resolve4: share((name) => resolver.resolve4(name)),
    resolve6: share((name) => resolver.resolve6(name)),
  };
}

type Question = (name: string) => Promise<readonly string[]>;

/** As many are under way as there are attempts, at the most. */
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
