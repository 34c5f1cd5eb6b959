import Type, { type TSchema } from "typebox";
import type { ConnectorKind } from "../../../channels/channel.ts";
import { CHANNELS } from "../../../core/messages/message.ts";
import type { Endpoint } from "../../endpoint.ts";
import type { AdminDeps } from "../admin-deps.ts";
import { adminOnly, adminPath } from "../record-plan.ts";

/** Tells what connectors there may be, and the fields of each kind: the command line and the console make their forms of it. */
export function kindsEndpoint(deps: AdminDeps): Endpoint {
  const kinds = deps.connectorKinds.map(({ kind, channel, config: schema, secrets }) => ({
    kind,
    channel,
    config: schema,
    secrets: Object.keys(secrets),
    secret_descriptions: secrets,
  }));
  const anySchema: TSchema = Type.Object({}, { additionalProperties: true });
  return {
    ...adminOnly("connectors"),
    method: "GET",
    path: adminPath("connector-kinds"),
    operation: "listConnectorKinds",
    summary: "List the kinds of connectors with the JSON schema of their configuration",
    responses: {
      200: {
        description: "All of them",
        schema: Type.Object({
          data: Type.Array(
            Type.Object({
              kind: Type.String(),
              channel: Type.Enum(CHANNELS),
              config: anySchema,
              secrets: Type.Array(Type.String()),
              secret_descriptions: Type.Record(Type.String(), Type.String()),
            }),
          ),
        }),
      },
    },
    handle: () => Response.json({ data: kinds }),
  };
}

export function kindNamed(
  { connectorKinds }: AdminDeps,
  name: string | undefined,
): ConnectorKind | undefined {
  return connectorKinds.find((each) => each.kind === name);
}
