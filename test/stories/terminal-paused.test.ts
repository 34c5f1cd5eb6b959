/** The terminal in which the service runs takes no more: Ctrl-S, or a connection to it that hangs. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { reached, send } from "../admin.ts";
import { databaseOf, onBothStores } from "../both-stores.ts";
import { createSignals } from "../fakes/signals.ts";
import { makeDataFolder, onPostgres, type Sandbox } from "../postrider-process.ts";

const MAIN = join(import.meta.dir, "../../src/cli/main.ts");
const CTRL_S = "\x13";
const CTRL_Q = "\x11";

const PATH = "/v1/sms/messages";
const SMS = { to: "+919812345678", dlt_template_id: "1107160000000000001" };

onBothStores(() => {
  test("the service goes on, writes what it held when the terminal goes on, and stops with 0 while it stands still", async () => {
    const folder = makeDataFolder();
    const { child, terminal } = await startInTerminal(folder.path);
    const { url } = JSON.parse(await terminal.line('"msg":"ready"')) as { url: string };
    const sandbox = JSON.parse(readFileSync(join(folder.path, "sandbox.json"), "utf8")) as Sandbox;
    const { api_key: apiKey } = sandbox;
    /** Sends messages, more than may come before the terminal has heard of the key; resolves with the id of the last. */
    const deliver = async () => {
      let id = "";
      for (let n = 0; n < 30; n++) {
        const answer = await send({ url, sandbox }, { apiKey, path: PATH, body: SMS });
        expect(answer.status).toBe(202);
        id = String(answer.body.message_id);
      }
      await reached({ url, sandbox }, { apiKey, path: `${PATH}/${id}` }, "delivered");
      return id;
    };

    terminal.press(CTRL_S);
    const last = await deliver();
    expect(terminal.text()).not.toContain(last);
    terminal.press(CTRL_Q);
    await terminal.line(last);

    terminal.press(CTRL_S);
    expect(terminal.text()).not.toContain(await deliver());
    child.kill("SIGTERM");
    expect(await child.exited).toBe(0);
    folder.remove();
  });
});

async function startInTerminal(dataFolder: string) {
  const signals = createSignals();
  const decoder = new TextDecoder();
  let text = "";
  const child = Bun.spawn([process.execPath, MAIN, "serve"], {
    env: {
      PATH: process.env.PATH ?? "",
      POSTRIDER_DATA: dataFolder,
      PORT: "0",
      LOG_LEVEL: "debug",
      ...onPostgres(await databaseOf(dataFolder)),
    },
    terminal: {
      data(_, octets) {
        text += decoder.decode(octets, { stream: true });
        signals.tell();
      },
    },
  });
  const find = (words: string) =>
    text
      .split("\r\n")
      .slice(0, -1)
      .find((line) => line.includes(words));
  return {
    child,
    terminal: {
      text: () => text,
      press: (key: string) => void child.terminal?.write(key),
      /** The first whole line with these words in it. */
      async line(words: string): Promise<string> {
        await signals.until(() => find(words) !== undefined);
        return find(words) ?? "";
      },
    },
  };
}
