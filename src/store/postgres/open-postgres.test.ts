import { storeContract } from "../store.contract.ts";
import { openFresh } from "./postgres-world.contract.ts";

storeContract("postgres", openFresh, [
  ...(["accept", "deferral", "idempotency", "claim"] as const),
  ...(["push", "records", "recordsInUse", "settings", "limits"] as const),
  ...(["cancel", "messageList"] as const),
  "leases",
  ...(["receipt", "receiptMatch", "receiptOrder", "lateAnswer", "overdue"] as const),
  ...(["inbound", "optOut", "suppression"] as const),
]);
