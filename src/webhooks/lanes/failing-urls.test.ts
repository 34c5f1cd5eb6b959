import { expect, test } from "bun:test";
import type { HostHealth } from "../judge.ts";
import { createFailingUrls } from "./failing-urls.ts";

const NOT_FOUND: HostHealth = { kind: "failing", reason: "status 404", isThere: true, mayBeOfUrl: true };
const HEALTHY: HostHealth = { kind: "healthy" };
const MINUTE = 60_000;

/** What each failure of a URL is said to be, one a second, from `startMs`. */
function fail(urls: ReturnType<typeof createFailingUrls>, count: number, startMs: number, url = "/off") {
  return Array.from({ length: count }, (_, n) => urls.learn(url, NOT_FOUND, startMs + n * 1_000));
}

test("a URL that fails three times in a row while its host takes something for another is to blame itself", () => {
  const urls = createFailingUrls();
  expect(fail(urls, 1, 1_000)).toEqual([false]);
  urls.learn("/on", HEALTHY, 1_500);
  expect(fail(urls, 3, 2_000)).toEqual([false, true, true]);
  expect([urls.has("/off"), urls.has("/on"), urls.size()]).toEqual([true, false, 1]);
});

test("a host that has taken nothing since its URL failed, or not for ten minutes, may be what fails", () => {
  const urls = createFailingUrls();
  urls.learn("/on", HEALTHY, 0);
  expect(fail(urls, 5, 0)).not.toContain(true);
  urls.learn("/on", HEALTHY, MINUTE);
  expect(fail(urls, 1, 11 * MINUTE - 1)).toEqual([true]);
  expect(fail(urls, 1, 11 * MINUTE)).toEqual([false]);
});

test("a URL that succeeds is as good as any", () => {
  const urls = createFailingUrls();
  fail(urls, 5, 0);
  urls.learn("/off", HEALTHY, 6_000);
  expect(urls.has("/off")).toBe(false);
  expect(fail(urls, 5, 7_000)).not.toContain(true);
});

test("what is about the host, or about nothing, is no URL's failure", () => {
  const urls = createFailingUrls();
  for (const reason of ["timeout", "status 503"]) urls.learn("/off", { kind: "failing", reason }, 0);
  for (const kind of ["answering", "unknown"] as const) urls.learn("/off", { kind }, 0);
  expect(urls.size()).toBe(0);
});

test("no more than 32 are known, those that failed last", () => {
  const urls = createFailingUrls();
  for (let n = 0; n < 100; n++) {
    fail(urls, 1, n, "/again");
    fail(urls, 1, n, `/${n}`);
  }
  expect([urls.size(), urls.has("/again"), urls.has("/99"), urls.has("/0")]).toEqual([32, true, true, false]);
});
