/** The list of an account's inbound SMS, and how a page of such a list is read and described. */
import Type from "typebox";
import type { InboundMessage, InboundQuery } from "../../core/inbound/inbound.ts";
import { toReceivedData } from "../../core/webhooks/received-event.ts";
import type { InboundStore } from "../../store/store.ts";
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
        return Response.json(await readInboundPage(inbound, { ...query, accountId }, toReceivedData));
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

/** Reads one more than the page holds: whether there is a next page costs no second query. */
export async function readInboundPage(
  inbound: Pick<InboundStore, "list">,
  query: InboundQuery,
  show: (message: InboundMessage) => object,
): Promise<{ readonly data: readonly object[]; readonly next?: string | undefined }> {
  const found = await inbound.list({ ...query, limit: query.limit + 1 });
  const shown = found.slice(0, query.limit);
  return { data: shown.map(show), next: found.length > query.limit ? shown.at(-1)?.id : undefined };
}
