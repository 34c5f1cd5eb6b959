/** The service as one file, on a machine that has neither Node nor Bun. */
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { reached, send } from "../admin.ts";
import { forgetDatabase, onBothStores } from "../both-stores.ts";
import { makeOlder, stepsIn } from "../older-folder.ts";
import { makeDataFolder, type PostriderProcess, runPostrider, startPostrider } from "../postrider-process.ts";

const BUILD = join(import.meta.dir, "../../scripts/build-binary.ts");
const ASSETS = join(import.meta.dir, "../../node_modules/swagger-ui-dist");

const folder = makeDataFolder();
const binary = join(folder.path, "postrider");
/** No program is found here, and the folder it starts in is empty. */
const env = { PATH: join(folder.path, "nothing") };
let dataFolder: string;
let service: PostriderProcess | undefined;

beforeAll(async () => {
  mkdirSync(env.PATH);
  const build = Bun.spawn([process.execPath, BUILD, binary], { stdout: "pipe", stderr: "pipe" });
  const said = await new Response(build.stderr).text();
  expect({ code: await build.exited, said }).toEqual({ code: 0, said: "" });
  expect(readdirSync(folder.path).sort()).toEqual(["nothing", "postrider"]);
}, 120_000);

afterEach(async () => {
  service?.kill("SIGKILL");
  await service?.exited;
  forgetDatabase(dataFolder);
});

afterAll(folder.remove);

/** `name`: of a folder in which nobody has started yet. */
function start(name: string, ...args: string[]): Promise<PostriderProcess> {
  makeFolder(name);
  return startThere(...args);
}

function makeFolder(name: string): void {
  dataFolder = join(folder.path, name);
  mkdirSync(dataFolder);
}

/** Returns how many migrations there have been since. */
function makeOlderFolder(name: string): number {
  makeFolder(name);
  const since = makeOlder(dataFolder, 11);
  writeFileSync(join(dataFolder, "master.key"), "the older version's key", { mode: 0o600 });
  return since;
}

async function startThere(...args: string[]): Promise<PostriderProcess> {
  service = await startPostrider({ binary, dataFolder, env, args });
  return service;
}

const run = (command: string, ...args: string[]) =>
  runPostrider({ binary, dataFolder, env, command, args: [...args] });

async function expectDelivery(peer: PostriderProcess, path: string, body: object): Promise<void> {
  const { api_key: apiKey } = peer.sandbox;
  const { status, body: answer } = await send(peer, { apiKey, path, body });
  expect(status).toBe(202);
  await reached(peer, { apiKey, path: `${path}/${answer.message_id}` }, "delivered");
}

const sms = { to: "+919876543210", dlt_template_id: "1107160000000000001" };
const email = {
  from: { email: "a@example.com" },
  to: [{ email: "b@example.net" }],
  subject: "Hi",
  body_text: "Hi",
};

onBothStores((store) => {
  for (const args of store === "sqlite" ? [[], ["--listeners", "2"], ["--store-thread"]] : [[]]) {
    const way = args.join(" ") || "without options";
    test(`started ${way}, it takes messages and delivers them`, async () => {
      const peer = await start(`${store} ${way}`, ...args);
      // Several, so that each listener gets some.
      await Promise.all(Array.from({ length: 20 }, () => expectDelivery(peer, "/v1/sms/messages", sms)));
      await expectDelivery(peer, "/v1/emails/messages", email);
      peer.kill("SIGTERM");
      expect(await peer.exited).toBe(0);
    });
  }

  if (store === "sqlite") {
    for (const args of [[], ["--listeners", "2"], ["--store-thread"]]) {
      const way = args.join(" ") || "without options";
      test(`started ${way} on the data folder of an older version, it migrates that, and delivers`, async () => {
        const since = makeOlderFolder(`older ${way}`);
        const peer = await startThere(...args);
        expect(stepsIn(peer.output())).toHaveLength(since);
        await expectDelivery(peer, "/v1/sms/messages", sms);
        peer.kill("SIGTERM");
        expect(await peer.exited).toBe(0);
      });
    }

    test("the commands of the binary migrate the data folder of an older version too", async () => {
      makeOlderFolder("older commands");
      expect(await run("rotate-key")).toEqual({
        code: 0,
        output: expect.stringMatching(/^changing the database to the schema of this version: .*encrypted/s),
      });
    });
  }

  test("the binary serves the documentation with all its files", async () => {
    const { url } = await start(`${store} docs`);
    const page = await (await fetch(`${url}/docs`)).text();
    const names = [...page.matchAll(/(?:src|href)="[^"]*?([\w-]+\.(?:js|css))"/g)].map(
      ([, name = ""]) => name,
    );
    expect(names).toContain("swagger-ui-bundle.js");
    for (const name of ["swagger-ui.css", "swagger-ui-bundle.js", "swagger-ui-standalone-preset.js"]) {
      const served = new Uint8Array(await (await fetch(`${url}/docs/${name}`)).arrayBuffer());
      expect([name, Buffer.compare(served, readFileSync(join(ASSETS, name)))]).toEqual([name, 0]);
    }
    expect((await fetch(`${url}/openapi.json`)).status).toBe(200);
  });

  test("the binary is the command line too", async () => {
    const { sandbox } = await start(`${store} commands`);
    expect(await run("accounts", "list")).toMatchObject({
      code: 0,
      output: expect.stringContaining(sandbox.account_id),
    });
    expect(await run("connectors", "kinds")).toMatchObject({
      code: 0,
      output: expect.stringContaining("smpp"),
    });
    // PostgreSQL's is made with programs of its own, and none is found here.
    if (store === "postgres") return;
    const made = await run("backup", "--to", join(folder.path, "copy"));
    expect(made).toMatchObject({ code: 0, output: expect.stringContaining("backup written") });
  });
});
