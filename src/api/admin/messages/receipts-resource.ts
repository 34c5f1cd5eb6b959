import Type, { type TSchema } from "typebox";
import { maskRecipient } from "../../../core/mask.ts";
import { toIso } from "../../../core/time/timestamp.ts";
import { isUuid } from "../../../core/uuid.ts";
import type { ParkedReceipt } from "../../../store/store.ts";
import type { Endpoint } from "../../endpoint.ts";
import { validationFailed } from "../../errors.ts";
import { answerPage, pageSchema } from "../../lists/answer-page.ts";
import type { AdminDeps } from "../admin-deps.ts";
import { ORDERED_PAGE_QUERY, readOrderedPage } from "../page.ts";
import { adminOnly, adminPath } from "../record-plan.ts";

/** Parked receipts, which match no message: they show how a connector's id settings have to be corrected. */
export function receiptEndpoints({ store }: AdminDeps): readonly Endpoint[] {
  return [
    {
      ...adminOnly("messages"),
      method: "GET",
      path: adminPath("receipts/parked"),
      operation: "listParkedReceipts",
      summary: "List the receipts that match no message (yet)",
      query: {
        connector_id: Type.Optional(Type.String({ format: "uuid" })),
        ...ORDERED_PAGE_QUERY,
      } as Readonly<Record<string, TSchema>>,
      responses: {
        200: {
          description:
            "In the order received, the oldest first unless `order` says otherwise; each is kept for 7 days",
          schema: pageSchema(shown, "after"),
        },
      },
      handle({ query }) {
        const connectorId = query.get("connector_id")?.toLowerCase();
        // An empty list would say that none are parked. Receipts of a connector that has been deleted are still listed.
        if (connectorId !== undefined && !isUuid(connectorId))
          throw validationFailed({ connector_id: "must be a UUID" });
        const asked = readOrderedPage(query, (text) => PARKED_ID.test(text));
        return answerPage(
          asked,
          (page) => store.receipts.parked({ ...page, ...(connectorId !== undefined && { connectorId }) }),
          toResource,
        );
      },
    },
  ];
}

/** The number of a row: as many digits as either database can hold. */
const PARKED_ID = /^\d{1,15}$/;

const shown = Type.Object({
  id: Type.String(),
  connector_id: Type.String(),
  received_at: Type.String({ format: "date-time" }),
  provider_message_id: Type.String({ description: "As converted by the connector's settings" }),
  other_id: Type.Optional(Type.String({ description: "The second id, of a receipt that gives two" })),
  recipient: Type.Optional(Type.String({ description: "As the provider wrote it, masked" })),
  reference: Type.Optional(Type.Integer({ description: "user_message_reference" })),
  status: Type.String({ description: "What the receipt says of its message" }),
  error: Type.Optional(Type.Object({ code: Type.String(), message: Type.String() })),
  raw: Type.Optional(Type.String({ description: "The provider's own words" })),
});

function toResource({ id, receipt }: ParkedReceipt) {
  const { recipient } = receipt;
  return {
    id,
    connector_id: receipt.connectorId,
    received_at: toIso(receipt.receivedAt),
    provider_message_id: receipt.providerMessageId,
    other_id: receipt.otherId,
    recipient: recipient === undefined ? undefined : maskRecipient(recipient),
    reference: receipt.reference,
    status: receipt.status,
    error: receipt.error,
    raw: receipt.raw,
  };
}
