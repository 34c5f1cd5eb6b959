import Type from "typebox";
import type { InboundMessage } from "../../core/inbound/inbound.ts";
import { toInboundAddress } from "../../core/inbound/inbound-address.ts";
import { segmentSms } from "../../core/sms/sms-segments.ts";
import { toReceivedData } from "../../core/webhooks/received-event.ts";
import type { Endpoint } from "../endpoint.ts";
import { validationFailed } from "../errors.ts";
import { INBOUND_QUERY, readInboundQuery } from "../inbound/inbound-query.ts";
import { InboundRow } from "../inbound/inbound-resource.ts";
import { answerPage, pageSchema } from "../lists/answer-page.ts";
import type { AdminDeps } from "./admin-deps.ts";
import { accountNamed, accountOfQueryIfAny, readDraft, sealDraft } from "./draft.ts";
import { givenFields } from "./given-fields.ts";
import { ADMIN_MAX_BYTES, adminOnly, adminPath, bodyOf } from "./record-plan.ts";

/** Inbound SMS of any account, and a way to simulate one in a sandbox account. */
export function inboundMessageEndpoints(deps: AdminDeps): readonly Endpoint[] {
  return [listInbound(deps), receiveInSandbox(deps)];
}

function listInbound({ store }: AdminDeps): Endpoint {
  return {
    ...adminOnly("inbound"),
    method: "GET",
    path: adminPath("inbound-messages"),
    operation: "listInboundMessages",
    summary:
      "List the inbound SMS of the last 7 days, newest first: of an account, or to numbers of no account",
    query: {
      account_id: Type.Optional(
        Type.String({ description: "Absent: messages to numbers that belong to no account" }),
      ),
      ...INBOUND_QUERY,
    },
    responses: { 200: { description: "A page of them", schema: pageSchema(InboundRow, "cursor") } },
    async handle({ query, now }) {
      const asked = readInboundQuery(query, now);
      const account = await accountOfQueryIfAny(store.records, query);
      const accountId = account?.id ?? null;
      return answerPage({ ...asked, accountId }, store.inbound.list, toRow);
    },
  };
}

function toRow(message: InboundMessage): object {
  return { ...toReceivedData(message), connector_id: message.connectorId };
}

/** The connector id of simulated messages. */
const SANDBOX = "sandbox";

const written = Type.Object({
  account_id: givenFields.account_id,
  from: Type.String({ minLength: 1, maxLength: 32, examples: ["+919876543210"] }),
  to: Type.String({ minLength: 1, maxLength: 32, examples: ["56161"] }),
  text: Type.String({ maxLength: 1_600 }),
});

/** For trying an account's webhook, list and stop words without a handset. */
function receiveInSandbox({ store, newId }: AdminDeps): Endpoint {
  return {
    ...adminOnly("sandbox"),
    method: "POST",
    path: adminPath("sandbox/inbound"),
    operation: "receiveInSandbox",
    summary: "Simulate an inbound SMS for a sandbox account",
    request: { schema: written, maxBytes: ADMIN_MAX_BYTES },
    responses: {
      201: { description: "Received", schema: Type.Object({ message_id: Type.String() }) },
    },
    async handle(call) {
      const draft = readDraft(written, bodyOf(call));
      const account = await accountNamed(store.records, draft.valid.account_id, draft.errors);
      for (const field of ["from", "to"] as const) {
        const address = draft.valid[field];
        if (address !== undefined && toInboundAddress(address) === "") draft.errors.add(field, "required");
      }
      const { from, to, text } = sealDraft(draft);
      if (account?.mode !== "sandbox") throw validationFailed({ account_id: "must be a sandbox account" });
      const id = newId();
      const { encoding, parts } = segmentSms(text);
      const message = { from: toInboundAddress(from), to: toInboundAddress(to), text, encoding };
      const origin = { id, key: id, connectorId: SANDBOX, accountId: account.id };
      const times = { receivedAt: call.now, sameSince: call.now };
      await store.inbound.receive([{ ...message, ...origin, ...times, segments: parts.length }]);
      return Response.json({ message_id: id }, { status: 201 });
    },
  };
}
