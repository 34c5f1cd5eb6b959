import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { earlyTls, expiredTls, selfSignedTls } from "../../../test/fakes/doubtful-tls.ts";
import { createHeldClock } from "../../../test/fakes/held-clock.ts";
import { testTls } from "../../../test/fakes/test-tls.ts";
import { folderUntilTheEnd } from "../../../test/temp-folder.ts";
import { until } from "../../../test/until.ts";
import { DAY_MS, SECOND_MS } from "../../core/time/durations.ts";
import { createCertificateWatch } from "./certificate-watch.ts";
import type { Tls } from "./tls-files.ts";

/** Of `expiredTls`, */
const FIRST_BEGIN = Date.UTC(2020, 0, 1);
const FIRST_END = Date.UTC(2020, 0, 2);
/** and of the others. */
const LAST_END = Date.UTC(2120, 0, 1);
const EARLY_BEGIN = Date.UTC(2110, 0, 1);

interface Given {
  readonly served?: Tls;
  readonly now: number;
  /** `false`: it came from a pipe. */
  readonly isFromFiles?: boolean;
}

/** A watch that has started. It reads real files, so what a look comes to is waited for. */
function watching({ served = testTls, now, isFromFiles = true }: Given) {
  const folder = folderUntilTheEnd("postrider-tls-");
  const tlsFiles = { cert: join(folder, "cert.pem"), key: join(folder, "key.pem") };
  const write = ({ cert, key }: Partial<Tls>) => {
    if (cert !== undefined) writeFileSync(tlsFiles.cert, cert);
    if (key !== undefined) writeFileSync(tlsFiles.key, key);
  };
  write(served);
  const clock = createHeldClock(now);
  const logged: string[] = [];
  const line = (_: object, message: string) => void logged.push(message);
  const tls = { cert: served.cert, key: served.key };
  const config = { tls, ...(isFromFiles && { tlsFiles }) };
  const watch = createCertificateWatch({ config, clock, log: { info: line, warn: line } });
  const renewed: Tls[] = [];
  let fault: Error | undefined;
  watch.start(async (tls) => {
    if (fault) throw fault;
    renewed.push(tls);
  });
  const hasLogged = (count: number) =>
    until(
      () => logged.length,
      (length) => length === count,
    );
  return {
    ...watch,
    logged,
    hasLogged,
    clock,
    tlsFiles,
    write,
    renewed,
    fail(error: Error | undefined) {
      fault = error;
    },
    /** Looks that have ended: each then waits for its next time, as the daily warning does. */
    async looked(times: number) {
      for (let time = 0; time < times; time++) {
        await until(() => clock.pending() === 2);
        await clock.advance(LOOK_MS);
      }
      await until(() => clock.pending() === 2);
    },
  };
}

const LOOK_MS = 5_000;

const ENDS = "the certificate that is served ends at 2120-01-01T00:00:00.000Z";
const ENDED = "the certificate that is served ended at 2020-01-02T00:00:00.000Z";
const SOON = "a new one in TLS_CERT is served within 15 s";
const STILL = "the certificate from before is still served";

test("a certificate that is good for two weeks or longer is nothing to warn of, until it no longer is", async () => {
  const { logged, warnings, validity, clock, stop } = watching({ now: LAST_END - 14 * DAY_MS });
  expect([warnings(), validity()?.endsAt]).toEqual([[], LAST_END]);
  await stop();
  expect(logged).toEqual([]);
  await clock.advance(1);
  expect(warnings()).toEqual([`${ENDS}: ${SOON}`]);
});

test("a certificate of days is nothing to warn of until a third of its time is left", async () => {
  const third = (FIRST_END - FIRST_BEGIN) / 3;
  const { warnings, clock, stop } = watching({ served: expiredTls, now: FIRST_END - third });
  expect(warnings()).toEqual([]);
  await clock.advance(1);
  expect(warnings()).toEqual([`the certificate that is served ends at 2020-01-02T00:00:00.000Z: ${SOON}`]);
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
    const warning = `${problem}: ${SOON}`;
    await hasLogged(1);
    expect([logged, warnings()]).toEqual([[warning], [warning]]);
    await clock.advance(DAY_MS - 1);
    expect(logged).toHaveLength(1);
    await clock.advance(1);
    await hasLogged(2);
    await stop();
  },
);

test("new files are served once two looks have found the same, and the log says until when", async () => {
  const { renewed, looked, write, logged, validity, warnings, stop } = watching({
    served: expiredTls,
    now: FIRST_END + DAY_MS,
  });
  await looked(2);
  expect([renewed, logged]).toEqual([[], [`${ENDED}: ${SOON}`]]);
  write({ cert: `\uFEFF${testTls.cert}` });
  await looked(1);
  write({ key: testTls.key });
  await looked(1);
  expect(renewed).toEqual([]);
  await looked(1);
  expect(renewed).toEqual([{ cert: testTls.cert, key: testTls.key }]);
  expect([logged.slice(1), warnings(), validity()?.endsAt]).toEqual([
    ["a new certificate is served"],
    [],
    LAST_END,
  ]);
  await looked(3);
  expect(renewed).toHaveLength(1);
  await stop();
});

