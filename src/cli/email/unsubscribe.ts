import { unsubscribePath } from "../../api/email/unsubscribe.ts";
import type { ChannelDeps } from "../../channels/channel.ts";
import type { UnsubscribeHeaders } from "../../delivery/sending/offer-unsubscribe.ts";
import type { BounceParts } from "./bounces.ts";
import { createUnsubscribe } from "./bounces.ts";
import type { MailKeys } from "./mail-keys.ts";

/** The link that a mail client opens or posts to, and the address for those that would rather write. */
export function createUnsubscribeHeaders(
  { returnPaths, unsubscribes }: MailKeys,
  publicUrl: NonNullable<ChannelDeps["publicUrl"]>,
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

/** Acts on a link's token; false for one that was not made here. */
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
