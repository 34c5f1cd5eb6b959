import { storeContract } from "../store.contract.ts";
import { openFresh } from "./postgres-world.contract.ts";

storeContract("postgres", openFresh, [
  ...(["accept", "deferral", "idempotency", "claim", "settle", "stage"] as const),
  ...(["push", "records", "recordsInUse", "settings", "limits"] as const),
  ...(["outbox", "outboxReplay", "eventFeed", "sandbox", "cancel", "messageList"] as const),
  ...(["prune", "limitsPrune", "erasure", "erasedLeftover", "erasedWish"] as const),
  "leases",
  ...(["receipt", "receiptMatch", "receiptOrder", "lateAnswer", "overdue"] as const),
  ...(["inbound", "optOut", "suppression", "mailPolicy", "largeBody"] as const),
]);
