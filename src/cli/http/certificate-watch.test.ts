import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { earlyTls, expiredTls } from "../../../test/fakes/doubtful-tls.ts";
import { createHeldClock } from "../../../test/fakes/held-clock.ts";
import { testTls } from "../../../test/fakes/test-tls.ts";
import { folderUntilTheEnd } from "../../../test/temp-folder.ts";
import { until } from "../../../test/until.ts";
import { DAY_MS, SECOND_MS } from "../../core/time/durations.ts";
import { createCertificateWatch } from "./certificate-watch.ts";

/** Of `expiredTls`, */
const FIRST_BEGIN = Date.UTC(2020, 0, 1);
const FIRST_END = Date.UTC(2020, 0, 2);
/** and of the others. */
const LAST_END = Date.UTC(2120, 0, 1);
const EARLY_BEGIN = Date.UTC(2110, 0, 1);

interface Given {
  readonly served?: { readonly cert: string; readonly key: string };
  /** What the file holds by now. */
  readonly filed?: string;
  readonly now: number;
}

/** A watch that has started. It reads a real file, so what a look comes to is waited for. */
function watching({ served = testTls, filed = served.cert, now }: Given) {
  const certificateFile = join(folderUntilTheEnd("postrider-tls-"), "cert.pem");
  writeFileSync(certificateFile, filed);
  const clock = createHeldClock(now);
  const logged: string[] = [];
  const warn = (_: object, message: string) => void logged.push(message);
  const watch = createCertificateWatch({ config: { tls: served, certificateFile }, clock, log: { warn } });
  watch.start();
  const hasLogged = (count: number) =>
    until(
      () => logged.length,
      (length) => length === count,
    );
  return { ...watch, logged, hasLogged, clock, certificateFile };
}

const ENDS = "the certificate that is served ends at 2120-01-01T00:00:00.000Z";
const ENDED = "the certificate that is served ended at 2020-01-02T00:00:00.000Z";
const AT_A_RESTART = "a new one in TLS_CERT is taken at a restart";

test("a certificate that is good for two weeks or longer is nothing to warn of, until it no longer is", async () => {
  const { logged, warnings, validity, clock, stop } = watching({ now: LAST_END - 14 * DAY_MS });
  expect([warnings(), validity()?.endsAt]).toEqual([[], LAST_END]);
  await stop();
  expect(logged).toEqual([]);
  await clock.advance(1);
  expect(warnings()).toEqual([`${ENDS}: ${AT_A_RESTART}`]);
});

test("a certificate of days is nothing to warn of until a third of its time is left", async () => {
  const third = (FIRST_END - FIRST_BEGIN) / 3;
  const { warnings, clock, stop } = watching({ served: expiredTls, now: FIRST_END - third });
  expect(warnings()).toEqual([]);
  await clock.advance(1);
  expect(warnings()).toEqual([
    `the certificate that is served ends at 2020-01-02T00:00:00.000Z: ${AT_A_RESTART}`,
  ]);
  await stop();
});

test.each([
  ["ends within two weeks", testTls, LAST_END - 14 * DAY_MS + 1, ENDS],
  ["has ended", expiredTls, FIRST_END + SECOND_MS, ENDED],
  [
    "is not valid yet",
    earlyTls,
    EARLY_BEGIN - 2 * DAY_MS,
    "the certificate that is served is valid only from 2110-01-01T00:00:00.000Z on",
  ],
])(
  "a certificate that %s is warned of at the start, and then once a day",
  async (_, served, now, problem) => {
    const { logged, hasLogged, warnings, clock, stop } = watching({ served, now });
    const warning = `${problem}: ${AT_A_RESTART}`;
    await hasLogged(1);
    expect([logged, warnings()]).toEqual([[warning], [warning]]);
    await clock.advance(DAY_MS - 1);
    expect(logged).toHaveLength(1);
    await clock.advance(1);
    await hasLogged(2);
    await stop();
  },
);

test("a newer certificate in the file is told of, since it takes a restart to serve it", async () => {
  const given = { served: expiredTls, filed: `\uFEFF${testTls.cert}`, now: FIRST_END + DAY_MS };
  const { logged, hasLogged, warnings, clock, certificateFile, stop } = watching(given);
  await hasLogged(1);
  expect(logged).toEqual([
    `${ENDED}: TLS_CERT has one by now that ends at 2120-01-01T00:00:00.000Z: restart to serve it`,
  ]);
  expect(warnings()).toEqual(logged);
  writeFileSync(certificateFile, "half a certif");
  await clock.advance(DAY_MS);
  await hasLogged(2);
  expect(warnings()).toEqual([`${ENDED}: ${AT_A_RESTART}`]);
  rmSync(certificateFile);
  await clock.advance(DAY_MS);
  await hasLogged(3);
  expect(warnings()).toEqual([`${ENDED}: ${AT_A_RESTART}`]);
  await stop();
});

test("a pipe that gave the certificate at the start is not waited for", async () => {
  const { warnings, hasLogged, clock, certificateFile, stop } = watching({
    served: expiredTls,
    now: FIRST_END + DAY_MS,
  });
  await hasLogged(1);
  rmSync(certificateFile);
  expect(spawnSync("sh", ["-c", 'mkfifo "$1"', "sh", certificateFile]).status).toBe(0);
  await clock.advance(DAY_MS);
  await hasLogged(2);
  expect(warnings()).toEqual([`${ENDED}: ${AT_A_RESTART}`]);
  await stop();
});

test("without a certificate there is nothing to look at", async () => {
  const clock = createHeldClock(LAST_END);
  const logged: string[] = [];
  const warn = (_: object, message: string) => void logged.push(message);
  const { start, warnings, validity, stop } = createCertificateWatch({ config: {}, clock, log: { warn } });
  start();
  await clock.advance(DAY_MS);
  await stop();
  expect([logged, warnings(), validity()]).toEqual([[], [], undefined]);
});
