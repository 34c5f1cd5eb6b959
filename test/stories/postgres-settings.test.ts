/** What is set for the role, the database or in the URL, and what else stands in the database. */
import { expect, test } from "bun:test";
import { Client } from "pg";
import { admin, reached, send } from "../admin.ts";
import { startFakeSmsc } from "../fakes/fake-smsc.ts";
import { deliverSms, readUntil } from "../feed-reader.ts";
import { connectSmsc, openLiveSms } from "../live-sms.ts";
import { oneProcessOnPostgres } from "../one-process.ts";
import { type PostriderProcess, runPostrider } from "../postrider-process.ts";

const SMS = "/v1/sms/messages";
const EMAIL = "/v1/emails/messages";

/** Each of them changes what statements mean, or ends their sessions, where it is not set otherwise. */
const HOSTILE = [
  "array_nulls = off",
  "standard_conforming_strings = off",
  "quote_all_identifiers = on",
  "transform_null_equals = on",
  "bytea_output = escape",
  "DateStyle = 'SQL, DMY'",
  "TimeZone = 'Asia/Kathmandu'",
  "idle_session_timeout = 50",
  "exit_on_error = on",
  "statement_timeout = 1",
  "lock_timeout = 1",
  "idle_in_transaction_session_timeout = 1",
  "default_transaction_isolation = serializable",
  "default_transaction_deferrable = on",
  "client_encoding = LATIN1",
  "enable_indexscan = off",
  "enable_nestloop = off",
  "enable_partition_pruning = off",
];

const { folder, database, start, stop } = oneProcessOnPostgres();

async function run(...statements: readonly string[]): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: database().url });
  await client.connect();
  let rows: Record<string, unknown>[] = [];
  for (const sql of statements) ({ rows } = await client.query(sql));
  await client.end();
  return rows;
}

const refusal = async (databaseUrl = database().url) => {
  const { code, output } = await runPostrider({ dataFolder: folder(), databaseUrl });
  expect(code).toBe(1);
  return output.trimEnd();
};

const databaseName = () => new URL(database().url).pathname.slice(1);

async function deliversAll(at: PostriderProcess): Promise<void> {
  const apiKey = at.sandbox.api_key;
  const sms = { to: "+919812345678", dlt_template_id: "1107160000000000001", variables: { 1: "O'Né\\" } };
  const email = {
    from: { email: "a@example.com" },
    to: [{ email: "b@example.net", name: "Zoë 🎈" }],
    subject: "\\",
    body_text: "x",
  };
  for (const [path, body] of [
    [SMS, sms],
    [EMAIL, email],
  ] as const) {
    const { status, body: answer } = await send(at, { apiKey, path, body });
    expect(status).toBe(202);
    const found = await reached(at, { apiKey, path: `${path}/${answer.message_id}` }, "delivered", "failed");
    expect(found).toMatchObject({
      status: "delivered",
      ...("variables" in body && { variables: body.variables }),
    });
  }
}

test("what is set for a database does not change what the service does on it", async () => {
  await run(...HOSTILE.map((each) => `ALTER DATABASE ${databaseName()} SET ${each}`));
  const service = await start();
  await deliversAll(service);
  expect(service.output()).not.toMatch(/"level":"(warn|error|fatal)"/);
});

test("settings in the URL count, beside those that the service needs", async () => {
  await run("CREATE SCHEMA mail");
  const options = encodeURIComponent("-c search_path=mail -c synchronous_commit=off");
  await deliversAll(await start({ databaseUrl: `${database().url}?options=${options}` }));
  const [counted] = await run("SELECT count(*)::int AS messages FROM mail.messages");
  expect(counted).toEqual({ messages: 2 });
});

test("a publication of all tables, as tools of replication make it, keeps nothing from being changed", async () => {
  await run("CREATE PUBLICATION everything FOR ALL TABLES");
  const service = await start();
  await readUntil(service, "", await deliverSms(service));
  for (const value of [5, 6]) await admin(service, "/settings/push_rate_limit", { value }, "PUT");
  expect(service.output()).not.toMatch(/"level":"(warn|error|fatal)"/);
});

test("sessions that do not check foreign keys are refused", async () => {
  await run(`ALTER DATABASE ${databaseName()} SET session_replication_role = replica`);
  expect(await refusal()).toMatch(/session_replication_role is replica, .*: ALTER ROLE … RESET/);
});

