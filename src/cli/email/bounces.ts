import { type BounceListener, openBounceListener } from "../../channels/email/bounces/bounce-listener.ts";
import { createReturnMailHandler } from "../../channels/email/bounces/return-mail-handler.ts";
import type { Parts } from "../parts.ts";
import { createUnsubscribe } from "./unsubscribe.ts";

/** Opens the listener for bounces; `undefined` without `BOUNCE_PORT` or the role `api`. */
export async function openBounces(parts: Parts): Promise<BounceListener | undefined> {
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
