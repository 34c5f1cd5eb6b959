/** The list of an account's inbound SMS, and how a page of such a list is described. */
import Type from "typebox";
import { toReceivedData } from "../../core/webhooks/received-event.ts";
import type { InboundStore } from "../../store/store.ts";
import { answerPage } from "../answer-page.ts";
import { callerOf } from "../caller.ts";
import type { Endpoint } from "../endpoint.ts";
import { INBOUND_QUERY, readInboundQuery } from "./inbound-query.ts";
import { InboundSms } from "./inbound-resource.ts";

export function inboundEndpoints(inbound: Pick<InboundStore, "list">): readonly Endpoint[] {
  return [
    {
      method: "GET",
      path: "/v1/sms/inbound",
      operation: "listInboundSms",
      summary: "List what handsets wrote to the account, newest first, of the last 7 days",
      tag: "SMS",
      auth: "api-key",
      query: INBOUND_QUERY,
      responses: { 200: { description: "A page of them", schema: inboundPageSchema(InboundSms) } },
      async handle(call) {
        const query = readInboundQuery(call.query, call.now);
        const accountId = callerOf(call).account.id;
        return answerPage({ ...query, accountId }, inbound.list, toReceivedData);
      },
    },
  ];
}

export function inboundPageSchema(row: typeof InboundSms | ReturnType<typeof Type.Object>) {
  return Type.Object({
    data: Type.Array(row),
    next: Type.Optional(
      Type.String({ description: "Give it as `cursor` for the next page; absent on the last" }),
    ),
  });
}
