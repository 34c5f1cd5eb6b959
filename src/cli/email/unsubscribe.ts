import { unsubscribePath } from "../../api/email/unsubscribe.ts";
import type { ChannelDeps } from "../../channels/channel.ts";
import type { Unsubscription } from "../../channels/email/unsubscribe-token.ts";
import type { UnsubscribeHeaders } from "../../delivery/sending/offer-unsubscribe.ts";
import type { Parts } from "../parts.ts";
import type { MailKeys } from "./mail-keys.ts";

/** The List-Unsubscribe headers: a link that a mail client opens or posts to, and an address to write to. */
export function createUnsubscribeHeaders(
  { unsubscribeAddresses, unsubscribes }: MailKeys,
  publicUrl: ChannelDeps["publicUrl"],
): UnsubscribeHeaders {
  return async ({ returnPathHost: host, part, ...wish }) => {
    const token = unsubscribes.seal(wish);
    const base = await publicUrl();
    const hasLink = base?.startsWith("https://") ?? false;
    const address = host && unsubscribeAddresses.address({ messageId: wish.messageId, part, host });
    const ways = [
      ...(hasLink ? [`<${base}${unsubscribePath(token)}>`] : []),
      ...(address ? [`<mailto:${address}?subject=${token}>`] : []),
    ];
    return {
      ...(ways.length > 0 && { "List-Unsubscribe": ways.join(", ") }),
      ...(hasLink && { "List-Unsubscribe-Post": "List-Unsubscribe=One-Click" }),
    };
  };
}

/** Unsubscribes by the token of a link; false for a token that was not made here. */
export function createUnsubscribeByToken(parts: Pick<Parts, "store" | "clock" | "ids" | "mailKeys">) {
  const unsubscribe = createUnsubscribe(parts);
  return {
    isKnown: (token: string) => parts.mailKeys.unsubscribes.open(token) !== undefined,
    async unsubscribe(token: string): Promise<boolean> {
      const wish = parts.mailKeys.unsubscribes.open(token);
      if (wish) await unsubscribe(wish);
      return wish !== undefined;
    },
  };
}

/**
 * Adds a recipient who unsubscribes, or has complained, to the account's suppressions. If there is no such account, nothing has to be
 * done: links stay valid as long as the master key, even in a database that was restored from before the account was created.
 */
export function createUnsubscribe({ store, clock, ids }: Pick<Parts, "store" | "clock" | "ids">) {
  return async (
    { accountId, email, messageId }: Unsubscription,
    reason: "unsubscribe" | "complaint" = "unsubscribe",
  ): Promise<void> => {
    const shared = { id: ids(), createdAt: clock.now(), reason };
    await store.suppressions.add([{ ...shared, accountId, email, source: messageId }]);
  };
}
