import { expect, test } from "bun:test";
import { openOptionsProxy } from "../../../../test/fakes/options-proxy.ts";
import { openPostgresProxy } from "../../../../test/fakes/postgres-proxy.ts";
import { StoreUnavailable } from "../../store.ts";
import { openDriver } from "../database/driver.ts";
import { openOther, withDriver } from "../postgres-world.contract.ts";

/** Other tests use the same role: what it is given is given to it in one database. */
const inDatabase = (statement: string, url: string) =>
  statement.replace(/^ALTER ROLE \w+ SET/, `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET`);

/** The statements that a refused start tells the operator to run. */
async function refusalOf(url: string) {
  const { message } = await openOther(url).then(
    () => new Error("it started"),
    (error: Error) => error,
  );
  return { message, statements: message.match(/ALTER ROLE \w+ SET \w+ = '[^']*'/g) ?? [] };
}

test("where a pooler gives sessions settings that do not do, a start says which to give to the role, and works with them", () =>
  withDriver(async (driver, url) => {
    const pooled = `${url}?prepare=false`;
    await driver.query(inDatabase("ALTER ROLE x SET array_nulls = off", url));
    await driver.query(inDatabase("ALTER ROLE x SET statement_timeout = '20s'", url));
    const { message, statements } = await refusalOf(pooled);
    expect(message).toContain("the role lacks settings that sessions behind a pooler need");
    expect(statements).toContain("ALTER ROLE postrider SET array_nulls = 'on'");
    expect(statements).toContain("ALTER ROLE postrider SET lock_timeout = '10s'");
    expect(statements).toContain("ALTER ROLE postrider SET enable_seqscan = 'off'");
    expect(statements.join()).not.toContain("statement_timeout");
    for (const statement of statements) await driver.query(inDatabase(statement, url));
    await (await openOther(pooled)).close();
  }));

test("a commit waits for the disk, whatever is set for the database; behind a pooler, which cannot be told, nothing starts", () =>
  withDriver(async (driver, url) => {
    const set = (mode: string) =>
      driver.query(inDatabase(`ALTER ROLE x SET synchronous_commit = ${mode}`, url));
    const pooled = `${url}?prepare=false`;
    const on = "ALTER ROLE postrider SET synchronous_commit = 'on'";
    for (const mode of ["off", "local", "remote_write"]) {
      await set(mode);
      const direct = openDriver({ url, connections: 1 });
      expect(await direct.query("SHOW synchronous_commit")).toEqual([{ synchronous_commit: "on" }]);
      await direct.close();
      expect((await refusalOf(pooled)).statements).toContain(on);
    }
    await set("remote_apply");
    expect((await refusalOf(pooled)).statements).not.toContain(on);
  }));

test("behind a pooler the role may not hide warnings, by which a commit says that no standby has it; less may be hidden", () =>
  withDriver(async (driver, url) => {
    const set = (level: string) =>
      driver.query(inDatabase(`ALTER ROLE x SET client_min_messages = ${level}`, url));
    const notice = "ALTER ROLE postrider SET client_min_messages = 'notice'";
    await set("error");
    expect((await refusalOf(`${url}?prepare=false`)).statements).toContain(notice);
    await set("warning");
    expect((await refusalOf(`${url}?prepare=false`)).statements).not.toContain(notice);
  }));

test("a pooler that drops the settings of our sessions without a word is noticed", () =>
  withDriver(async (driver, url) => {
    const proxy = await openOptionsProxy(url, "");
    const { message, statements } = await refusalOf(proxy.url);
    expect(message).toContain("DATABASE_URL has to end with ?prepare=false");
    expect(statements).toContain("ALTER ROLE postrider SET plan_cache_mode = 'force_generic_plan'");
    for (const statement of statements) await driver.query(inDatabase(statement, url));
    await (await openOther(proxy.url)).close();
    proxy.close();
  }));

test("a pooler that has fewer connections than a process keeps is refused", () =>
  withDriver(async (driver, url) => {
    const role = `few_${new URL(url).pathname.slice(1)}`;
    await driver.query(`CREATE ROLE ${role} LOGIN CONNECTION LIMIT 5`);
    const pooled = `${url.replace("postrider@", `${role}@`)}?prepare=false`;
    const { statements } = await refusalOf(pooled);
    for (const statement of statements) await driver.query(statement);
    const { message } = await refusalOf(pooled);
    expect(message).toContain("pool_mode = session each process needs 12");
    expect(message).toContain("too many connections for role");
    await driver.query(`DROP ROLE ${role}`);
  }));

test("a database that goes away while the connections are counted is waited for, as any that is away", () =>
  withDriver(async (driver, url) => {
    const { statements } = await refusalOf(`${url}?prepare=false`);
    for (const statement of statements) await driver.query(inDatabase(statement, url));
    const proxy = await openPostgresProxy(url);
    const counted = proxy.silenceAfter("SELECT 1");
    const opening = openOther(`${proxy.url}?prepare=false`).catch((error: unknown) => error);
    await counted;
    await proxy.close();
    expect(await opening).toBeInstanceOf(StoreUnavailable);
  }));