test("files that are linked to anew, as Kubernetes and certbot do, are followed", async () => {
  const { renewed, looked, write, tlsFiles, stop } = watching({ now: LAST_END - 99 * DAY_MS });
  for (const path of Object.values(tlsFiles)) {
    renameSync(path, `${path}.1`);
    symlinkSync(`${path}.1`, path);
  }
  await looked(2);
  expect(renewed).toEqual([]);
  write({});
  for (const [name, path] of Object.entries(tlsFiles)) {
    writeFileSync(`${path}.2`, selfSignedTls[name as keyof Tls]);
    rmSync(path);
    symlinkSync(`${path}.2`, path);
  }
  await looked(3);
  expect(renewed).toEqual([selfSignedTls]);
  await stop();
});

const NOW = LAST_END - 99 * DAY_MS;

test.each<[string, (of: ReturnType<typeof watching>) => void, string | RegExp]>([
  [
    "the key of another one",
    ({ write }) => write({ cert: selfSignedTls.cert }),
    "TLS_KEY is not the key of the certificate in TLS_CERT",
  ],
  [
    "one that has ended",
    ({ write }) => write(expiredTls),
    "the certificate in TLS_CERT ended at 2020-01-02T00:00:00.000Z",
  ],
  ["none", ({ write }) => write({ cert: "half a certif" }), "TLS_CERT holds no certificate"],
  [
    "no key",
    ({ write }) => write({ cert: selfSignedTls.cert, key: "" }),
    /^TLS_CERT and TLS_KEY do not make/,
  ],
  ["no file", ({ tlsFiles }) => rmSync(tlsFiles.key), /^TLS_CERT and TLS_KEY cannot be read \(ENOENT/],
  [
    "a pipe, which is not waited for",
    ({ tlsFiles: { cert } }) => {
      rmSync(cert);
      expect(spawnSync("sh", ["-c", 'mkfifo "$1"', "sh", cert]).status).toBe(0);
    },
    /^TLS_CERT and TLS_KEY cannot be read \(.*cert.pem is no file any more\)$/,
  ],
])(
  "where the files hold %s, the certificate from before goes on, and it is warned of",
  async (_, spoil, why) => {
    const watch = watching({ now: NOW });
    const { renewed, logged, looked, warnings, write, clock, hasLogged, stop } = watch;
    await looked(1);
    spoil(watch);
    await looked(1);
    expect(logged).toEqual([]);
    await looked(3);
    expect(renewed).toEqual([]);
    expect(logged).toHaveLength(1);
    expect(warnings()).toEqual(logged);
    const reason = logged[0]?.replace(`${STILL}: `, "") ?? "";
    if (typeof why === "string") expect(reason).toBe(why);
    else expect(reason).toMatch(why);
    await clock.advance(DAY_MS);
    await hasLogged(2);
    rmSync(watch.tlsFiles.cert, { force: true });
    write(selfSignedTls);
    await looked(3);
    expect([renewed, warnings()]).toEqual([[selfSignedTls], []]);
    await stop();
  },
);

test("a certificate that is not valid yet is served from its beginning on", async () => {
  const { renewed, looked, write, clock, warnings, stop } = watching({ now: EARLY_BEGIN - 12_000 });
  write(earlyTls);
  await looked(2);
  const words = "the certificate in TLS_CERT is valid only from 2110-01-01T00:00:00.000Z on";
  expect([renewed, warnings()]).toEqual([[], [`${STILL}: ${words}`]]);
  await clock.advance(2_000);
  await looked(1);
  expect([renewed.length, warnings()]).toEqual([1, []]);
  await stop();
});

test("where a server cannot show it now, it is tried again at the next look", async () => {
  const { renewed, looked, write, fail, warnings, stop } = watching({ now: NOW });
  fail(new Error("too many open files"));
  write(selfSignedTls);
  await looked(3);
  expect(warnings()).toEqual([`${STILL}: too many open files`]);
  fail(undefined);
  await looked(1);
  expect([renewed, warnings()]).toEqual([[selfSignedTls], []]);
  await stop();
});

test("from a pipe there is no other certificate before a restart", async () => {
  const { logged, hasLogged, clock, renewed, write, stop } = watching({
    served: expiredTls,
    now: FIRST_END + DAY_MS,
    isFromFiles: false,
  });
  await hasLogged(1);
  expect(logged).toEqual([`${ENDED}: a new one in TLS_CERT is served after a restart`]);
  write(testTls);
  await clock.advance(DAY_MS);
  await hasLogged(2);
  expect(renewed).toEqual([]);
  await stop();
});

test("without a certificate there is nothing to look at", async () => {
  const clock = createHeldClock(LAST_END);
  const logged: string[] = [];
  const line = (_: object, message: string) => void logged.push(message);
  const log = { info: line, warn: line };
  const { start, warnings, validity, stop } = createCertificateWatch({ config: {}, clock, log });
  start(async () => void logged.push("renewed"));
  await clock.advance(DAY_MS);
  await stop();
  expect([logged, warnings(), validity()]).toEqual([[], [], undefined]);
});
