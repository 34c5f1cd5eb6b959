import Type from "typebox";
import type { Endpoint } from "../../endpoint.ts";
import { validationFailed } from "../../errors.ts";
import type { AdminDeps } from "../admin-deps.ts";
import { isDomain, NOT_A_DOMAIN } from "../domains/domain-name.ts";
import { adminOnly, adminPath, MISSING, recordOf } from "../record-plan.ts";

/** Tries a connector without sending anything. */
export function testEndpoint(deps: AdminDeps): Endpoint {
  return {
    ...adminOnly("connectors"),
    method: "POST",
    path: adminPath("connectors/{id}/test"),
    operation: "testConnector",
    summary: "Test a connector: connects, logs in and disconnects; sends nothing",
    query: {
      domain: Type.Optional(
        Type.String({
          description: "`mx` connectors: the domain whose mail hosts are tested; by default gmail.com.",
        }),
      ),
    },
    responses: {
      200: {
        description: "The result; a failed test has `ok` false",
        schema: Type.Object({ ok: Type.Boolean(), detail: Type.String() }),
      },
      404: MISSING,
    },
    async handle(call) {
      const domain = call.query.get("domain") ?? undefined;
      if (domain !== undefined && !isDomain(domain.toLowerCase()))
        throw validationFailed({ domain: NOT_A_DOMAIN });
      const { ok, detail } = await deps.checkConnector(await recordOf(deps, "connectors", call), domain);
      return Response.json({ ok, detail });
    },
  };
}
