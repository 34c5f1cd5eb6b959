import Type from "typebox";
import { StoreUnavailable } from "../store/store.ts";
import type { AppDeps } from "./app-deps.ts";
import type { Endpoint } from "./endpoint.ts";

const PROBES = ["healthz", "readyz", "metrics"];

/** Whether an endpoint answers in any state of the process. */
export function isProbe(endpoint: Endpoint): boolean {
  return PROBES.includes(endpoint.operation);
}

const Health = Type.Object({ status: Type.Literal("ok") }, { title: "Health" });
const Readiness = Type.Object(
  {
    status: Type.String({ enum: ["ready", "not ready"] }),
    problems: Type.Optional(Type.Array(Type.String())),
    warnings: Type.Optional(
      Type.Array(Type.String(), {
        description: "What an operator should look at, though the process serves",
      }),
    ),
  },
  { title: "Readiness" },
);

export function healthEndpoints(deps: AppDeps): readonly Endpoint[] {
  const { metrics, readiness, warnings = () => [], isLeaving } = deps;
  return [
    {
      method: "GET",
      path: "/healthz",
      operation: "healthz",
      summary: "Whether the process runs",
      tag: "Operation",
      auth: "none",
      responses: { 200: { description: "It runs.", schema: Health } },
      handle: () => Response.json({ status: "ok" }),
    },
    {
      method: "GET",
      path: "/readyz",
      operation: "readyz",
      summary: "Whether the process serves",
      tag: "Operation",
      auth: "none",
      responses: {
        200: { description: "The database answers and the loops of this process turn.", schema: Readiness },
        503: { description: "`problems` says what keeps it from serving.", schema: Readiness },
      },
      async handle() {
        const problems = isLeaving() ? ["draining"] : await problemsOf(readiness);
        if (problems.length === 0) return Response.json({ status: "ready", ...orAbsent(warnings()) });
        return Response.json(
          { status: "not ready", problems },
          { status: 503, headers: { "Retry-After": "1" } },
        );
      },
    },
    {
      method: "GET",
      path: "/metrics",
      operation: "metrics",
      summary: "Metrics in the Prometheus exposition format",
      tag: "Operation",
      auth: "none",
      responses: { 200: { description: "Metrics.", schema: Type.String(), mediaType: "text/plain" } },
      handle: async () =>
        new Response(await metrics(), {
          headers: { "Content-Type": "text/plain; version=0.0.4; charset=utf-8" },
        }),
    },
  ];
}

function orAbsent(warnings: readonly string[]): { readonly warnings?: readonly string[] } {
  return warnings.length > 0 ? { warnings } : {};
}

async function problemsOf(readiness: AppDeps["readiness"]): Promise<readonly string[]> {
  try {
    return await readiness();
  } catch (error) {
    if (error instanceof StoreUnavailable) return ["the database does not answer"];
    throw error;
  }
}
