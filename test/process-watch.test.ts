import { expect, test } from "bun:test";
import { listAll } from "./chaos/client.ts";
import { keptPort } from "./fakes/kept-port.ts";
import { watchProcess } from "./process-watch.ts";
import { until } from "./until.ts";

const { CI } = process.env;
const onLinux = test.skipIf(process.platform !== "linux" && !CI); // skipped: no /proc here

const WORDS = /^process \d+ runs; it ran \d+ ms and waited \d+ ms for a processor$/;

onLinux("of a process that is stopped, or has ended, its watch says so", async () => {
  await using child = Bun.spawn(["sleep", "600"]);
  const watch = watchProcess(child.pid);
  await until(watch.say, (said) => WORDS.test(said));
  child.kill("SIGSTOP");
  await until(watch.say, (said) => said.startsWith(`process ${child.pid} is stopped;`));
  child.kill("SIGKILL");
  await child.exited;
  expect(watch.say()).toBe(`process ${child.pid} has ended`);
});

onLinux("of a process that has work all the time, its watch says how long it ran", async () => {
  await using child = Bun.spawn(["sh", "-c", "while :; do :; done"]);
  const watch = watchProcess(child.pid);
  await until(watch.say, (said) => Number(/ran (\d+) ms/.exec(said)?.[1]) > 20);
  child.kill("SIGKILL");
});

test("a chaos run whose list is not answered ends with why, and with what became of the process", async () => {
  const child = Bun.spawn(["true"]);
  await child.exited;
  const url = `http://127.0.0.1:${await keptPort()}`;
  const service = { url, pid: child.pid, output: () => "its last line\n" };
  const answer = listAll({ channel: "sms" }, service, { account: { apiKey: "key" } });
  await expect(answer).rejects.toThrow(
    /^the list is not answered: after \d+ ms .+; process \d+ has ended\. Its last lines:\nits last line$/,
  );
});
