import { expect, test } from "bun:test";
import { Client } from "pg";
import { keptPort } from "../../../../test/fakes/kept-port.ts";
import { openOptionsProxy } from "../../../../test/fakes/options-proxy.ts";
import { freshDatabase } from "../../../../test/postgres-database.ts";
import { until } from "../../../../test/until.ts";
import { openConnections } from "./connections.ts";

async function openWorld() {
  const { url, drop } = await freshDatabase();
  const [, folder = "", name = ""] = /@([^/]*)\/(.*)$/.exec(url) ?? [];
  // As an administrator may set a former primary.
  const reader = await openOptionsProxy(url, "-c default_transaction_read_only=on");
  return {
    reader: new URL(reader.url).host,
    writer: folder,
    /** Whether what is lent can write. */
    async lends(hosts: readonly string[], query = ""): Promise<boolean> {
      const url = `postgres://postrider@${hosts.join(",")}/${name}${query}`;
      const connections = openConnections(url, { max: 1 });
      try {
        const client = await connections.lend();
        const { rows } = await client.query("SHOW default_transaction_read_only");
        client.release(true);
        return rows[0].default_transaction_read_only === "off";
      } finally {
        await connections.close();
      }
    },
    async [Symbol.asyncDispose]() {
      reader.close();
      await drop();
    },
  };
}

test("of several hosts the one that takes writes is used, wherever it stands in the list", async () => {
  await using world = await openWorld();
  const { reader, writer, lends } = world;
  expect(await lends([writer, reader])).toBe(true);
  expect(await lends([reader, writer])).toBe(true);
  expect(await lends([reader, reader, writer], "?target_session_attrs=read-write")).toBe(true);
  await expect(lends([reader, reader])).rejects.toThrow("the server is read-only");
});

test("what is wrong with the other host is said too where the last one is a standby", async () => {
  await using world = await openWorld();
  const { reader, lends } = world;
  const nobody = `127.0.0.1:${await keptPort()}`;
  for (const hosts of [
    [nobody, reader],
    [reader, nobody],
  ])
    await expect(lends(hosts)).rejects.toThrow(/^connect ECONNREFUSED/);
  await expect(lends([nobody, reader])).rejects.toThrow("the server is read-only");
});

test("what is wrong with each host is said where none can be used, since any may be the primary, and that of a standby last", async () => {
  await using world = await openWorld();
  const { reader, writer, lends } = world;
  const [nobody, noneElse] = [`127.0.0.1:${await keptPort()}`, `127.0.0.1:${await keptPort()}`];
  const refusedBy = (host: string) => expect.stringContaining(`connect ECONNREFUSED ${host}`);
  const wordsOf = (hosts: readonly string[], query?: string) =>
    lends(hosts, query).then(String, ({ message }: Error) => message);
  for (const hosts of [
    [nobody, reader, noneElse],
    [nobody, noneElse, reader],
    [reader, nobody, noneElse],
  ])
    expect((await wordsOf(hosts)).split("; of another host: ")).toEqual([
      refusedBy(nobody),
      refusedBy(noneElse),
      expect.stringContaining("the server is read-only"),
    ]);
  const unknown = "?options=-c%20nothing=1";
  expect(await wordsOf([writer, nobody], unknown)).toMatch(
    /"nothing"; of another host: connect ECONNREFUSED/,
  );
  expect(await wordsOf([nobody, writer], unknown)).toMatch(
    /ECONNREFUSED [\d.:]+; of another host: .*"nothing"/,
  );
  expect(await wordsOf([nobody, nobody])).toEqual(refusedBy(nobody));
});

test("of a single host nothing is asked, unless the URL says what it has to be", async () => {
  await using world = await openWorld();
  const { reader, lends } = world;
  expect(await lends([reader])).toBe(false);
  await expect(lends([reader], "?target_session_attrs=read-write")).rejects.toThrow(
    "the server is read-only",
  );
});

test("where the server has no connection left a call waits for one of ours, and there are more as soon as it has", async () => {
  const { url, drop } = await freshDatabase();
  const admin = new Client({ connectionString: url });
  await admin.connect();
  const role = `limited_${new URL(url).pathname.slice(1)}`;
  await admin.query(`CREATE ROLE ${role} LOGIN CONNECTION LIMIT 2`);
  const connections = openConnections(url.replace("//postrider@", `//${role}@`), { max: 8 });
  const sessions = new Set<unknown>();
  const work = async () => {
    const client = await connections.lend();
    const { rows } = await client.query("SELECT pg_backend_pid() AS pid");
    sessions.add(rows[0].pid);
    client.release();
  };
  const workAtOnce = (calls: number) => Promise.all(Array.from({ length: calls }, work));

  const warnings: Error[] = [];
  const onWarning = (warning: Error) => void warnings.push(warning);
  process.on("warning", onWarning);

  await work();
  for (let time = 0; time < 20; time++) await workAtOnce(50);
  expect(sessions.size).toBeLessThanOrEqual(2);

  await admin.query(`ALTER ROLE ${role} CONNECTION LIMIT 8`);
  await until(
    () => workAtOnce(50),
    () => sessions.size > 2,
  );
  process.off("warning", onWarning);
  expect(warnings).toEqual([]);
  await connections.close();
  await admin.query(`DROP ROLE ${role}`);
  await admin.end();
  await drop();
});
