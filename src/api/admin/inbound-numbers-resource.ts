import Type from "typebox";
import { toInboundAddress } from "../../core/inbound/inbound-address.ts";
import { present } from "../../core/present.ts";
import type { InboundNumber } from "../../core/records/accounts.ts";
import { toNumberPart } from "../../core/sms/phone-number.ts";
import type { Endpoint } from "../endpoint.ts";
import type { AdminDeps } from "./admin-deps.ts";
import { connectorProblem, type Draft } from "./draft.ts";
import { givenFields } from "./given-fields.ts";
import { recordEndpoints } from "./record-endpoints.ts";
import type { RecordPlan } from "./record-plan.ts";
import { shownFields } from "./shown-fields.ts";

/** Inbound numbers: the numbers and short codes whose messages an account receives. */
export function inboundNumberEndpoints(deps: AdminDeps): readonly Endpoint[] {
  const judge = (draft: Draft<typeof changes>) => judgeGiven(deps, draft);
  return recordEndpoints(deps, plan, {
    create: {
      schema: Type.Object({
        account_id: givenFields.account_id,
        number,
        connector_id: Type.Optional(connectorId),
      }),
      judge,
      toRecord: (given, stamp) =>
        present({
          ...stamp,
          number: toInboundAddress(given.number),
          connectorId: given.connector_id?.toLowerCase(),
        }),
    },
    update: {
      schema: changes,
      clearable: { connector_id: "connectorId" },
      judge,
      toChanges: (given) =>
        present({
          number: given.number === undefined ? undefined : toInboundAddress(given.number),
          connectorId: given.connector_id?.toLowerCase(),
        }),
    },
  });
}

const number = Type.String({
  minLength: 1,
  maxLength: 32,
  description: "The number (E.164) or short code that handsets write to",
  examples: ["+14155550123"],
});
const connectorId = Type.String({
  minLength: 1,
  maxLength: 64,
  description: "The connector for SMS that receives its messages; absent: any",
});

const changes = Type.Object({ number: Type.Optional(number), connector_id: Type.Optional(connectorId) });

async function judgeGiven(deps: AdminDeps, { valid, errors }: Draft<typeof changes>): Promise<void> {
  // The schema accepts blanks, of which nothing is left.
  if (valid.number !== undefined && toInboundAddress(valid.number) === "") errors.add("number", "required");
  const id = valid.connector_id;
  const problem = id === undefined ? undefined : await connectorProblem(deps, id, "sms");
  if (problem !== undefined) errors.add("connector_id", problem);
}

const plan: RecordPlan<"inboundNumbers"> = {
  kind: "inboundNumbers",
  path: "inbound-numbers",
  noun: "inbound number",
  operation: "InboundNumber",
  filters: { account_id: "accountId", connector_id: "connectorId" },
  calledBy: { number: "number" },
  toSearched: toNumberPart,
  shown: Type.Object({
    account_id: shownFields.account_id,
    number,
    connector_id: Type.Optional(connectorId),
  }),
  show: toResource,
};

function toResource(inbound: InboundNumber) {
  return {
    account_id: inbound.accountId,
    number: inbound.number,
    connector_id: inbound.connectorId,
  };
}
