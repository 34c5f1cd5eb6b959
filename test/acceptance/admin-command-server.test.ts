/** Where the command line finds the server, and what it says of an address that has none. */
import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { testTls } from "../fakes/test-tls.ts";
import { makeDataFolder } from "../postrider-process.ts";
import { typeBesideService } from "./typed-commands.ts";

const NOBODY = "01890000-0000-7000-8000-000000000000";

const { spawned, run, service } = typeBesideService();

test("options go over the environment, and that over sandbox.json", async () => {
  const { url, sandbox } = service();
  const elsewhere = makeDataFolder();
  const env = { POSTRIDER_DATA: elsewhere.path };
  const none = await spawned(["accounts", "list"], env);
  expect(none.code).toBe(1);
  for (const way of ["npm start", "postrider serve", "POSTRIDER_DATA"]) expect(none.err).toContain(way);
  const options = await run(["accounts", "list", "--url", url, "--token", sandbox.admin_token], env);
  expect(options.code).toBe(0);
  const environment = { ...env, POSTRIDER_URL: `${url}/`, POSTRIDER_ADMIN_TOKEN: sandbox.admin_token };
  expect((await spawned(["accounts", "list"], environment)).code).toBe(0);
  const wrong = await run(["accounts", "list", "--token", "wrong"], environment);
  expect(wrong.code).toBe(1);
  expect(wrong.err).toContain("refused the admin token");
  expect(wrong.err).toContain("sandbox.json");
  elsewhere.remove();
});

test("a server that does not run is said to be so, with how to start it", async () => {
  const { code, err } = await spawned(["accounts", "list", "--url", "http://127.0.0.1:1"]);
  expect(code).toBe(1);
  expect(err).toContain("nothing listens at http://127.0.0.1:1");
  for (const way of ["npm start", "postrider serve"]) expect(err).toContain(way);
});

test("an address that only the first start's sandbox.json knows is said to be from there", async () => {
  const { url, sandbox } = service();
  const moved = makeDataFolder();
  const file = join(moved.path, "sandbox.json");
  const env = { POSTRIDER_DATA: moved.path };
  const empty = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => Response.json({}, { status: 404 }),
  });
  for (const [base_url, said] of [
    ["http://127.0.0.1:1", "nothing listens at http://127.0.0.1:1"],
    [`http://127.0.0.1:${empty.port}`, "with the role api?"],
  ] as const) {
    writeFileSync(file, JSON.stringify({ ...sandbox, base_url }));
    const { err } = await spawned(["accounts", "list"], env);
    expect(err).toContain(said);
    expect(err).toContain(`; ${file} names the address of the first start`);
    expect((await spawned(["accounts", "list", "--url", url], env)).code).toBe(0);
    const given = await spawned(["accounts", "list", "--url", base_url], env);
    expect(given.err).toContain(said);
    expect(given.err).not.toContain(file);
  }
  await empty.stop(true);
  moved.remove();
});

test("an address at which something else than HTTP is spoken is said to be so", async () => {
  const mailHost = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: { data() {}, open: (socket) => void socket.write("220 mail.example.net ESMTP\r\n") },
  });
  const url = `http://127.0.0.1:${mailHost.port}`;
  expect(await run(["accounts", "list", "--url", url])).toEqual({
    code: 1,
    out: "",
    err: `error: ${url} cannot be reached: what answers there does not speak HTTP\n`,
  });
  mailHost.stop(true);
});

test("a certificate of nobody known is said to be so, with how to trust its authority", async () => {
  const fetch = () => new Response("{}");
  const secure = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch, tls: testTls });
  const { code, err } = await run(["accounts", "list", "--url", `https://127.0.0.1:${secure.port}`]);
  await secure.stop(true);
  expect(code).toBe(1);
  expect(err).toMatch(/cannot be reached: .*certificate.*NODE_EXTRA_CA_CERTS/);
});

test("a service that has got a certificate since the first start is asked for by another address", async () => {
  const fetch = () => new Response("{}");
  const secure = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch, tls: testTls });
  const place = `127.0.0.1:${secure.port}`;
  const { code, err } = await run(["accounts", "list", "--url", `http://${place}`]);
  await secure.stop(true);
  expect([code, err]).toEqual([1, expect.stringContaining(`name https://${place} with`)]);
});

test.each([
  ["<html>", 502, "answered 502 with something that is not JSON"],
  ["null", 200, "answered 200 with JSON that is no object"],
  ["[]", 200, "answered 200 with JSON that is no object"],
  ["{}", 200, "answered 200 with JSON that has no data"],
])("something that is not Postrider is told apart: %s", async (body, status, reason) => {
  const other = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response(body, { status }) });
  const { code, err } = await run(["accounts", "list", "--url", `http://127.0.0.1:${other.port}`]);
  await other.stop(true);
  expect([code, err]).toEqual([1, expect.stringContaining(reason)]);
});

test.each([
  [["--url", "ftp://127.0.0.1"], '"ftp://127.0.0.1" is not a URL'],
  [["--url", "localhost:8080"], '"localhost:8080" is not a URL'],
  [["--token", "two\nlines"], "this is no admin token; it is `admin_token` in the sandbox.json"],
])("%p cannot be meant, and the answer says what can", async (options, reason) => {
  expect(await run(["accounts", "list", ...options])).toMatchObject({
    code: 1,
    err: expect.stringContaining(reason),
  });
});

test("a password in the server's URL is refused, and not shown", async () => {
  for (const url of ["http://me:hidden@127.0.0.1:1", "me:hidden@localhost", "http://me:hid/den@127.0.0.1"]) {
    const { code, err } = await run(["accounts", "list", "--url", url]);
    expect([code, err]).toEqual([1, expect.stringContaining("leave both out")]);
    expect(err).not.toMatch(/hid/);
  }
});

test("an address with a path of the API behind it is told apart from an id that is not there", async () => {
  const url = `${service().url}/v1`;
  for (const args of [
    ["accounts", "list"],
    ["sandbox", "messages"],
    ["messages", "timeline", NOBODY],
  ]) {
    const { code, err } = await run([...args, "--url", url]);
    expect([code, err]).toEqual([1, expect.stringContaining(`${url} has no `)]);
  }
});

test("a damaged sandbox.json is named", async () => {
  const damaged = makeDataFolder();
  mkdirSync(damaged.path, { recursive: true });
  writeFileSync(join(damaged.path, "sandbox.json"), "{");
  const { code, err } = await run(["accounts", "list"], { POSTRIDER_DATA: damaged.path });
  damaged.remove();
  expect(code).toBe(1);
  expect(err).toContain("is damaged");
});
