/** The SMPP channel: messages become submit_sm; deliver_sm become receipts or messages from handsets. */
import { present } from "../../../core/present.ts";
import { NOBODY_ELSE } from "../../../core/queue/claimant.ts";
import type { Connector } from "../../../core/records/accounts.ts";
import { createInFlight } from "../../../core/work/in-flight.ts";
import type { Channel, ChannelDeps, ChannelStatus, OutgoingSms, Share } from "../../channel.ts";
import { createHandsetInbox } from "./inbox/handset-inbox.ts";
import { createInboundKeys } from "./inbox/inbound-keys.ts";
import { queryParts } from "./inbox/query-parts.ts";
import { isReceipt } from "./inbox/receipt.ts";
import { createReceiptInbox } from "./inbox/receipt-inbox.ts";
import { createPace, type Pace } from "./rate/pace.ts";
import { LONGEST_IN_LINE_MS } from "./rate/sender-line.ts";
import { createSenderPace } from "./rate/sender-pace.ts";
import { type Binds, type BindsDeps, createBinds } from "./session/binds.ts";
import { createCredentialGate } from "./session/credential-gate.ts";
import { openSession, type SessionEvents } from "./session/session.ts";
import { bindRoles, type SmppConfig, sessionOptions } from "./smpp-config.ts";
import { createSettings, type Settings } from "./smpp-settings.ts";
import { attemptSms } from "./submit/attempt-sms.ts";
import { createSubmitLine } from "./submit/submit-line.ts";
import { planSubmit } from "./submit/submit-plan.ts";
import { createSubmitter, type Submitter } from "./submit/submitter.ts";

/** How much longer a send may take than its waits together. */
const SEND_MARGIN_MS = 5000;

/** Throws if the connector's configuration is not that of `smppConfigSchema`. */
export function openSmppChannel(connector: Connector, deps: ChannelDeps): Channel {
  const { clock, random } = deps;
  const { id: connectorId } = connector;
  const settings = createSettings(connector);
  const config = settings.config();
  const sends = createInFlight();
  const { pace, senderPace } = createRates(config, deps);
  const inbox = createInbox(connector, settings, deps);
  const binds = createBinds({
    clock,
    random,
    roles: bindRoles(config),
    ...(deps.share && { share: deps.share }),
    gate: createCredentialGate(clock),
    open: createOpen({ connector, settings, inbox, onSlots: () => line.serve() }, deps),
    onStatus(isNewState) {
      tellStatus(connector, { status: status(), isNewState }, deps);
      line.serve();
    },
    nobodyWaits: sends.whenEmpty,
  });
  const line = createSubmitLine({ clock, pace, sessions: binds.sessions, onFree: deps.onSlots });
  const status = (): ChannelStatus => present({ ...binds.status(), rate: pace.rate() });
  const submitter = createSubmitter({ connectorId, settings, binds, line, pace, senderPace }, deps);
  const query: Channel["query"] = (parts, signal) => queryParts(submitter, parts, signal);
  return {
    connectorId,
    keepsRate: true,
    // A segment waits at most one response timeout before it is sent, and at most another for its answer.
    sendTimeoutMs: LONGEST_IN_LINE_MS + 2 * config.response_timeout_ms + SEND_MARGIN_MS,
    start: binds.start,
    freeSlots: line.free,
    send: (message, signal, isOurs = NOBODY_ELSE.isOurs) =>
      sends.add(attemptSms(submitter, message, { signal, isOurs })),
    partsOf: (message) => partsOf(message, settings.config()),
    get query() {
      return settings.config().query_sm ? query : undefined;
    },
    applySettings: (changed) => applySettings(changed, { settings, pace, line }),
    stop: () => stop({ binds, inbox }, deps),
    status,
  };
}

async function stop({ binds, inbox }: { binds: Binds; inbox: Inbox }, { share }: ChannelDeps): Promise<void> {
  await binds.stop();
  // Which acknowledgements of other processes the SMSC has is not known here.
  if (!share) await inbox.settle();
}

