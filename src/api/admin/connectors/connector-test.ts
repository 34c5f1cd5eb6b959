import { isDeepStrictEqual } from "node:util";
import Type from "typebox";
import type { ConnectorKind } from "../../../channels/channel.ts";
import type { ErrorCollector } from "../../../core/body/field-errors.ts";
import type { Connector } from "../../../core/records/accounts.ts";
import type { Endpoint } from "../../endpoint.ts";
import { validationFailed } from "../../errors.ts";
import type { AdminDeps } from "../admin-deps.ts";
import { isDomain, NOT_A_DOMAIN } from "../domains/domain-name.ts";
import { readDraft, sealDraft } from "../draft.ts";
import { ADMIN_MAX_BYTES, adminOnly, adminPath, bodyOf, MISSING, recordOf } from "../record-plan.ts";
import { type ConnectorSettings, changeSettings, withDefaults } from "./connector-config.ts";
import { kindNamed } from "./connector-kinds.ts";

/** Tries a connector, or how one would be after a change, without sending or storing anything. */
export function testEndpoint(deps: AdminDeps): Endpoint {
  return {
    ...adminOnly("connectors"),
    method: "POST",
    path: adminPath("connectors/{id}/test"),
    operation: "testConnector",
    summary:
      "Test a connector, as it is or with other settings: connects, logs in and disconnects, beside what it has open; sends and stores nothing",
    query: {
      domain: Type.Optional(
        Type.String({
          description: "`mx` connectors: the domain whose mail hosts are tested; by default gmail.com.",
        }),
      ),
    },
    request: { schema: changes, maxBytes: ADMIN_MAX_BYTES, mayBeAbsent: true },
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
      const connector = await recordOf(deps, "connectors", call);
      const draft = readDraft(changes, bodyOf(call));
      const kind = kindNamed(deps, connector.kind);
      const { config: given = {} } = draft.valid;
      const isChanged = kind !== undefined && Object.keys(given).length > 0;
      const settings = isChanged ? triedSettings(kind, { current: connector, given }, draft.errors) : {};
      sealDraft(draft);
      const { ok, detail } = await deps.checkConnector({ ...connector, ...settings }, domain);
      return Response.json({ ok, detail });
    },
  };
}

const changes = Type.Object({
  config: Type.Optional(
    Type.Object(
      {},
      {
        additionalProperties: true,
        description:
          "Fields to try, secrets among them, as in a change: null clears, and the others are as they are stored. " +
          "Where one of them changes to whom secrets are sent, such as `host`, the secrets have to be given, too",
      },
    ),
  ),
});

/**
 * The settings that a test tries. Whoever may test a connector could otherwise read its secrets, by a test at a host of their own: to
 * another place than is stored go only secrets that are given.
 */
function triedSettings(
  kind: ConnectorKind,
  { current, given }: { readonly current: Connector; readonly given: object },
  errors: ErrorCollector,
): ConnectorSettings {
  const { config, secrets } = changeSettings(kind, { current, given }, errors);
  const moved = movedBy(kind, current.config, config);
  if (moved.length === 0) return { config, secrets };
  const isGiven = ([name]: readonly [string, string]) => Object.hasOwn(given, name);
  for (const [name] of Object.entries(current.secrets).filter((each) => !isGiven(each)))
    if (isSent(kind, name)) errors.add(`config.${name}`, toBeGiven(moved));
  return { config, secrets: Object.fromEntries(Object.entries(secrets).filter(isGiven)) };
}

/** The fields that decide where secrets go, and differ. */
function movedBy(
  kind: ConnectorKind,
  before: Connector["config"],
  after: Connector["config"],
): readonly string[] {
  const [was, is] = [before, after].map((config) => withDefaults(kind, config) as Connector["config"]);
  const names = kind.destination?.fields ?? Object.keys({ ...was, ...is });
  return names.filter((name) => !isDeepStrictEqual(was?.[name], is?.[name]));
}

/** Whether tests send the secret. */
function isSent({ destination, callbacks }: ConnectorKind, secret: string): boolean {
  return destination ? destination.secrets.includes(secret) : secret !== callbacks?.tokenSecret;
}

function toBeGiven(moved: readonly string[]): string {
  const names = moved.map((name) => `\`${name}\``).join(", ");
  return `required with another ${names}: a test sends the stored one only to where it is stored for`;
}
