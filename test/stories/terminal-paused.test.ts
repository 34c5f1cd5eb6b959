/** The terminal in which the service runs takes no more: Ctrl-S, or a connection to it that hangs. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { reached, send } from "../admin.ts";
import { databaseOf, onBothStores } from "../both-stores.ts";
import { builtPrograms } from "../built-programs.ts";
import { createSignals } from "../fakes/signals.ts";
import { makeDataFolder, onPostgres, type Sandbox } from "../postrider-process.ts";

const MAIN = join(builtPrograms(), "main.ts");
const CTRL_S = "\x13";
const CTRL_Q = "\x11";

const PATH = "/v1/sms/messages";
const SMS = { to: "+919812345678", dlt_template_id: "1107160000000000001" };

onBothStores((store) => {
  const threads = store === "sqlite" ? [[], ["--listeners", "2"]] : [[]];
  test.each(threads.map((args) => ({ args })))(
    "the service goes on, writes what it held when the terminal goes on, and stops with 0 while it stands still ($args)",
    async ({ args }) => {
      const folder = makeDataFolder();
      const { child, terminal } = await startInTerminal(folder.path, args);
      const { url } = JSON.parse(await terminal.line('"msg":"ready"')) as { url: string };
      const sandbox = JSON.parse(readFileSync(join(folder.path, "sandbox.json"), "utf8")) as Sandbox;
      const { api_key: apiKey } = sandbox;
      const post = async () => {
        const answer = await send({ url, sandbox }, { apiKey, path: PATH, body: SMS });
        expect(answer.status).toBe(202);
        return String(answer.body.message_id);
      };
      /** Sends messages, over connections to every thread, when the terminal has had time to hear of the key; resolves with the id of one. */
      const deliver = async () => {
        for (let n = 0; n < 10; n++) await post();
        const ids = await Promise.all(Array.from({ length: 30 }, post));
        const id = ids.at(-1) ?? "";
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
    },
  );
});

async function startInTerminal(dataFolder: string, args: readonly string[]) {
  const signals = createSignals();
  const decoder = new TextDecoder();
  let text = "";
  const child = Bun.spawn([process.execPath, MAIN, "serve", ...args], {
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