function applySettings(
  changed: Connector,
  { settings, pace, line }: Pick<Submitter, "pace" | "line"> & { settings: Settings },
): boolean {
  if (!settings.apply(changed)) return false;
  pace.setRate(settings.config().max_per_second);
  line.repace();
  return true;
}

/** The rate of the connector, and that of each of its senders. */
function createRates(
  { max_per_second, max_per_second_per_sender: perSecond }: SmppConfig,
  { clock, random, share, isRateUsed }: ChannelDeps,
): Pick<Submitter, "pace" | "senderPace"> {
  const pace = createPace(clock, max_per_second, isRateUsed);
  const part = createPart(share, pace);
  if (perSecond === undefined) return { pace, senderPace: undefined };
  const rate = { perSecond, part, ...(isRateUsed && { usedAtMs: clock.monotonicMs() }) };
  return { pace, senderPace: createSenderPace(clock, random, rate) };
}

/** This process's part of the connector's rate, which equals its part of the binds. The pace follows it. */
function createPart(share: Share | undefined, pace: Pace): () => number {
  if (!share) return () => 1;
  const part = () => share.held().size / share.of;
  const keepInStep = () => {
    if (part() > 0) pace.setPart(part());
  };
  // Slots may be held from the start: those of the previous channel, if settings have changed.
  keepInStep();
  share.onChange(async () => keepInStep());
  return part;
}

interface SessionParts extends Pick<SessionEvents, "onSlots"> {
  readonly connector: Connector;
  readonly settings: Settings;
  readonly inbox: Inbox;
}

/** Opens sessions. Of the settings that they are opened with, only the window may change later. */
function createOpen(
  { connector, settings, inbox, onSlots }: SessionParts,
  { clock }: ChannelDeps,
): BindsDeps["open"] {
  const { config } = settings;
  const options = sessionOptions(config(), connector.secrets);
  return (role, events, turn) =>
    openSession({ ...options, window: () => config().window, role, turn }, clock, {
      ...inbox.attach(events),
      onSlots,
    });
}

type Inbox = ReturnType<typeof createInbox>;

/** What the SMSC delivers: receipts, and what handsets write. */
function createInbox({ id: connectorId }: Connector, { config, reading }: Settings, deps: ChannelDeps) {
  const storeTimeoutMs = config().response_timeout_ms;
  const receipts = createReceiptInbox({ connectorId, storeTimeoutMs, reading }, deps);
  const handsets = createHandsetInbox(
    {
      connectorId,
      storeTimeoutMs,
      defaults: () => ({ alphabet: config().default_alphabet, countryCode: config().inbound_country_code }),
      keys: deps.memory(createInboundKeys),
    },
    deps,
  );
  return {
    settle: handsets.settle,
    attach(events: Pick<SessionEvents, "onBound" | "onEnd">): Omit<SessionEvents, "onSlots"> {
      const fromHandsets = handsets.open();
      return {
        onBound: events.onBound,
        onMessage: (message, acknowledge) =>
          (isReceipt(message, config().receipts_by_text) ? receipts : fromHandsets).take(
            message,
            acknowledge,
          ),
        onEnd(end) {
          fromHandsets.close(end);
          events.onEnd(end);
        },
      };
    },
  };
}

function partsOf(message: OutgoingSms, config: SmppConfig): number | undefined {
  const plan = planSubmit(message, config);
  return "error" in plan ? undefined : plan.submits;
}

function tellStatus(
  connector: Connector,
  { status, isNewState }: { status: ChannelStatus; isNewState: boolean },
  deps: ChannelDeps,
): void {
  // The listener logs every new state.
  if (isNewState) return void deps.onStatus(status);
  const { reason, binds } = status;
  const fields = { connector: connector.id, name: connector.name, binds };
  if (binds && binds.up < binds.of) deps.log.warn({ ...fields, reason }, "SMPP binds are missing");
  else deps.log.info(fields, "all SMPP binds are up");
}
