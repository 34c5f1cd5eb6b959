import type { AcceptResult } from "../../../core/messages/accept-request.ts";
import type { EventFeed, Outbox, Queue, Records, Store } from "../../store.ts";
import { packAccept, textsOf } from "../intake/packed-accept.ts";
import type { ReadingStore } from "../open-reading.ts";
import type { RemoteCalls } from "./remote-calls.ts";

/** How this thread hears of the writing thread's commits. */
interface Signals {
  readonly onReady: Queue["onReady"];
  readonly onEvents: EventFeed["onEvents"];
  readonly onLanes: Outbox["onReady"];
}

/** A store that answers reads on this thread, and sends writes to the other. */
export function createSplitStore(
  calls: RemoteCalls,
  { store, forget }: ReadingStore,
  { onReady, onEvents, onLanes }: Signals,
): Omit<Store, "close"> {
  const { call } = calls;
  return {
    intake: {
      ...store.intake,
      accept: acceptOver(calls),
      savedAnswer: (key) => call("intake.savedAnswer", key),
    },
    messages: { ...store.messages, cancel: (query) => call("messages.cancel", query) },
    queue: { ...store.queue, ...queueWrites(call), onReady },
    outbox: { ...store.outbox, ...outboxWrites(calls), onReady: onLanes },
    push: {
      register: (device, idempotency) => call("push.register", device, idempotency),
      identify: (request, idempotency) => call("push.identify", request, idempotency),
    },
    records: { ...store.records, ...recordWrites(calls, forget) },
    inbound: { ...store.inbound, ...inboundWrites(calls) },
    receipts: { ...store.receipts, ...receiptWrites(calls) },
    mailPolicies: {
      ...store.mailPolicies,
      keep: (domain, policy, now) => call("mailPolicies.keep", domain, policy, now),
    },
    suppressions: { ...store.suppressions, add: (entries) => call("suppressions.add", entries) },
    sandbox: { ...store.sandbox, record: (entries) => call("sandbox.record", entries) },
    feed: { ...store.feed, cursorKey: () => call("feed.cursorKey"), onEvents },
    leases: store.leases,
    erasures: {
      ...store.erasures,
      create: (erasure) => call("erasures.create", erasure),
      advance: (now, limit) => call("erasures.advance", now, limit),
    },
    retention: { ...store.retention, ...retentionWrites(call) },
    async bootstrap(first) {
      const isFirst = await call<boolean>("bootstrap", first);
      forget();
      return isFirst;
    },
    adminTokenDigest: store.adminTokenDigest,
    consolePasswordDigest: store.consolePasswordDigest,
    setConsolePasswordDigest: (digest) => call("setConsolePasswordDigest", digest),
    earlierKeys: store.earlierKeys,
    ping: store.ping,
  };
}

/** Large texts are written in pieces, each in a commit that it shares with other calls. */
function acceptOver({ call, callLong }: RemoteCalls): Store["intake"]["accept"] {
  return (request) => {
    const packed = packAccept(request);
    const accept = textsOf(packed) ? callLong : call;
    return accept<AcceptResult | undefined>("intake.accept", packed).then(orAccepted);
  };
}

const ACCEPTED: AcceptResult = { kind: "accepted" };

function orAccepted(result: AcceptResult | undefined): AcceptResult {
  return result ?? ACCEPTED;
}

function queueWrites(
  call: RemoteCalls["call"],
): Omit<Queue, "largeBody" | "nextDueAt" | "backlog" | "onReady"> {
  return {
    claim: (request) => call("queue.claim", request),
    settle: (settlements) => call("queue.settle", settlements),
    release: (jobs, now) => call("queue.release", jobs, now),
    stage: (now, limit, sweeper) => call("queue.stage", now, limit, sweeper),
    expire: (now, limit) => call("queue.expire", now, limit),
  };
}

type RecordWrites = Pick<Records, "create" | "update" | "remove" | "setSettings" | "addWebhookSecret">;

/** Makes this thread forget what it remembers of accounts before a change is answered. */
function recordWrites({ call, callLong }: RemoteCalls, forget: () => void): RecordWrites {
  const change = async <T>(method: keyof RecordWrites, ...values: readonly unknown[]): Promise<T> => {
    // Before a route goes, all jobs are looked through.
    const done = await (method === "remove" ? callLong : call)<T>(`records.${method}`, ...values);
    forget();
    return done;
  };
  return {
    create: (kind, record) => change("create", kind, record),
    update: (kind, read, changes) => change("update", kind, read, changes),
    remove: (kind, id) => change("remove", kind, id),
    setSettings: (accountId, values) => change("setSettings", accountId, values),
    addWebhookSecret: (accountId, secret, newest) => change("addWebhookSecret", accountId, secret, newest),
  };
}

type OutboxWrites = Pick<Outbox, "claim" | "settle" | "stage" | "replay" | "replayAll">;

function outboxWrites({ call, callLong }: RemoteCalls): OutboxWrites {
  return {
    claim: (request) => call("outbox.claim", request),
    settle: (settlements) => call("outbox.settle", settlements),
    stage: (now, limit, sweeper) => call("outbox.stage", now, limit, sweeper),
    replay: (event) => call("outbox.replay", event),
    replayAll: (selection, page) => callLong("outbox.replayAll", selection, page),
  };
}

function inboundWrites({ call, callLong }: RemoteCalls): Omit<Store["inbound"], "list" | "countUnassigned"> {
  return {
    receive: (pieces) => call("inbound.receive", pieces),
    storeIncomplete: (before, limit) => call("inbound.storeIncomplete", before, limit),
    dropUnassigned: (bounds) => callLong("inbound.dropUnassigned", bounds),
  };
}

function receiptWrites({
  call,
  callLong,
}: RemoteCalls): Omit<Store["receipts"], "parked" | "countParked" | "countOverdue"> {
  return {
    record: (receipts) => call("receipts.record", receipts),
    recordLateAnswer: (answer, at) => call("receipts.recordLateAnswer", answer, at),
    recordLateRefusal: (refusal, at) => call("receipts.recordLateRefusal", refusal, at),
    dropParked: (bounds) => callLong("receipts.dropParked", bounds),
    flagOverdue: (bounds) => call("receipts.flagOverdue", bounds),
    takeQuestions: (request) => call("receipts.takeQuestions", request),
  };
}

function retentionWrites(call: RemoteCalls["call"]): Omit<Store["retention"], "prepareDays"> {
  return {
    wipeContents: (limit) => call("retention.wipeContents", limit),
    pruneMessages: (bounds) => call("retention.pruneMessages", bounds),
    pruneIdempotencyKeys: (now, limit) => call("retention.pruneIdempotencyKeys", now, limit),
    pruneSuppressions: (now, limit) => call("retention.pruneSuppressions", now, limit),
    pruneReceived: (before, limit) => call("retention.pruneReceived", before, limit),
  };
}
