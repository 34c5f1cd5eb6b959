/** Operators change one connector at two processes on one PostgreSQL, at the same moment: what each was answered holds. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { admin } from "../admin.ts";
import { freshDatabase } from "../postgres-database.ts";
import type { TestDatabase } from "../postgres-server.ts";
import { makeDataFolder, type PostriderProcess, startPostrider } from "../postrider-process.ts";

const folders = [makeDataFolder(), makeDataFolder()] as const;
let database: TestDatabase;
let services: PostriderProcess[] = [];

beforeAll(async () => {
  database = await freshDatabase();
  const one = await startPostrider({ dataFolder: folders[0].path, databaseUrl: database.url });
  const { sandbox } = one;
  services = [one];
  services.push(await startPostrider({ dataFolder: folders[1].path, databaseUrl: database.url, sandbox }));
});

afterAll(async () => {
  for (const service of services) service.kill("SIGKILL");
  await Promise.all(services.map(({ exited }) => exited));
  await database.drop();
  for (const folder of folders) folder.remove();
});

interface Connector {
  readonly id: string;
  readonly config: Readonly<Record<string, unknown>>;
  readonly secrets: Readonly<Record<string, string>>;
}

function makeConnector(name: string): Promise<Connector> {
  const config = { host: "smsc.example", system_id: "acme", password: "secret" };
  return admin(services[0]!, "/connectors", { kind: "smpp", name, is_enabled: false, config });
}

async function patch(service: PostriderProcess, { id }: Connector, config: object): Promise<number> {
  const response = await fetch(`${service.url}/admin/v1/connectors/${id}`, {
    method: "PATCH",
    headers: { Authorization: `Bearer ${service.sandbox.admin_token}`, "Content-Type": "application/json" },
    body: JSON.stringify({ config }),
  });
  await response.arrayBuffer();
  return response.status;
}

/** Each field is changed by a request of its own, the first half at the one process and the others at the other. */
const FIELDS = {
  host: "other.example",
  port: 2776,
  system_id: "other",
  binds: 2,
  system_type: "SMPP",
  address_range: "^91",
  window: 20,
  response_timeout_ms: 30_000,
  enquire_link_ms: 15_000,
  source_addr: "ACME",
  source_ton: 5,
  source_npi: 1,
  dest_ton: 0,
  dest_npi: 0,
  dest_plus: true,
  concat: "sar",
  default_alphabet: "ascii",
  default_data_coding: 1,
  ucs2_data_coding: 9,
  user_message_reference: true,
  query_sm: true,
  registered_delivery: 2,
  validity_period: false,
  id_format: "resp_hex_receipt_dec",
  dlt_entity_tag: 0x1403,
  dlt_template_tag: 0x1404,
  dlt_chain_tag: 0x1405,
  dlt_order: "template_first",
  dlt_nul_terminated: true,
  max_per_second: 50,
} as const;

test("changes of different fields of one connector, made at both processes at once, all hold, secrets with them", async () => {
  const connector = await makeConnector("both");
  const changes = [...Object.entries(FIELDS), ["password", "another"] as const];
  const statuses = await Promise.all(
    changes.map(([name, value], index) => patch(services[index % 2]!, connector, { [name]: value })),
  );
  expect(statuses).toEqual(changes.map(() => 200));
  for (const service of services) {
    const now = await admin<Connector>(service, `/connectors/${connector.id}`);
    expect(now.config).toMatchObject(FIELDS);
    expect(now.secrets).toEqual({ password: "set" });
  }
}, 120_000);

test("a connector that is deleted at one process while it is changed at the other is gone, and who comes too late is told", async () => {
  const connector = await makeConnector("going");
  const path = `/connectors/${connector.id}`;
  const late = Object.entries(FIELDS).map(([name, value]) =>
    patch(services[1]!, connector, { [name]: value }),
  );
  expect(await late[0]).toBe(200);
  await admin(services[0]!, path, undefined, "DELETE");
  const statuses = await Promise.all(late);
  expect(new Set(statuses)).toEqual(new Set([200, 404]));
  for (const service of services) await expect(admin(service, path)).rejects.toThrow("404");
}, 120_000);
