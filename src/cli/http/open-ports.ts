import type { AnswerRequest } from "../../api/app-deps.ts";
import { notFound, refusalResponse } from "../../api/errors.ts";
import { pathOf } from "../../api/router.ts";
import { present } from "../../core/present.ts";
import type { Config } from "../config.ts";
import type { Parts } from "../parts.ts";
import { type Listener, listen } from "./listen.ts";

export interface Ports {
  readonly listener: Listener;
  /** That of the port for probes and metrics alone, if there is one. */
  readonly metricsListener: Listener | undefined;
}

type PortParts = Pick<Parts, "config" | "clock" | "ids">;

/** Opens the ports on which the process takes HTTP requests: all of them, or it throws `ListenFailure` and none stays open. */
export async function openPorts(parts: PortParts, fetch: AnswerRequest): Promise<Ports> {
  const { config, clock } = parts;
  // First: on a shared port, a start that fails afterwards would have taken requests from the other processes.
  const metricsListener = listenForMetrics(parts, fetch);
  try {
    const listener = listen({ ...config, ...present({ sharing: sharingOf(config) }) }, clock, fetch);
    return { listener, metricsListener };
  } catch (error) {
    await metricsListener?.stop();
    throw error;
  }
}

/** How many threads listen besides the main one. */
export function otherListeners({ roles, listeners }: Config): number {
  return roles.has("api") ? listeners - 1 : 0;
}

/** Who else listens on the port: other processes, or the listeners that this one starts. */
function sharingOf(config: Config): "joins" | "first" | undefined {
  if (config.sharesPort) return "joins";
  return otherListeners(config) > 0 ? "first" : undefined;
}

const METRICS_PATHS = ["/healthz", "/readyz", "/metrics"];

/** At this port, a process that shares the other one can be asked for itself. */
function listenForMetrics({ config, clock, ids }: PortParts, fetch: AnswerRequest): Listener | undefined {
  const { metrics, tls } = config;
  if (!metrics) return undefined;
  const answer: AnswerRequest = async (request, addressOf) =>
    METRICS_PATHS.includes(pathOf(request.url))
      ? fetch(request, addressOf)
      : refusalResponse(notFound(), ids());
  return listen({ ...metrics, tls, prefix: "METRICS_" }, clock, answer);
}
