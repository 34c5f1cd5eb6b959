/** The certificate is renewed while the service runs: every listener shows the new one, and nobody restarts anything. */
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { onBothStores } from "../both-stores.ts";
import { selfSignedTls } from "../fakes/doubtful-tls.ts";
import { fingerprintOf, shownAt, shownByMailAt } from "../fakes/shown-certificate.ts";
import { testTls } from "../fakes/test-tls.ts";
import { ownProcess } from "../one-process.ts";
import { until } from "../until.ts";

onBothStores(
  (store) => {
    test("HTTPS on each thread, the port for metrics and STARTTLS show it, and a message that is sent then is accepted", async () => {
      await using own = ownProcess(store);
      const [cert, key] = [join(own.folder(), "cert.pem"), join(own.folder(), "key.pem")];
      const write = (tls: { cert: string; key: string }) => {
        writeFileSync(cert, tls.cert);
        writeFileSync(key, tls.key);
      };
      write(testTls);
      // On PostgreSQL there are more processes instead.
      const args = store === "sqlite" ? ["--listeners", "3"] : [];
      const env = { TLS_CERT: cert, TLS_KEY: key, METRICS_PORT: "0", BOUNCE_PORT: "0" };
      const { url, sandbox, line } = await own.start({ args, env });
      const ready = JSON.parse(await line(/"msg":"ready"/)) as { metrics: string; bounces: string };
      const portOf = (text: string) => Number(/:(\d+)$/.exec(text)?.[1]);
      const shown = async () => {
        const many = Array.from({ length: 24 }, () => shownAt(portOf(url)));
        const others = [shownAt(portOf(ready.metrics)), shownByMailAt(portOf(ready.bounces))];
        return new Set(await Promise.all([...many, ...others]));
      };
      expect(await shown()).toEqual(new Set([fingerprintOf(testTls.cert)]));
      write(selfSignedTls);
      expect(JSON.parse(await line(/"a new certificate is served"/))).toMatchObject({
        level: "info",
        ends_at: "2120-01-01T00:00:00.000Z",
      });
      const isNew = (found: Set<string>) => found.size === 1 && found.has(fingerprintOf(selfSignedTls.cert));
      // The kernel resets who is in the queue of a listener that ends.
      await until(() => shown().catch(() => new Set<string>()), isNew);
      const answer = await fetch(`${url}/v1/sms/messages`, {
        method: "POST",
        headers: { Authorization: `Bearer ${sandbox.api_key}` },
        body: JSON.stringify({ to: "+919876543210", dlt_template_id: "1" }),
        tls: { ca: selfSignedTls.cert },
      });
      expect(answer.status).toBe(202);
      await own.stop();
    });
  },
  { atOnce: true },
);
