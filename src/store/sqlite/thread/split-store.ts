import type { AcceptResult } from "../../../core/messages/accept-request.ts";
import type { EventFeed, Outbox, Queue, Store } from "../../store.ts";
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
  calls: Calls,
  { store, forget }: ReadingStore,
  { onReady, onEvents, onLanes }: Signals,
): Omit<Store, "close"> {
  const changes = forgetting(calls, forget);
  const split = <P extends keyof Store>(part: P, over = calls) => splitPart(part, store[part], over);
  return {
    intake: { ...split("intake"), accept: acceptOver(calls) },
    messages: split("messages"),
    queue: { ...split("queue"), onReady },
    outbox: { ...split("outbox"), onReady: onLanes },
    push: split("push"),
    records: split("records", changes),
    inbound: split("inbound"),
    receipts: split("receipts"),
    mailPolicies: split("mailPolicies"),
    suppressions: split("suppressions"),
    sandbox: split("sandbox"),
    feed: { ...split("feed"), onEvents },
    leases: store.leases,
    erasures: split("erasures"),
    retention: split("retention"),
    access: split("access", changes),
    earlierKeys: store.earlierKeys,
    ping: store.ping,
  };
}

type Calls = Pick<RemoteCalls, "call" | "callLong">;

type Methods = { readonly [P in keyof Store]?: readonly (keyof Store[P])[] };

/** A method that writes and is in neither list would fail: the connection on this thread only reads. */
const WRITES: Methods = {
  intake: ["savedAnswer"],
  messages: ["cancel"],
  queue: ["claim", "settle", "release", "move", "stage", "expire"],
  outbox: ["claim", "settle", "stage", "replay"],
  push: ["register", "identify"],
  records: ["create", "createAccount", "update", "setSettings", "addWebhookSecret"],
  inbound: ["receive", "storeIncomplete"],
  receipts: ["record", "recordLateAnswer", "recordLateRefusal", "flagOverdue", "takeQuestions"],
  mailPolicies: ["keep"],
  suppressions: ["add"],
  sandbox: ["record"],
  feed: ["cursorKey"],
  erasures: ["create", "advance"],
  access: ["bootstrap", "setConsoleSeal"],
  retention: [
    "wipeContents",
    "pruneMessages",
    "pruneInbound",
    "pruneIdempotencyKeys",
    "pruneSuppressions",
    "pruneReceived",
  ],
};

/** Methods that may take more than one commit. `remove` is one of them, since all jobs are looked through before a route is removed. */
const LONG_WRITES: Methods = {
  outbox: ["replayAll"],
  records: ["remove"],
  inbound: ["endRepeats", "dropUnassigned"],
  receipts: ["dropParked"],
};

function splitPart<P extends keyof Store>(part: P, here: Store[P], { call, callLong }: Calls): Store[P] {
  const over = (send: Calls["call"], methods: Methods[P] = []) =>
    methods.map((method) => {
      const name = `${part}.${String(method)}`;
      return [method, (...values: readonly unknown[]) => send(name, ...values)];
    });
  return {
    ...here,
    ...Object.fromEntries([...over(call, WRITES[part]), ...over(callLong, LONG_WRITES[part])]),
  };
}

/** Large texts are written in pieces, each in a commit that it shares with other calls. */
function acceptOver({ call, callLong }: Calls): Store["intake"]["accept"] {
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

/** Makes this thread forget what it remembers of accounts before a change is answered. */
function forgetting({ call, callLong }: Calls, forget: () => void): Calls {
  const over =
    (send: Calls["call"]): Calls["call"] =>
    async <T>(method: string, ...values: readonly unknown[]) => {
      const done = await send<T>(method, ...values);
      forget();
      return done;
    };
  return { call: over(call), callLong: over(callLong) };
}