test("tables of another program, and a schema in which none can be made, are called that, with what to do", async () => {
  const anew = ["DROP SCHEMA public CASCADE", "CREATE SCHEMA public"];
  await run(...anew, "CREATE TABLE migrations (id serial, migration text, batch int)");
  expect(await refusal()).toMatch(
    /table migrations is another program's; give Postrider a database of its own$/,
  );
  await run(...anew, "CREATE TABLE accounts (id serial)");
  expect(await refusal()).toMatch(
    /relation "accounts" already exists: it is another program's, or of a restore that was cut off; give Postrider a database of its own, or /,
  );
  await run("DROP SCHEMA public CASCADE");
  expect(await refusal()).toMatch(/search_path names no schema that the role may use: GRANT/);
});

test("a role that may not make tables is told what it lacks", async () => {
  const role = `weak_${databaseName()}`;
  await run(
    "DROP SCHEMA public CASCADE",
    "CREATE SCHEMA public",
    `CREATE ROLE ${role} LOGIN`,
    `GRANT USAGE ON SCHEMA public TO ${role}`,
  );
  const url = database().url.replace("postrider@", `${role}@`);
  expect(await refusal(url)).toMatch(/permission denied for schema public: GRANT CREATE ON SCHEMA/);
});

test("rights that are taken away for a while are an outage: what the SMSC said meanwhile counts, and nothing is sent twice", async () => {
  const role = `owner_${databaseName()}`;
  await run(
    `CREATE ROLE ${role} LOGIN`,
    "DROP SCHEMA public CASCADE",
    `CREATE SCHEMA public AUTHORIZATION ${role}`,
  );
  const url = database().url.replace("postrider@", `${role}@`);
  const [service, smsc] = await Promise.all([
    start({ databaseUrl: url }),
    startFakeSmsc({ receipts: "none", holdSubmits: true }),
  ]);
  const live = await openLiveSms(service, { connectors: [await connectSmsc(service, smsc)] });
  const message = await live.send("+14155551201");
  await smsc.until(() => smsc.submits.length === 1);
  await run(`REVOKE ALL ON jobs FROM ${role}`);
  await expect(live.send("+14155551202")).rejects.toThrow("503");
  smsc.release();
  await service.line(/the database refuses: permission denied for table jobs.*"msg":"database unavailable"/);
  await expect(live.send("+14155551203")).rejects.toThrow("503");
  expect(await reached(service, message, "sending", "sent")).toMatchObject({ status: "sending" });
  await run(`GRANT ALL ON jobs TO ${role}`);
  await reached(service, message, "sent", "failed");
  expect((await live.timeline(message)).map(({ kind }) => kind)).toEqual(["attempt"]);
  expect(smsc.submits).toHaveLength(1);
  await smsc.close();
});

test("a table that is missing for a while is an outage: what the SMSC said meanwhile counts, and nothing is sent twice", async () => {
  const [service, smsc] = await Promise.all([
    start(),
    startFakeSmsc({ receipts: "none", holdSubmits: true }),
  ]);
  const live = await openLiveSms(service, { connectors: [await connectSmsc(service, smsc)] });
  const message = await live.send("+14155551201");
  await smsc.until(() => smsc.submits.length === 1);
  await run("ALTER TABLE jobs RENAME TO jobs_away");
  smsc.release();
  await expect(live.send("+14155551202")).rejects.toThrow("503");
  await service.line(/the database refuses: relation .*jobs.* does not exist.*"msg":"database unavailable"/);
  await run("ALTER TABLE jobs_away RENAME TO jobs");
  await reached(service, message, "sent", "failed");
  expect((await live.timeline(message)).map(({ kind }) => kind)).toEqual(["attempt"]);
  expect(smsc.submits).toHaveLength(1);
  await smsc.close();
});

test("a database that was restored in part is refused, and what is missing is named", async () => {
  await run("DROP INDEX jobs_ready");
  expect(await refusal()).toMatch(
    /parts of its schema are missing.*: restore again, .* Missing: jobs: CREATE INDEX jobs_ready ON /,
  );
});

test("counters that are behind their tables, as after a logical replication, go on from the highest number at the next start", async () => {
  const service = await start();
  await deliversAll(service);
  await stop();
  await run("SELECT setval(pg_get_serial_sequence('accounts', 'number'), 1, false)");
  await run("SELECT setval(pg_get_serial_sequence('queues', 'number'), 1, false)");
  const later = await start({ sandbox: service.sandbox });
  await admin(later, "/accounts", { name: "later", mode: "live" });
  await deliversAll(later);
  const [highest] = await run("SELECT max(number) AS accounts FROM accounts");
  expect(highest).toEqual({ accounts: 2 });
});
