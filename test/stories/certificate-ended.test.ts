/** The certificate has ended: the service starts, and says so wherever an operator looks. */
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { onBothStores } from "../both-stores.ts";
import { expiredTls } from "../fakes/doubtful-tls.ts";
import { ownProcess } from "../one-process.ts";

const SAID =
  "the certificate that is served ended at 2020-01-02T00:00:00.000Z: a new one in TLS_CERT is served within 15 s";

onBothStores((store) => {
  test.each([
    [[]],
    [["--roles", "delivery"]],
    // On PostgreSQL there are more processes instead.
    ...(store === "sqlite" ? [[["--listeners", "2"]]] : []),
  ])("a certificate that has ended is in the log, at /readyz and in the metrics: serve %p", async (args) => {
    await using own = ownProcess();
    const [cert, key] = [join(own.folder(), "cert.pem"), join(own.folder(), "key.pem")];
    writeFileSync(cert, expiredTls.cert);
    writeFileSync(key, expiredTls.key);
    const { url, line } = await own.start({ args, env: { TLS_CERT: cert, TLS_KEY: key } });
    const warning = await line(/"the certificate that is served/);
    expect(JSON.parse(warning)).toMatchObject({ level: "warn", msg: SAID });
    const get = (path: string) => fetch(url + path, { tls: { rejectUnauthorized: false } });
    expect(await (await get("/readyz")).json()).toEqual({ status: "ready", warnings: [SAID] });
    const metrics = await (await get("/metrics")).text();
    for (const [end, ms] of [
      ["begin", Date.UTC(2020, 0, 1)],
      ["end", Date.UTC(2020, 0, 2)],
    ] as const)
      expect(metrics).toContain(`\npostrider_certificate_${end}_timestamp_seconds ${ms / 1_000}\n`);
    await own.stop();
  });
});
