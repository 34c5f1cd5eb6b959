/** The list of an account's inbound SMS. */
import { toReceivedData } from "../../core/webhooks/received-event.ts";
import type { InboundStore } from "../../store/store.ts";
import { callerOf } from "../caller.ts";
import type { Endpoint } from "../endpoint.ts";
import { answerPage, pageSchema } from "../lists/answer-page.ts";
import { INBOUND_QUERY, readInboundQuery } from "./inbound-query.ts";
import { InboundSms } from "./inbound-resource.ts";

export function inboundEndpoints(inbound: Pick<InboundStore, "list">): readonly Endpoint[] {
  return [
    {
      method: "GET",
      path: "/v1/sms/inbound",
      operation: "listInboundSms",
      summary: "List the inbound SMS of the last 7 days, newest first",
      tag: "SMS",
      auth: "api-key",
      query: INBOUND_QUERY,
      responses: { 200: { description: "A page of them", schema: pageSchema(InboundSms, "cursor") } },
      async handle(call) {
        const query = readInboundQuery(call.query, call.now);
        const accountId = callerOf(call).account.id;
        return answerPage({ ...query, accountId }, inbound.list, toReceivedData);
      },
    },
  ];
}
