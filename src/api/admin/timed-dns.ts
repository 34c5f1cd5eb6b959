import type { Clock } from "../../core/clock.ts";
import type { DomainDns } from "../../core/domains/domain-check.ts";
import type { AdminDeps } from "./admin-deps.ts";

const LOOKUP_LIMIT_MS = 10_000;

/** DNS lookups that fail after 10 s, with the code that Node gives when a DNS server does not answer. */
export function withTimeLimit({ clock, resolveTxt, resolveMx, resolveCname }: AdminDeps): DomainDns {
  return {
    resolveTxt: (name) => limited(clock, resolveTxt(name)),
    resolveMx: (name) => limited(clock, resolveMx(name)),
    resolveCname: (name) => limited(clock, resolveCname(name)),
  };
}

async function limited<T>(clock: Clock, answer: Promise<T>): Promise<T> {
  let stop: (() => void) | undefined;
  const timeout = new Promise<never>((_, reject) => {
    stop = clock.after(LOOKUP_LIMIT_MS, () =>
      reject(Object.assign(new Error("timeout"), { code: "ETIMEOUT" })),
    );
  });
  try {
    return await Promise.race([answer, timeout]);
  } finally {
    stop?.();
  }
}
