import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type FakeSmsc, startFakeSmsc } from "../fakes/fake-smsc.ts";
import { testTls } from "../fakes/test-tls.ts";
import { until } from "../until.ts";
import { typeBesideService } from "./typed-commands.ts";

const { run, text, json } = typeBesideService();
let account: string;

beforeAll(async () => {
  account = (await json("accounts", "create", "--name", "Acme", "--mode", "live")).account_id;
});

describe("connectors and routes", () => {
  let smsc: FakeSmsc;
  beforeAll(async () => {
    smsc = await startFakeSmsc();
  });
  afterAll(() => smsc.close());

  const smpp = () => `--kind smpp --host ${smsc.host} --port ${smsc.port} --system-id acme`.split(" ");

  test("options become the fields of the kind, typed as it says, and secrets are not shown", async () => {
    const created = await json(
      "connectors",
      "create",
      ...smpp(),
      "--password",
      "secret",
      "--no-tls",
      "--window=3",
    );
    expect(created).toMatchObject({
      connector_id: created.id,
      name: "smpp",
      config: { host: smsc.host, port: smsc.port, system_id: "acme", tls: false, window: 3 },
      secrets: { password: "set" },
    });
    const id = created.connector_id;
    expect(await text("connectors", "list")).toMatch(
      new RegExp(`^${id} +smpp +smpp +127\\.0\\.0\\.1 +yes`, "m"),
    );
    expect(await text("connectors", "show", id)).toMatch(/^secrets\.password +set$/m);
    expect(await text("connectors", "test", id)).toStartWith("ok: ");

    const changed = await json(
      "connectors",
      "update",
      id,
      "--name",
      "main",
      "--validity-period",
      "false",
      "--no-enabled",
    );
    expect(changed).toMatchObject({
      name: "main",
      is_enabled: false,
      config: { validity_period: false, window: 3 },
    });

    const { route_id: route } = await json(
      ...["routes", "create", "--account", account, "--channel", "sms", "--match", "91", "--connector", id],
    );
    expect(await text("routes", "list")).toContain(route);
    expect(await json("routes", "show", route)).toMatchObject({ match: "91", connector_ids: [id] });
    expect(await json("routes", "update", route, "--match", "9198")).toMatchObject({ match: "9198" });
    expect(await json("routes", "update", route, "--match", "")).toMatchObject({ match: "" });
    const inUse = await run(["connectors", "delete", id]);
    expect(inUse.code).toBe(1);
    expect(inUse.err).toBe(`error: conflict\n  id: the connector is in use by the route ${route}\n`);
    await text("routes", "delete", route);
    await text("connectors", "delete", id);
  });

  test("the list tells why a connector is down", async () => {
    // Port 1 of this machine: nobody listens there.
    const nobody = ["--host", "127.0.0.1", "--port", "1", "--tls", "none"];
    const { id } = await json("connectors", "create", "--kind", "smtp", ...nobody);
    const rowOf = async () =>
      (await text("connectors", "list")).split("\n").find((row) => row.startsWith(id));
    const reason = /yes +(?:down|connecting) +smtp\.connect: .*ECONNREFUSED/;
    expect(await until(rowOf, (row) => reason.test(row ?? ""))).toMatch(reason);
    await text("connectors", "delete", id);
  });

  test("an update that names nothing to change is told where the fields are listed", async () => {
    const { id } = await json("connectors", "create", ...smpp());
    for (const nothing of [[], ["--config", "{}"]]) {
      expect(await run(["connectors", "update", id, ...nothing])).toEqual({
        code: 2,
        out: "",
        err:
          "error: nothing was given to change: give --name, --enabled, --no-enabled, --config or a field of its kind; " +
          "`connectors kinds smpp` lists them\n",
      });
    }
    expect((await run(["connectors", "update", "gone"])).err).toContain("there is no gone");
    await text("connectors", "delete", id);
  });

  test("a certificate, which begins with dashes, is the value of the option before it", async () => {
    const { id, config } = await json("connectors", "create", ...smpp(), "--tls-ca", testTls.ca);
    expect(config.tls_ca).toBe(testTls.ca);
    await text("connectors", "delete", id);
  });

  test.each([
    ["smpp", "tls_ca", { host: "127.0.0.1", system_id: "acme", tls: true }],
    [
      "http",
      "tls_ca",
      { provider: "kannel", base_url: "https://127.0.0.1", username: "acme", password: "p" },
    ],
    ["smtp", "ca", { host: "127.0.0.1" }],
    ["mx", "ca", {}],
  ])("%s takes no text that holds no certificate for one", async (kind, field, config) => {
    const create = (pem: string) =>
      run([
        ...["connectors", "create", "--kind", kind, "--json"],
        ...["--config", JSON.stringify({ ...config, [field]: pem })],
      ]);
    const withoutLineEnds = testTls.ca.replaceAll("\n", " ");
    const garbled = testTls.ca.replace(/MII.*\n/, "");
    const onOneLine = testTls.ca.trim() + testTls.ca;
    for (const pem of [
      "ca.pem",
      withoutLineEnds,
      garbled,
      testTls.key,
      `${testTls.ca}\n${garbled}`,
      onOneLine,
    ]) {
      const { code, err } = await create(pem);
      expect([code, err]).toEqual([
        1,
        expect.stringContaining(`--config, ${field}: must be one or more cert`),
      ]);
    }
    const { id } = JSON.parse((await create(`${testTls.ca}\n${testTls.cert}\n`)).out);
    await text("connectors", "delete", id);
  });

  test.each([
    ["smtp", { host: "127.0.0.1" }],
    ["mx", {}],
  ])(
    "%s introduces itself by a domain name or an address literal, and by nothing else",
    async (kind, config) => {
      const create = (ehlo_name: string) =>
        run([
          ...["connectors", "create", "--kind", kind, "--json"],
          ...["--config", JSON.stringify({ ...config, ehlo_name })],
        ]);
      for (const name of ["mail example.com", "mail.example.com\r\nQUIT", "192.0.2.1"]) {
        const { code, err } = await create(name);
        expect([code, err]).toEqual([
          1,
          expect.stringContaining("--config, ehlo_name: must be a domain name"),
        ]);
      }
      const { id } = JSON.parse((await create("[192.0.2.1]")).out);
      const changed = await run(["connectors", "update", id, "--ehlo-name", "mail."]);
      expect([changed.code, changed.err]).toEqual([1, expect.stringContaining("--ehlo-name: must be")]);
      await text("connectors", "update", id, "--ehlo-name", "mail.example.com");
      await text("connectors", "delete", id);
    },
  );

  test("a misspelt field of a gateway's description is refused by its whole name", async () => {
    const answer = { rows: [{ http: "202", outcome: "sent" }], err_code: { json: "/code" } };
    const gateway = { send: { url: "https://gateway.example/", headres: {} }, answer };
    const config = JSON.stringify({ provider: "custom", gateway });
    const { code, err } = await run(["connectors", "create", "--kind", "http", "--config", config]);
    expect(code).toBe(1);
    expect(err.split("\n")).toEqual([
      "error: validation failed",
      "  --config, gateway.send.headres: unknown; did you mean headers?",
      expect.stringContaining("  --config, gateway.answer.err_code: unknown; "),
      "",
    ]);
  });

  test("--config takes JSON, and options go over it", async () => {
    const config = JSON.stringify({ host: "relay.example", port: 25, password: "secret" });
    const created = await json("connectors", "create", "--kind", "smtp", "--config", config, "--port", "587");
    expect(created.config).toMatchObject({ host: "relay.example", port: 587 });
    expect(created.secrets).toEqual({ password: "set" });
  });

  test("routes keep the order in which connectors are named, and are listed with their weights", async () => {
    const one = (await json("connectors", "create", ...smpp(), "--name", "one")).connector_id;
    const two = (await json("connectors", "create", ...smpp(), "--name", "two")).connector_id;
    const route = await json("routes", "create", "--channel", "sms", "--connector", two, "--connector", one);
    expect(route.connector_ids).toEqual([two, one]);
    expect(await text("routes", "list")).toContain("all live");
    const shares = [
      `${one}=3`,
      two,
      "--category",
      "promotional",
      "--sender",
      "ACMEIN",
      "--failover",
      "always",
    ];
    const shared = await json(
      "routes",
      "create",
      "--channel",
      "sms",
      "--connector",
      ...shares.slice(0, 1),
      "--connector",
      ...shares.slice(1),
    );
    expect(shared).toMatchObject({
      connectors: [{ connector_id: one, weight: 3 }, { connector_id: two }],
      category: "promotional",
      sender: "ACMEIN",
      failover: "always",
    });
    const listed = await text("routes", "list");
    expect(listed).toContain(`${two}, ${one}\n`);
    expect(listed).toContain(`${one}=3, ${two}\n`);
    expect((await run(["routes", "update", route.id, "--connector", `${one}=x`])).err).toContain("id=weight");
  });

  test("a test that fails ends with code 1 and says why", async () => {
    const { connector_id: id } = await json(
      "connectors",
      "create",
      "--kind",
      "smtp",
      "--host",
      "127.0.0.1",
      "--port",
      "1",
    );
    const { code, out } = await run(["connectors", "test", id]);
    expect(code).toBe(1);
    expect(out).toStartWith("failed: ");
  });

  test("what the test of a connector says of a certificate leads to one that is taken", async () => {
    const secure = await startFakeSmsc({}, { tls: true });
    const config = ["--host", secure.host, "--port", String(secure.port), "--system-id", "acme", "--tls"];
    const { id } = await json("connectors", "create", "--kind", "smpp", ...config);
    expect(await run(["connectors", "test", id])).toEqual({
      code: 1,
      out: "failed: unable to verify the first certificate; set `tls_ca` to the certificate (PEM) of the authority that signed it; if that is a public one, the server does not send its intermediate certificate, and whoever runs it has to mend that\n",
      err: "",
    });
    await text("connectors", "update", id, "--tls-ca", testTls.ca);
    expect(await text("connectors", "test", id)).toBe("ok: bound as acme, and unbound\n");
    await text("connectors", "delete", id);
    await secure.close();
  });

  test("misspelt and missing fields are all named, one per line, with the right name", async () => {
    const { code, err } = await run([
      "connectors",
      "create",
      "--kind",
      "smpp",
      "--hots",
      "x",
      "--port",
      "many",
    ]);
    expect(code).toBe(1);
    const lines = err.trimEnd().split("\n");
    expect(lines[0]).toBe("error: validation failed");
    expect(lines).toContain("  --host: required");
    expect(lines).toContain("  --system-id: required");
    expect(lines).toContain("  --port: must be an integer");
    expect(lines).toContain("  --hots: unknown; did you mean --host?");
  });

  test("the kinds and their fields are listed", async () => {
    expect(await text("connectors", "kinds")).toMatch(/^smpp +sms$/m);
    expect(await text("connectors", "kinds", "smtp")).toMatch(/^--host +string +required/m);
    const choice = /^--bind +choice +"transceiver" +One session .* \(transceiver, transmitter_receiver\)$/m;
    expect(await text("connectors", "kinds", "smpp")).toMatch(choice);
  });

  test.each([
    [["create", "--kind", "fax", "--host", "x"], 'there is no kind "fax"'],
    [["create", "--kind", "smpp", "--host"], "--host needs a value"],
    [["create", "--kind", "smpp", "stray"], '"stray" is not understood'],
    [["create", "--kind", "smpp", "--config", "[1]"], "--config needs a JSON object"],
    [["update", "--host", "x"], "name the connector first"],
    [["create"], "--kind"],
  ])("%p is not understood", async (args, reason) => {
    const { code, err } = await run(["connectors", ...args]);
    expect(code).toBe(2);
    expect(err).toContain(reason);
  });
});
