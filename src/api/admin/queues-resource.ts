import Type from "typebox";
import type { QueueBacklog } from "../../store/store.ts";
import type { Endpoint } from "../endpoint.ts";
import type { AdminDeps } from "./admin-deps.ts";
import { adminOnly, adminPath } from "./record-plan.ts";
import { shownTime } from "./shown-fields.ts";

/** Counting costs, and from here on it makes no difference to whoever looks. */
const COUNTED = 10_000;

/** What waits to be sent: each route has a queue of its own, and so has the simulator. What only one connector may send may be in that one's. */
export function queueEndpoints({ store }: Pick<AdminDeps, "store">): readonly Endpoint[] {
  return [
    {
      ...adminOnly("messages"),
      method: "GET",
      path: adminPath("queues"),
      operation: "listQueues",
      summary: "List the queues, with how many messages are ready to be sent and since when",
      responses: { 200: { description: "All of them", schema: Type.Object({ data: Type.Array(shown) }) } },
      handle: async () => Response.json({ data: (await store.queue.backlog(COUNTED)).map(toResource) }),
    },
  ];
}

const shown = Type.Object({
  queue: Type.String({
    description:
      "Id of the route, or of the connector that alone may send what waits; or the name of one of the sandbox's",
  }),
  ready: Type.Integer({ description: `Messages in line, counted up to ${COUNTED}` }),
  has_more: Type.Boolean({ description: "Whether more are in line than were counted" }),
  oldest_ready_at: Type.Optional(
    Type.String({ format: "date-time", description: "Since when the oldest of them has been ready" }),
  ),
});

function toResource({ queue, ready, oldestReadySince }: QueueBacklog) {
  return { queue, ready, has_more: ready >= COUNTED, oldest_ready_at: shownTime(oldestReadySince) };
}
