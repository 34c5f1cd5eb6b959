/** The disk is full when a command, or a first start, is to write: it says so, of which folder, and nothing is lost. */
import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { openSqliteStore } from "../../src/store/open-store.ts";
import { admin } from "../admin.ts";
import { ownProcess } from "../one-process.ts";
import { runPostrider } from "../postrider-process.ts";

/** A file cannot become larger, as on a full disk, but for the process itself. In blocks of 512 octets. */
const limit = (blocks: number) => `trap '' XFSZ; ulimit -f ${blocks}`;

/** The smallest one with which SQLite opens a database: the -shm beside it has this size. */
const OPENS = 64;

test("a rotation of the key that finds no room says where, and changes no secret", async () => {
  await using own = ownProcess("sqlite");
  const service = await own.start();
  const { account_id } = service.sandbox;
  // More than its log may hold.
  for (let n = 0; n < 8; n++) await admin(service, "/domains", { account_id, domain: `d${n}.example.com` });
  const secrets = await admin(service, `/webhooks/secret?account_id=${account_id}`);
  await own.stop();
  for (const blocks of [0, 8, OPENS]) {
    const refused = await runPostrider({
      dataFolder: own.folder(),
      command: "rotate-key",
      before: limit(blocks),
    });
    expect([blocks, refused]).toEqual([
      blocks,
      {
        code: 1,
        output: expect.stringMatching(
          new RegExp(`^error: [^\n]*${own.folder()}[^\n]*(full|I/O error)[^\n]*\n$`),
        ),
      },
    ]);
  }
  expect(await admin(await own.start(), `/webhooks/secret?account_id=${account_id}`)).toEqual(secrets);
});

test("a first start that finds no room for the sandbox account says where, and the next one with room makes it", async () => {
  await using own = ownProcess("sqlite");
  const dataFolder = own.folder();
  const masterKey = "a key that is long enough";
  const store = await openSqliteStore({ dataFolder, masterKey, randomBytes, now: Date.now });
  await store.close();
  const env = { POSTRIDER_SECRET: masterKey };
  const refused = await runPostrider({ dataFolder, env, before: limit(OPENS) });
  expect(refused).toMatchObject({
    code: 1,
    output: expect.stringMatching(
      // The second text is of a thread that writes, which the service starts where a commit takes 8 ms.
      new RegExp(
        `postrider cannot start: ${dataFolder}: (the database did not commit: )?(database or disk is full|disk I/O error)\n`,
      ),
    ),
  });
  expect((await own.start({ env })).output()).toContain("has made a sandbox account");
});
