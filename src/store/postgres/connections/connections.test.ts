import { expect, test } from "bun:test";
import { type AddressInfo, createConnection, createServer } from "node:net";
import { freshDatabase } from "../../../../test/postgres-database.ts";
import { openConnections } from "./connections.ts";

/** A host in front of the database that sets its connections read-only, as an administrator may set a former primary. */
async function openReader(folder: string) {
  const server = createServer((near) => {
    const far = createConnection(`${folder}/.s.PGSQL.5432`);
    near.once("data", (startup) => {
      far.write(withOption(startup as Buffer));
      near.pipe(far).pipe(near);
    });
    for (const socket of [near, far]) socket.on("error", () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
}

/** The startup message: its length, the protocol, names and values, and a zero. */
function withOption(startup: Buffer): Buffer {
  const option = Buffer.from("options\0-c default_transaction_read_only=on\0\0");
  const longer = Buffer.concat([startup.subarray(0, -1), option]);
  longer.writeInt32BE(longer.length);
  return longer;
}

async function openWorld() {
  const { url, drop } = await freshDatabase();
  const [, folder = "", name = ""] = /@([^/]*)\/(.*)$/.exec(url) ?? [];
  const reader = await openReader(decodeURIComponent(folder));
  return {
    reader: reader.host,
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
  await expect(lends([reader, reader])).rejects.toThrow("the server only reads");
});

test("of a single host nothing is asked, unless the URL says what it has to be", async () => {
  await using world = await openWorld();
  const { reader, lends } = world;
  expect(await lends([reader])).toBe(false);
  await expect(lends([reader], "?target_session_attrs=read-write")).rejects.toThrow("the server only reads");
});
