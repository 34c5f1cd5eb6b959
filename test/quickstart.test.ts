/** README: the quickstart, followed to the letter by somebody who has nothing yet. */
import { afterEach, expect, test } from "bun:test";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { blocksOf } from "./documented-commands.ts";
import { keptPort } from "./fakes/kept-port.ts";
import { folderUntilTheEnd } from "./temp-folder.ts";
import { until } from "./until.ts";

const ROOT = join(import.meta.dir, "..");

const quoted = (words: string) => `'${words.replaceAll("'", "'\\''")}'`;

/** In place of the network: what is cloned is this repository, and what is installed are its packages. */
const GIT = `[ "$1" = clone ] && mkdir postrider && cp -r ${quoted(`${ROOT}/src`)} ${quoted(`${ROOT}/package.json`)} postrider`;
const NPM = `[ "$1" = install ] && exec ln -s ${quoted(`${ROOT}/node_modules`)} node_modules\nexec ${quoted(Bun.which("npm") ?? "")} "$@"`;

const started: ChildProcess[] = [];

/** As Ctrl-C does it: everybody in the terminal's group gets the signal. */
afterEach(async () => {
  for (const child of started.splice(0)) {
    const ended = once(child, "exit");
    process.kill(-(child.pid as number), "SIGINT");
    await ended;
  }
});

/** A machine with git, npm and curl, and a home folder with nothing in it, whose name has what names may have. */
async function openMachine() {
  const home = join(folderUntilTheEnd("postrider-quickstart-"), "o'brien's \"new\" 50%41 #1 日本");
  mkdirSync(home);
  for (const [name, script] of Object.entries({ git: GIT, npm: NPM })) {
    writeFileSync(join(home, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(home, name), 0o755);
  }
  const port = String(await keptPort());
  const clone = join(home, "postrider");
  const env = {
    PATH: `${home}:${process.env.PATH}`,
    HOME: home,
    PORT: port,
    NPM_CONFIG_UPDATE_NOTIFIER: "false",
  };
  /** In a terminal of its own. */
  const type = (commands: string, cwd = clone) => {
    return spawn("sh", ["-euc", commands.replaceAll("8080", port)], {
      cwd,
      env,
      stdio: ["ignore", "pipe", "inherit"],
      detached: true,
    });
  };
  return {
    /** What the service prints until it is ready. */
    start(commands: string): Promise<string> {
      const child = type(commands, home);
      started.push(child);
      return readyText(child.stdout);
    },
    /** What a command answers, in JSON. */
    async answer(commands: string): Promise<Record<string, string>> {
      return JSON.parse(await text(type(commands).stdout));
    },
    apiKey: () => JSON.parse(readFileSync(join(clone, "data/sandbox.json"), "utf8")).api_key as string,
  };
}

test("whoever follows the quickstart has an SMS and an email that are delivered, and the answers that it shows", async () => {
  const machine = await openMachine();
  const blocks = blocksOf("../README.md", "Quickstart");
  const [begin = "", lookUp = "", mail = ""] = blocks.flatMap(({ language, text: commands }) =>
    language === "sh" ? [commands] : [],
  );
  const shown = blocks.flatMap(({ language, text: answer }) =>
    language === "json" ? [JSON.parse(answer) as Record<string, string>] : [],
  );
  const said = await machine.start(begin);
  const printed = /^ {2}curl -s \S+\/v1\/sms\/messages \\\n(?:.+\\\n)*.+$/m.exec(said)?.[0] ?? "";
  const sent = await machine.answer(printed);
  const found = () => machine.answer(lookUp.replace(String(shown[0]?.message_id), String(sent.message_id)));
  const sms = await until(found, ({ status }) => status === "delivered");
  // The third block goes on in the terminal of the second.
  const email = await machine.answer(`API_KEY=${machine.apiKey()}\n${mail}`);
  expect([sent, sms, email].map((each) => Object.keys(each))).toEqual(shown.map((each) => Object.keys(each)));
  const path = `/v1/emails/messages/${email.message_id}`;
  const ask = `curl -s http://127.0.0.1:8080${path} -H "Authorization: Bearer ${machine.apiKey()}"`;
  await until(
    () => machine.answer(ask),
    ({ status }) => status === "delivered",
  );
});

/** Reads on afterwards, so that the service has somebody to print to. */
function readyText(output: Readable): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = "";
    output.on("data", (chunk) => {
      said += String(chunk);
      if (said.includes('"msg":"ready"')) resolve(said);
    });
    output.on("end", () => reject(new Error(`the service ended:\n${said}`)));
  });
}
