/** A service moves from SQLite, which keeps large texts apart, into PostgreSQL while a large email waits. */
import { expect, test } from "bun:test";
import { fileURLToPath } from "node:url";
import { reached, send } from "../admin.ts";
import { freshDatabase } from "../postgres-database.ts";
import { makeDataFolder, onPostgres, runPostrider, startPostrider } from "../postrider-process.ts";

const EMAILS = "/v1/emails/messages";
const HOUR_MS = 3_600_000;

/** Large: a quarter of a MiB or more. */
const TEXT = "All is well. ".repeat(25_000);

test("a large email that waits while its service moves is sent from there, with its text", async () => {
  const folder = makeDataFolder();
  const { url, drop } = await freshDatabase();
  const { DATABASE_URL: _, ...env } = onPostgres(url);
  const service = await startPostrider({ dataFolder: folder.path, env });
  const { sandbox } = service;
  const apiKey = sandbox.api_key;
  const body = {
    from: { email: "hello@acme.example" },
    to: [{ email: "ann@example.net" }],
    subject: "News",
    body_text: TEXT,
    schedule_at: new Date(Date.now() + HOUR_MS).toISOString(),
  };
  const accepted = await send(service, { apiKey, path: EMAILS, body });
  expect(accepted.status).toBe(202);
  service.kill("SIGTERM");
  await service.exited;
  const moved = await runPostrider({ dataFolder: folder.path, command: "migrate-to", env, args: [url] });
  expect(moved).toMatchObject({ code: 0 });

  const next = await startPostrider({
    dataFolder: folder.path,
    databaseUrl: url,
    sandbox,
    preload: fileURLToPath(new URL("../fakes/later.ts", import.meta.url)),
    env: { AHEAD_MS: String(HOUR_MS) },
  });
  await reached(next, { apiKey, path: `${EMAILS}/${accepted.body.message_id}` }, "delivered");
  next.kill("SIGKILL");
  await next.exited;
  folder.remove();
  await drop();
});
