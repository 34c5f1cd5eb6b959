import type { ChannelDeps, MailDeps } from "../channels/channel.ts";
import type { Claimant } from "../core/queue/claimant.ts";
import { createEngine, type Engine } from "../delivery/engine.ts";
import { createLateAnswers } from "../delivery/receipts/late-answers.ts";
import type { Shares } from "../delivery/shares/shares.ts";
import { BUILT_IN, openChannel, slotsOf } from "./channels.ts";
import { createSenderDomains } from "./email/sender-domains.ts";
import { createUnsubscribeHeaders } from "./email/unsubscribe.ts";
import { createPublicUrl } from "./http/public-url.ts";
import { createNetwork } from "./network/network.ts";
import type { Parts } from "./parts.ts";
import { watchReceipts } from "./watch-receipts.ts";

/** The engine that sends messages, and what the channels of its connectors are opened with. */
export function createDelivery(
  parts: Parts,
  { shares, claimant }: { readonly shares: Shares | undefined; readonly claimant: () => Claimant },
): Engine {
  const { clock, steadyLog: log, store, metrics, mailKeys } = parts;
  const stopped = new AbortController();
  const mail = toMail(parts);
  const publicUrl = createPublicUrl(store.records, clock);
  const watched = watchReceipts(store, (...seen) => engine.noteReceipts(...seen));
  const late = { receipts: store.receipts, clock, log, signal: stopped.signal };
  const engine: Engine = createEngine({
    queue: store.queue,
    receipts: store.receipts,
    records: store.records,
    messages: store.messages,
    open: (connector, listeners) =>
      openChannel(
        connector,
        {
          clock,
          random: Math.random,
          log,
          ...listeners,
          onReceipts: async (receipts) => void (await watched.receipts.record(receipts)),
          ...toInbox(parts, engine, connector.id),
          onLateAnswer: createLateAnswers(late),
          publicUrl,
          mail,
        },
        store.sandbox,
      ),
    findSenderDomain: createSenderDomains(store.records, clock),
    suppressions: store.suppressions,
    unsubscribeHeaders: createUnsubscribeHeaders(mailKeys, publicUrl),
    clock,
    random: Math.random,
    log,
    observe: metrics.observe,
    onLateRefusal: createLateAnswers(late),
    builtIn: BUILT_IN,
    slotsOf,
    claimant,
    ...(shares && { shares }),
  });
  const stop = () => engine.stop().finally(() => stopped.abort());
  return { ...engine, stop };
}

function toMail({ store, dns, mailKeys, largeBodies }: Parts): MailDeps {
  return {
    network: createNetwork(dns),
    policies: store.mailPolicies,
    returnPaths: mailKeys.returnPaths,
    composeLarge: largeBodies.compose,
  };
}

/** Where a channel's messages from handsets go. The parts of long ones wait for each other under `sharedAs`. */
function toInbox(
  { store: { inbound }, ids }: Parts,
  engine: Engine,
  connectorId: string,
): Pick<ChannelDeps, "onInbound" | "onInboundKnown"> {
  return {
    async onInbound(messages) {
      const sharedAs = engine.sharedAs(connectorId);
      await inbound.receive(messages.map((one) => ({ ...one, sharedAs, id: ids() })));
    },
    onInboundKnown: (span) => inbound.endRepeats({ ...span, connectorId }),
  };
}
