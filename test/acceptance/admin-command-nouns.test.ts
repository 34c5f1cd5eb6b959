import { beforeAll, describe, expect, test } from "bun:test";
import { Command } from "commander";
import { addCommands } from "../../src/cli/commands.ts";
import { startFakeDns } from "../fakes/fake-dns.ts";
import { typeBesideService } from "./typed-commands.ts";

const { run, text, json, service } = typeBesideService();
let account: string;

beforeAll(async () => {
  account = (await json("accounts", "create", "--name", "Acme", "--mode", "live")).account_id;
});

interface Case {
  readonly create: () => readonly string[];
  readonly idName: string;
  readonly shown: object;
  readonly update: readonly string[];
  readonly updated: object;
  /** A word of the list's head, and one of its rows. */
  readonly listed: readonly [string, string];
}

const nouns: Readonly<Record<string, Case>> = {
  accounts: {
    create: () => ["--name", "Another", "--mode", "sandbox"],
    idName: "account_id",
    shown: { name: "Another", mode: "sandbox" },
    update: ["--name", "Renamed"],
    updated: { name: "Renamed" },
    listed: ["MODE", "Another"],
  },
  "sms-templates": {
    create: () => ["--account", account, "--name", "otp", "--body", "Code {#var#}", "--from", "ACMEIN"],
    idName: "template_id",
    shown: { name: "otp", body: "Code {#var#}", from: "ACMEIN" },
    update: ["--dlt-template-id", "1107160000000000001", "--from", ""],
    updated: { dlt_template_id: "1107160000000000001" },
    listed: ["BODY", "Code {#var#}"],
  },
  senders: {
    create: () => [
      ...["--account", account, "--sender-id", "ACMEIN", "--default"],
      ...[
        "--linked-dlt-template-id",
        "1107160000000000001",
        "--linked-dlt-template-id",
        "1107160000000000002",
      ],
    ],
    idName: "id",
    shown: {
      sender_id: "ACMEIN",
      is_default: true,
      linked_dlt_template_ids: ["1107160000000000001", "1107160000000000002"],
    },
    update: ["--no-default", "--dlt-entity-id", "1101160000000000001"],
    updated: { is_default: false, dlt_entity_id: "1101160000000000001" },
    listed: ["SENDER ID", "ACMEIN"],
  },
  "dlt-entities": {
    create: () => ["--account", account, "--entity-id", "1101160000000000001", "--name", "Acme"],
    idName: "id",
    shown: { entity_id: "1101160000000000001", name: "Acme" },
    update: ["--whitelisted-url", "acme.example/,acme.test/", "--status", "approved"],
    updated: { whitelisted_urls: ["acme.example/", "acme.test/"], status: "approved" },
    listed: ["ENTITY", "1101160000000000001"],
  },
  "inbound-numbers": {
    create: () => ["--account", account, "--number", "14155550123"],
    idName: "id",
    shown: { number: "+14155550123" },
    update: ["--number", "56161"],
    updated: { number: "56161" },
    listed: ["CONNECTOR", "+14155550123"],
  },
  "opt-outs": {
    create: () => ["--account", account, "--recipient", "9876543210", "--sender", "acme"],
    idName: "id",
    shown: { recipient: "+919876543210", sender: "ACME", reason: "added by an operator" },
    update: ["--reason", "asked"],
    updated: { reason: "asked" },
    listed: ["RECIPIENT", "+919876543210"],
  },
  domains: {
    create: () => ["--account", account, "--domain", "example.com"],
    idName: "domain_id",
    shown: { domain: "example.com" },
    update: ["--dkim-selector", "mail"],
    updated: { dkim_selector: "mail" },
    listed: ["VERIFIED", "example.com"],
  },
  "push-apps": {
    create: () => ["--account", account, "--name", "App", "--platform", "apns,fcm"],
    idName: "push_app_id",
    shown: { name: "App", platforms: ["apns", "fcm"] },
    update: ["--platform", "web"],
    updated: { platforms: ["web"] },
    listed: ["PLATFORMS", "apns, fcm"],
  },
  contacts: {
    create: () => ["--account", account, "--external-id", "user-1"],
    idName: "contact_id",
    shown: { external_id: "user-1" },
    update: ["--external-id", "user-2"],
    updated: { external_id: "user-2" },
    listed: ["EXTERNAL ID", "user-1"],
  },
  suppressions: {
    create: () => ["--account", account, "--email", "gone@example.org"],
    idName: "suppression_id",
    shown: { email: "gone@example.org" },
    update: ["--reason", "unsubscribe", "--source", "asked by phone"],
    updated: { reason: "unsubscribe", source: "asked by phone" },
    listed: ["EMAIL", "gone@example.org"],
  },
};

