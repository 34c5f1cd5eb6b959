/** The database is moved, removed or replaced under the service that has it open: a clean-up, a restore into the same place. */
import { expect, test } from "bun:test";
import { renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { reached, send } from "../admin.ts";
import { oneProcess } from "../one-process.ts";
import { startPostrider } from "../postrider-process.ts";

const PATH = "/v1/sms/messages";
const SMS = { to: "+919812345678", dlt_template_id: "1107160000000000001" };

const { folder, service, start } = oneProcess();

const post = () => send(service(), { apiKey: service().sandbox.api_key, path: PATH, body: SMS });

for (const args of [[], ["--store-thread"], ["--listeners", "2"]]) {
  test(`what would go with the process is not answered 202, and with the folder back all goes on (${args.join(" ") || "one thread"})`, async () => {
    await start({ args });
    expect((await post()).status).toBe(202);
    const elsewhere = `${folder()}-elsewhere`;
    renameSync(folder(), elsewhere);
    // On every thread that takes requests.
    for (let n = 0; n < 8; n++) {
      expect(await post()).toEqual({ status: 503, body: { code: 503, message: "service unavailable" } });
    }
    expect(await service().line(/database unavailable/)).toContain("has been moved, removed or replaced");
    renameSync(elsewhere, folder());
    const { status, body } = await post();
    expect(status).toBe(202);
    const path = `${PATH}/${body.message_id}`;
    await reached(service(), { apiKey: service().sandbox.api_key, path }, "delivered");
  }, 120_000);
}

for (const name of ["postrider.db", "postrider.db-wal"]) {
  test(`without its ${name} the service stores nothing more`, async () => {
    await start();
    expect((await post()).status).toBe(202);
    rmSync(join(folder(), name));
    expect((await post()).status).toBe(503);
  });
}

for (const args of [[], ["--listeners", "2"]]) {
  test(`a service whose folder has been replaced leaves the new one's messages to the new one's service (${args.join(" ") || "one thread"})`, async () => {
    await start({ args });
    const old = `${folder()}-old`;
    renameSync(folder(), old);
    const next = await startPostrider({ dataFolder: folder() });
    // On every thread that takes requests, also on one that has stored nothing before.
    for (let n = 0; n < 8; n++) expect((await post()).status).toBe(503);
    expect((await send(next, { apiKey: next.sandbox.api_key, path: PATH, body: SMS })).status).toBe(202);
    next.kill("SIGKILL");
    await next.exited;
    rmSync(old, { recursive: true });
  });
}
