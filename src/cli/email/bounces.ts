import type { ChannelLog } from "../../channels/channel.ts";
import { type BounceListener, openBounceListener } from "../../channels/email/bounces/bounce-listener.ts";
import { createReturnMailHandler } from "../../channels/email/bounces/return-mail-handler.ts";
import type { Unsubscription } from "../../channels/email/unsubscribe-token.ts";
import type { Clock } from "../../core/clock.ts";
import type { Store } from "../../store/store.ts";
import type { Config } from "../config.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { MailKeys } from "./mail-keys.ts";

export interface BounceParts {
  readonly config: Config;
  readonly store: Pick<Store, "receipts" | "records" | "suppressions">;
  readonly mailKeys: MailKeys;
  readonly clock: Clock;
  readonly log: ChannelLog;
  readonly metrics: Pick<Metrics, "returnMail">;
  readonly ids: () => string;
}

/** Opens the listener for bounces; `undefined` without `BOUNCE_PORT` or the role `api`. */
export async function openBounces(parts: BounceParts): Promise<BounceListener | undefined> {
  const { config, store, mailKeys, clock, log, metrics } = parts;
  if (!config.bounce || !config.roles.has("api")) return undefined;
  const handler = createReturnMailHandler({
    ...mailKeys,
    receive: store.receipts.record,
    suppress: createUnsubscribe(parts),
  });
  const { tls } = config;
  const shared = { handler, clock, log, onMail: metrics.returnMail };
  return openBounceListener({ ...config.bounce, ...shared, ...(tls && { tls }) });
}

/**
 * Adds a recipient who unsubscribes, or has complained, to the account's suppressions. If there is no such account, nothing has to be
 * done: links stay valid as long as the master key, even in a database that was restored from before the account was created.
 */
export function createUnsubscribe({
  store,
  clock,
  ids,
}: Pick<BounceParts, "clock" | "ids"> & { readonly store: Pick<Store, "suppressions"> }) {
  return async (
    { accountId, email, messageId }: Unsubscription,
    reason: "unsubscribe" | "complaint" = "unsubscribe",
  ): Promise<void> => {
    const shared = { id: ids(), createdAt: clock.now(), reason };
    await store.suppressions.add([{ ...shared, accountId, email, source: messageId }]);
  };
}
