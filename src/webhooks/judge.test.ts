import { describe, expect, test } from "bun:test";
import type { PostOutcome } from "./http/outbound-http.ts";
import { healthOf, judge } from "./judge.ts";

const NOW = 1_700_000_000_000;
const context = { failures: 0, now: NOW, jitter: 0.5 };
const answered = (status: number, retryAfter?: string): PostOutcome => ({
  kind: "answered",
  status,
  head: "",
  ms: 5,
  ...(retryAfter !== undefined && { retryAfter }),
});
const failed = (reason: Extract<PostOutcome, { kind: "failed" }>["reason"]): PostOutcome => ({
  kind: "failed",
  reason,
  message: "",
  ms: 5,
});

describe("the event", () => {
  test.each([200, 201, 202, 204, 299])("is delivered when the answer is %d", (status) => {
    expect(judge(answered(status), context)).toEqual({ kind: "delivered" });
  });

  test.each([101, 300, 302, 304, 400, 401, 404, 408, 413, 429, 500, 502, 503, 504])(
    "is tried again after an answer of %d",
    (status) => {
      expect(judge(answered(status), context)).toEqual({ kind: "again", at: NOW + 5_000 });
    },
  );

  test.each(["refused_address", "dns", "connect", "tls", "timeout", "closed", "malformed"] as const)(
    "is tried again after %s",
    (reason) => {
      expect(judge(failed(reason), { ...context, failures: 3 })).toEqual({
        kind: "again",
        at: NOW + 1_800_000,
      });
    },
  );

  test("waits for as long as the receiver asks", () => {
    expect(judge(answered(429, "120"), { ...context, jitter: 0 })).toEqual({
      kind: "again",
      at: NOW + 120_000,
    });
    expect(judge(answered(503, "Tue, 14 Nov 2023 23:13:20 GMT"), { ...context, jitter: 0 })).toEqual({
      kind: "again",
      at: NOW + 3_600_000,
    });
    expect(judge(answered(429, "whenever"), context)).toEqual({ kind: "again", at: NOW + 5_000 });
  });

  test("rests as failed when the receiver is gone, the URL is none, or eight repeats have failed", () => {
    expect(judge(answered(410), context)).toEqual({ kind: "ended", reason: "gone" });
    expect(judge(failed("refused_url"), context)).toEqual({ kind: "ended", reason: "refused_url" });
    expect(judge(answered(500), { ...context, failures: 7 })).toMatchObject({ kind: "again" });
    expect(judge(answered(500), { ...context, failures: 8 })).toEqual({ kind: "ended", reason: "spent" });
  });

  test("is as if never tried when the program ended in between", () => {
    expect(judge(failed("stopped"), { ...context, failures: 8 })).toEqual({ kind: "released" });
  });
});

describe("the host", () => {
  test("is healthy after a success, failing after a failure, and not judged by what is one URL's or ours", () => {
    expect(healthOf(answered(204), NOW)).toEqual({ kind: "healthy" });
    expect(healthOf(answered(500), NOW)).toEqual({
      kind: "failing",
      reason: "status 500",
      isThere: true,
      mayBeOfUrl: true,
      isServerError: true,
    });
    expect(healthOf(answered(404), NOW)).toEqual({
      kind: "failing",
      reason: "status 404",
      isThere: true,
      mayBeOfUrl: true,
    });
    expect(healthOf(answered(429, "7"), NOW)).toEqual({
      kind: "failing",
      reason: "status 429",
      isThere: true,
      retryAfterMs: 7_000,
    });
    // Who asks for time asks for it for the host, whatever the status.
    expect(healthOf(answered(500, "60"), NOW)).toEqual({
      kind: "failing",
      reason: "status 500",
      isThere: true,
      retryAfterMs: 60_000,
      isServerError: true,
    });
    for (const status of [429, 503])
      expect(healthOf(answered(status), NOW)).toEqual({
        kind: "failing",
        reason: `status ${status}`,
        isThere: true,
        asksForTime: true,
        ...(status === 503 && { isServerError: true }),
      });
    expect(healthOf(failed("timeout"), NOW)).toEqual({ kind: "failing", reason: "timeout" });
    expect(healthOf(answered(410), NOW)).toEqual({ kind: "answering" });
    for (const outcome of [failed("refused_url"), failed("stopped")]) {
      expect(healthOf(outcome, NOW)).toEqual({ kind: "unknown" });
    }
  });
});
