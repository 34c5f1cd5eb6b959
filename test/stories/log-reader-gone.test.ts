/** Whoever read the service's output has gone: a log driver that died, a terminal that was closed. */
import { expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { reached, send } from "../admin.ts";
import { databaseOf, onBothStores } from "../both-stores.ts";
import { builtPrograms } from "../built-programs.ts";
import { makeDataFolder, onPostgres, type Sandbox } from "../postrider-process.ts";

onBothStores(() => {
  const MAIN = join(builtPrograms(), "main.ts");
  const PATH = "/v1/sms/messages";

  test("the service goes on without its output: messages are accepted and delivered, and SIGTERM ends it with 0", async () => {
    const folder = makeDataFolder();
    const child = spawn(process.execPath, [MAIN, "serve"], {
      env: {
        PATH: process.env.PATH,
        POSTRIDER_DATA: folder.path,
        PORT: "0",
        LOG_LEVEL: "debug",
        ...onPostgres(await databaseOf(folder.path)),
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const exited = once(child, "exit");
    const { url } = JSON.parse(await lineOf(child.stdout, '"msg":"ready"')) as { url: string };
    child.stdout.destroy();
    child.stderr.destroy();

    const sandbox = (await Bun.file(join(folder.path, "sandbox.json")).json()) as Sandbox;
    const { api_key: apiKey } = sandbox;
    const body = { to: "+919812345678", dlt_template_id: "1107160000000000001" };
    for (let n = 0; n < 3; n++) {
      const answer = await send({ url, sandbox }, { apiKey, path: PATH, body });
      expect(answer.status).toBe(202);
      const message = { apiKey, path: `${PATH}/${answer.body.message_id}` };
      await reached({ url, sandbox }, message, "delivered");
    }
    child.kill("SIGTERM");
    expect(await exited).toEqual([0, null]);
    folder.remove();
  });

  /** The first whole line with these words in it. */
  function lineOf(stream: Readable, words: string): Promise<string> {
    let output = "";
    return new Promise((resolve, reject) => {
      stream.once("close", () => reject(new Error(`it ended: ${output}`)));
      stream.on("data", (chunk) => {
        output += String(chunk);
        const lines = output.split("\n").slice(0, -1);
        const found = lines.find((line) => line.includes(words));
        if (found !== undefined) resolve(found);
      });
    });
  }
});
