import type { Idempotency } from "../../../core/messages/accept-request.ts";

type NamedKey = Pick<Idempotency, "scope" | "key" | "now">;

/** Requests that were refused under their keys, as long as an earlier one with the same key may still wait to be stored. */
export interface Refusals {
  note(key: NamedKey): void;
  /** Whether a request with the key that came after this one has been refused. */
  cameAfter(key: NamedKey): boolean;
}

/** At a thousand refusals a second, these are those of ten seconds. A large email waits for as long as its pieces take, which is less. */
const MAX_HELD = 10_000;

/** In memory only: a request that waits does not outlive its process either. */
export function createRefusals(maxHeld = MAX_HELD): Refusals {
  const held = new Map<string, number>();
  return {
    note(key) {
      const name = nameOf(key);
      const at = Math.max(key.now, held.get(name) ?? 0);
      // The oldest comes first.
      held.delete(name);
      held.set(name, at);
      if (held.size <= maxHeld) return;
      for (const oldest of held.keys()) {
        held.delete(oldest);
        break;
      }
    },
    cameAfter: (key) => held.size > 0 && (held.get(nameOf(key)) ?? 0) > key.now,
  };
}

function nameOf({ scope, key }: NamedKey): string {
  return `${scope.length}:${scope}${key}`;
}
