import { unsubscribePath } from "../../api/email/unsubscribe.ts";
import type { ChannelDeps } from "../../channels/channel.ts";
import type { UnsubscribeHeaders } from "../../delivery/sending/offer-unsubscribe.ts";
import type { BounceParts } from "./bounces.ts";
import { createUnsubscribe } from "./bounces.ts";
import type { MailKeys } from "./mail-keys.ts";

/** The List-Unsubscribe headers: a link that a mail client opens or posts to, and an address to write to. */
export function createUnsubscribeHeaders(
  { returnPaths, unsubscribes }: MailKeys,
  publicUrl: ChannelDeps["publicUrl"],
): UnsubscribeHeaders {
  return async ({ returnPathHost: host, part, ...wish }) => {
    const token = unsubscribes.seal(wish);
    const base = await publicUrl();
    const hasLink = base?.startsWith("https://") ?? false;
    const address = host && returnPaths.unsubscribeAddress({ messageId: wish.messageId, part, host });
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
export function createUnsubscribeByToken(parts: Pick<BounceParts, "store" | "clock" | "ids" | "mailKeys">) {
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