describe.each(Object.entries(nouns))("%s", (noun, { create, idName, shown, update, updated, listed }) => {
  test("create, list, show, update and delete", async () => {
    const created = await json(noun, "create", ...create());
    const id = created[idName];
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    expect(await json(noun, "show", id)).toMatchObject(shown);
    const [head = "", row = ""] = listed;
    const lines = (await text(noun, "list")).split("\n");
    expect(lines[0]).toContain(head);
    expect(lines.find((line) => line.startsWith(id))).toContain(row);
    const found = async (search: string) => (await json(noun, "list", "--search", search)).data;
    expect(await found(id)).toHaveLength(1);
    expect(await found("called like nobody")).toEqual([]);
    expect(await json(noun, "update", id, ...update)).toMatchObject({ id, ...updated });
    expect(await text(noun, "show", id)).toContain(String(Object.values(updated).at(-1)));
    expect(await text(noun, "delete", id)).toContain(`${id}\n`);
    expect(await run([noun, "show", id])).toMatchObject({
      code: 1,
      err: `error: there is no ${id} among the ${noun}: \`${noun} list\` shows what there is\n`,
    });
  });
});

test("lists are searched by a part of a name, and what cannot be one is told of the option", async () => {
  const { account_id: id } = await json(
    "accounts",
    "create",
    "--name",
    "Zimmer & Söhne",
    "--mode",
    "sandbox",
  );
  expect((await json("accounts", "list", "--search", "SÖHNE")).data).toMatchObject([{ id }]);
  expect((await json("connectors", "list", "--search", "nobody")).data).toEqual([]);
  expect(await run(["accounts", "list", "--search", "x".repeat(256)])).toMatchObject({
    code: 1,
    err: "error: validation failed\n  --search: must be at most 255 characters\n",
  });
});

test("every option that a list offers is one that the API takes", async () => {
  const program = new Command();
  addCommands(program, "0");
  const needed: Record<string, readonly string[]> = {
    messages: ["--account", account, "--channel", "sms"],
    receipts: ["--parked"],
    webhooks: ["--account", account],
  };
  const taken = async (noun: string, option: string) => {
    const { err } = await run([noun, "list", ...(needed[noun] ?? []), option, "x"]);
    return !/: unknown(;|$)/m.test(err);
  };
  const refused: string[] = [];
  for (const noun of program.commands)
    for (const { long, required } of noun.commands.find((verb) => verb.name() === "list")?.options ?? [])
      if (long && required && !["--url", "--token"].includes(long) && !(await taken(noun.name(), long)))
        refused.push(`${noun.name()} list ${long}`);
  expect(refused).toEqual([]);
});

test("an empty value clears a field", async () => {
  const { template_id: id } = await json(
    ...["sms-templates", "create", "--account", account, "--name", "x", "--body", "y", "--from", "ACME"],
  );
  expect(await json("sms-templates", "update", id, "--from", "")).not.toHaveProperty("from");
});

