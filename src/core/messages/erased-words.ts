/** Erasure of what mail hosts and providers said about one recipient of an email to several. Pure. */
import { isRecipient } from "./erasure.ts";
import type { MessageError, Part, TimelineEntry } from "./message.ts";

/** Replaces what a mail host or provider said about an erased recipient. */
export const ERASED_WORDS = "erased with the recipient";

type Detail = NonNullable<TimelineEntry["detail"]>;

/** What the record of an email holds of others' words. The codes of errors stay: they name nobody. */
export interface WordErasure {
  readonly part: (part: Part) => Part;
  /** The error of the email itself, which is that of one of its recipients. */
  readonly error: (error: MessageError) => MessageError;
  readonly entry: <Entry extends Pick<TimelineEntry, "recipient" | "error" | "detail">>(
    entry: Entry,
  ) => Entry;
}

/**
 * Takes out what others said about one recipient. Addresses are taken out of such words before they are stored, but they may name a
 * person in another way: by the part before the `@`, by name, or in a link. What does not say whom it is about is kept only if the
 * same was said about another recipient.
 */
export function createWordErasure(parts: readonly Part[], address: string): WordErasure {
  const others = parts.filter((part) => !isRecipient(part, address));
  const saidOfOthers = new Set(others.flatMap(({ error }) => error?.message ?? []));
  const wordless = (error: MessageError): MessageError => ({ ...error, message: ERASED_WORDS });
  const shared = (error: MessageError) => (saidOfOthers.has(error.message) ? error : wordless(error));
  return {
    part: (part) =>
      part.error && isRecipient(part, address) ? { ...part, error: wordless(part.error) } : part,
    error: shared,
    entry: (entry) => {
      const { recipient, error, detail } = entry;
      const isTheirs = recipient !== undefined && isRecipient({ address: recipient }, address);
      if (recipient !== undefined && !isTheirs) return entry;
      return {
        ...entry,
        ...(error && { error: isTheirs ? wordless(error) : shared(error) }),
        ...(detail && { detail: withoutWords(detail) }),
      };
    },
  };
}

/** A mail host often bears the name of the domain, which may be a person's own. */
function withoutWords({ raw, hosts, ...detail }: Detail): Detail {
  return {
    ...detail,
    ...(raw !== undefined && { raw: ERASED_WORDS }),
    ...(hosts !== undefined && { hosts: [ERASED_WORDS] }),
  };
}
