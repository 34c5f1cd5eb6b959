import type { Clock } from "../../core/clock.ts";
import { sign } from "../../webhooks/sign.ts";
import { fetchProblem } from "../network/fetch-problem.ts";
import { pastProxy } from "../network/past-proxy.ts";
import type { FeedItem } from "./feed-client.ts";

export interface Forwarding {
  readonly url: string;
  /** `whsec_…` */
  readonly secret: string;
  readonly clock: Clock;
  /** Calls the POST off. */
  readonly signal: AbortSignal;
}

/** The time limit of a webhook. */
const TIME_LIMIT_MS = 15_000;

/** POSTs an event, signed like its webhook; returns the result in a few words. Never rejects. */
export async function forwardEvent(
  event: FeedItem,
  { url, secret, clock, signal }: Forwarding,
): Promise<string> {
  const { id, ...webhook } = event;
  const body = JSON.stringify(webhook);
  const timestamp = Math.floor(clock.now() / 1_000);
  const startedMs = clock.monotonicMs();
  try {
    const response = await fetch(url, {
      ...pastProxy(new URL(url)),
      method: "POST",
      redirect: "manual",
      headers: {
        "Content-Type": "application/json",
        "User-Agent": "Postrider-Listen",
        "webhook-id": id,
        "webhook-timestamp": String(timestamp),
        "webhook-signature": sign({ id, timestamp, body }, [secret]),
      },
      body,
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIME_LIMIT_MS)]),
    });
    await response.body?.cancel();
    return `${response.status} in ${Math.round(clock.monotonicMs() - startedMs)} ms`;
  } catch (error) {
    if (signal.aborted) return "called off";
    const isTooLate = (error as Error).name === "TimeoutError";
    return isTooLate ? `no answer in ${TIME_LIMIT_MS / 1_000} s` : fetchProblem(error);
  }
}
