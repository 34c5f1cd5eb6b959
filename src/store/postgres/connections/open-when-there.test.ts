import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Client } from "pg";
import { createHeldClock } from "../../../../test/fakes/held-clock.ts";
import { keptPort } from "../../../../test/fakes/kept-port.ts";
import { openPostgresProxy } from "../../../../test/fakes/postgres-proxy.ts";
import { openPostgresTls } from "../../../../test/fakes/postgres-tls.ts";
import { testTls } from "../../../../test/fakes/test-tls.ts";
import { freshDatabase } from "../../../../test/postgres-database.ts";
import { until } from "../../../../test/until.ts";
import { VAULT } from "../postgres-world.contract.ts";
import { openWhenThere } from "./open-when-there.ts";

test("a server that is not there yet is waited for, and used when it comes", async () => {
  const { url, drop } = await freshDatabase();
  const port = await keptPort();
  const clock = createHeldClock();
  const away = Promise.withResolvers<string>();
  const opening = openWhenThere(
    { url: `postgres://postrider:hidden@127.0.0.1:${port}/${url.split("/").at(-1)}`, vault: VAULT },
    { clock, onAway: away.resolve },
  );
  expect(await away.promise).toContain(`127.0.0.1:${port}/`);
  const proxy = await openPostgresProxy(url, port);
  await clock.advance(1_000);
  const store = await opening;
  await store.ping();
  await store.close();
  await proxy.close();
  await drop();
});

test("a server that does not come within half a minute is reported, without its password", async () => {
  const port = await keptPort();
  const clock = createHeldClock();
  const reasons: string[] = [];
  let failure: Error | undefined;
  const opening = openWhenThere(
    { url: `postgres://postrider:hidden@127.0.0.1:${port}/x`, vault: VAULT },
    { clock, onAway: (reason) => void reasons.push(reason) },
  ).catch((error) => {
    failure = error;
  });
  const failureLater = async () => {
    await clock.advance(1_000);
    return failure;
  };
  const message = (await until(failureLater, Boolean, { pauseMs: 0 }))?.message;
  await opening;
  expect(message).toContain(`the database at 127.0.0.1:${port}/x cannot be used: `);
  expect(message).toContain("ECONNREFUSED");
  expect(message).not.toContain("hidden");
  expect(reasons.length).toBeGreaterThan(10);
  expect(reasons.length).toBeLessThanOrEqual(31);
});

test("a server that takes no writes is waited for, since it may be promoted, and it is said what to do if not", async () => {
  const { url, drop } = await freshDatabase();
  await alter(url, "SET default_transaction_read_only = on");
  const clock = createHeldClock();
  for (const target of ["", "?target_session_attrs=read-write"]) {
    const away = Promise.withResolvers<string>();
    const opening = openWhenThere({ url: url + target, vault: VAULT }, { clock, onAway: away.resolve });
    expect(await away.promise).toMatch(
      /read-only.*: the server is a standby, or .* RESET default_transaction_read_only/,
    );
    await alter(url, "RESET default_transaction_read_only");
    await clock.advance(1_000);
    await (await opening).close();
    await alter(url, "SET default_transaction_read_only = on");
  }
  await drop();
});

test("a server whose authority is unknown is called that, with the way to name it, by which it is used", async () => {
  const { url, drop } = await freshDatabase();
  const server = await openPostgresTls(url);
  const file = join(mkdtempSync(join(tmpdir(), "postrider-ca-")), "ca.pem");
  writeFileSync(file, testTls.ca);
  const clock = createHeldClock();
  const away = Promise.withResolvers<string>();
  const opening = openWhenThere(
    { url: `${server.url}?sslmode=verify-full`, vault: VAULT },
    { clock, onAway: away.resolve },
  );
  expect(await away.promise).toMatch(
    /certificate.*: with \?sslmode=verify-full&sslrootcert=\S+ in DATABASE_URL/,
  );
  await clock.advance(30_000);
  await expect(opening).rejects.toThrow("sslrootcert=");
  const known = `${server.url}?sslmode=verify-full&sslrootcert=${encodeURIComponent(file)}`;
  const store = await openWhenThere({ url: known, vault: VAULT }, { clock, onAway: () => {} });
  await store.ping();
  await store.close();
  server.close();
  rmSync(dirname(file), { recursive: true });
  await drop();
});

async function alter(url: string, change: string): Promise<void> {
  const client = new Client({ connectionString: url, options: "-c default_transaction_read_only=off" });
  await client.connect();
  await client.query(`ALTER DATABASE ${new URL(url).pathname.slice(1)} ${change}`);
  await client.end();
}

test("a server that is there and refuses is not waited for", async () => {
  const { url, drop } = await freshDatabase();
  const reasons: string[] = [];
  const opening = openWhenThere(
    { url: url.replace(/[^/]+$/, "missing"), vault: VAULT },
    { clock: createHeldClock(), onAway: (reason) => void reasons.push(reason) },
  );
  const error = await opening.then(
    () => undefined,
    (error) => error as Error,
  );
  expect(error?.message).toContain('database "missing" does not exist');
  expect(reasons).toEqual([]);
  await drop();
});
