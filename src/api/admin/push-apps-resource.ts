import Type from "typebox";
import { present } from "../../core/present.ts";
import { PUSH_PLATFORMS, type PushApp } from "../../core/records/accounts.ts";
import type { Endpoint } from "../endpoint.ts";
import type { AdminDeps } from "./admin-deps.ts";
import { givenFields } from "./given-fields.ts";
import { recordEndpoints } from "./record-endpoints.ts";
import type { RecordPlan } from "./record-plan.ts";
import { shownFields } from "./shown-fields.ts";

/** Push apps: the applications whose devices may register. */
export function pushAppEndpoints(deps: AdminDeps): readonly Endpoint[] {
  return recordEndpoints(deps, plan, {
    create: {
      schema: Type.Object({
        account_id: givenFields.account_id,
        name: givenFields.name,
        platforms: Type.Optional(platforms),
      }),
      toRecord: (given, stamp) => ({
        ...stamp,
        name: given.name,
        platforms: [...new Set(given.platforms ?? PUSH_PLATFORMS)],
      }),
    },
    update: {
      schema: Type.Object({
        name: Type.Optional(givenFields.name),
        platforms: Type.Optional(platforms),
      }),
      toChanges: (given) =>
        present({ name: given.name, platforms: given.platforms && [...new Set(given.platforms)] }),
    },
    remove: { usedBy: async () => [ITS_DEVICES] },
  });
}

const ITS_DEVICES = "devices registered with it, which are deleted with their contacts";

const platforms = Type.Array(Type.Enum(PUSH_PLATFORMS, { type: "string" }), {
  minItems: 1,
  maxItems: 3,
  description: "Which platforms may register; absent: all three",
});

const plan: RecordPlan<"pushApps"> = {
  kind: "pushApps",
  path: "push-apps",
  noun: "push app",
  operation: "PushApp",
  idName: "push_app_id",
  filters: { account_id: "accountId" },
  calledBy: { name: "name" },
  shown: Type.Object({
    account_id: shownFields.account_id,
    name: Type.String(),
    platforms,
  }),
  show: toResource,
};

function toResource(app: PushApp) {
  return {
    account_id: app.accountId,
    name: app.name,
    platforms: app.platforms,
  };
}
