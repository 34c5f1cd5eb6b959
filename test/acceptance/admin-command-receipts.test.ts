import { beforeAll, expect, test } from "bun:test";
import { typeBesideService } from "./typed-commands.ts";

const { run, text, json, service } = typeBesideService();
let connector: string;

beforeAll(async () => {
  const config = ["--base-url", "http://127.0.0.1:9", "--username", "u", "--password", "p"];
  const made = await json("connectors", "create", "--kind", "http", "--provider", "kannel", ...config);
  connector = made.connector_id;
  for (const id of ["lost-1", "lost-2"]) {
    const report = await fetch(`${service().url}${made.callback_path}?id=${id}&status=1`);
    expect(report.status).toBe(200);
  }
});

const list = (...more: string[]) => text("receipts", "list", "--parked", ...more);

test("receipts list --parked shows what matched no message, by connector and page by page", async () => {
  const shown = await list();
  const [head = "", first = "", second = ""] = shown.split("\n");
  expect(head.split(/\s{2,}/)).toEqual([
    "RECEIVED",
    "CONNECTOR",
    "PROVIDER ID",
    "OTHER ID",
    "RECIPIENT",
    "STATUS",
    "RAW",
  ]);
  for (const [row, id] of [
    [first, "lost-1"],
    [second, "lost-2"],
  ] as const) {
    expect(row).toContain(connector);
    expect(row).toContain(id);
    expect(row).toContain("delivered");
  }
  expect(await list("--connector", connector, "--limit", "1")).not.toContain("lost-2");
  const { data } = await json("receipts", "list", "--parked");
  expect(data).toMatchObject([{ provider_message_id: "lost-1" }, { provider_message_id: "lost-2" }]);
  const elsewhere = await json("receipts", "list", "--parked", "--connector", crypto.randomUUID());
  expect(elsewhere.data).toEqual([]);
});

test("receipts list --parked begins with the newest if asked to", async () => {
  const newest = await json("receipts", "list", "--parked", "--order", "newest", "--limit", "1");
  expect(newest.data).toMatchObject([{ provider_message_id: "lost-2" }]);
  const rest = await json("receipts", "list", "--parked", "--order", "newest", "--after", newest.next);
  expect(rest.data).toMatchObject([{ provider_message_id: "lost-1" }]);
});

test("erasures list begins with the newest if asked to", async () => {
  const asked: string[] = [];
  for (const recipient of ["+919876543210", "ann@example.net"])
    asked.push((await json("erasures", "create", "--recipient", recipient)).id);
  const idsOf = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id);
  expect(idsOf(await json("erasures", "list"))).toEqual(asked);
  expect(idsOf(await json("erasures", "list", "--order", "newest"))).toEqual(asked.toReversed());
});

test("without --parked it says where the others are", async () => {
  const { code, err } = await run(["receipts", "list"]);
  expect(code).toBe(2);
  expect(err).toContain("only parked receipts can be listed");
});