test("an update that names nothing to change is told what can be, and is not taken for done", async () => {
  const changes = (noun: string, options: string) =>
    expect(run([noun, "update", "any"])).resolves.toEqual({
      code: 2,
      out: "",
      err: `error: nothing was given to change: give ${options}\n`,
    });
  await changes("contacts", "--external-id");
  await changes("accounts", "--name or --mode");
  await changes("suppressions", "--reason, --source or --expires-at");
  for (const noun of [...Object.keys(nouns), "keys", "routes"]) {
    const { code, err } = await run([noun, "update", "any"]);
    expect([noun, code, err]).toEqual([noun, 2, expect.stringContaining("nothing was given to change")]);
  }
});

test("inbound list goes on with what its page before ended with", async () => {
  const sandbox = service().sandbox.account_id;
  for (const words of ["first", "second"]) {
    const message = ["--from", "+14155550123", "--to", "56161", "--text", words];
    expect(await text("sandbox", "receive", "--account", sandbox, ...message)).toStartWith("received as ");
  }
  const page = (...more: string[]) =>
    text("inbound", "list", "--account", sandbox, "--from", "+14155550123", "--limit", "1", ...more);
  const [, second, more = ""] = (await page()).split("\n");
  expect([second, more]).toEqual([
    expect.stringContaining("second"),
    expect.stringMatching(/^more: --after /),
  ]);
  expect(await page(...more.replace("more: ", "").split(" "))).toContain("first");
});

test("keys: list, show, update, and revoke", async () => {
  const { key_id: id } = await json("keys", "create", "--account", account, "--name", "CI");
  expect(await text("keys", "list", "--account", account)).toContain(id);
  expect(await json("keys", "update", id, "--name", "CI 2")).toMatchObject({ key_id: id, name: "CI 2" });
  expect(await json("keys", "show", id)).not.toHaveProperty("api_key");
  expect((await json("keys", "revoke", id)).revoked_at).toEndWith("Z");
  expect((await run(["keys", "delete", id])).code).toBe(2);
});

test("domains verify tells record by record what is missing, and fails until none is", async () => {
  const dns = await startFakeDns();
  await text("settings", "set", "dns_servers", dns.address);
  const { domain_id: id } = await json(
    "domains",
    "create",
    "--account",
    account,
    "--domain",
    "verify.example",
  );
  const shown = await text("domains", "show", id);
  expect(shown).toMatch(/^_postrider\.verify\.example\. 3600 IN TXT "postrider-verification=\w+"$/m);
  expect(shown).toMatch(/^bounce\.verify\.example\. 3600 IN CNAME verify\.example\.$/m);
  const missing = await run(["domains", "verify", id]);
  expect(missing.code).toBe(1);
  expect(missing.out).toMatch(/^missing +TXT +_postrider\.verify\.example +no TXT record yet$/m);
  expect(missing.out).toContain("not verified yet");

  const { records } = await json("domains", "show", id);
  for (const { type, name, value } of records) (type === "TXT" ? dns.txt : dns.cname).set(name, value);
  expect(await text("domains", "verify", id)).toMatch(
    /^ok +CNAME +bounce\.verify\.example +verify\.example$/m,
  );
  expect(await text("domains", "rotate-dkim", id)).toMatch(
    /-ed\._domainkey\.verify\.example\. 3600 IN TXT "v=DKIM1; k=ed25519; p=.*; the next key: signs once/,
  );
  dns.close();
});

test("connectors are told apart by their host, or by the provider that has it", async () => {
  const create = async (...config: string[]) => (await json("connectors", "create", ...config)).id;
  const relay = await create("--kind", "smtp", "--host", "relay.example");
  const twilio = await create(
    "--kind",
    "http",
    "--provider",
    "twilio",
    "--account-sid",
    "AC1",
    "--auth-token",
    "t",
  );
  const list = await text("connectors", "list");
  expect(list).toMatch(/^ID +NAME +KIND +HOST +ON /);
  expect(list).toMatch(new RegExp(`^${relay} +smtp +smtp +relay\\.example +yes`, "m"));
  expect(list).toMatch(new RegExp(`^${twilio} +twilio +http +twilio +yes`, "m"));
});
