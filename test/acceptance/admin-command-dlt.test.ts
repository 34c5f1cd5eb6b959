import { beforeAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { typeBesideService } from "./typed-commands.ts";

const { run, text, json, dataFolder } = typeBesideService();
let account: string;

beforeAll(async () => {
  account = (await json("accounts", "create", "--name", "Acme", "--mode", "live")).account_id;
});

function file(content: string | Uint8Array): string {
  const path = join(dataFolder, "export.csv");
  writeFileSync(path, content);
  return path;
}

const importing = (path: string, ...more: string[]) => [
  "dlt",
  "import",
  "--account",
  account,
  "--file",
  path,
  ...more,
];

test("dlt import tells what became of the rows, and fails where one was not taken", async () => {
  const path = file("Sr No,Template ID,Template Content\n1,1107161234567890123,Hi {#var#}\n2,,Hi\n");
  const dry = await run(importing(path, "--dry-run"));
  expect(dry.out).toEndWith("nothing was changed: this was a dry run\n");
  const first = await run(importing(path));
  expect(first).toEqual({
    code: 1,
    err: "",
    out: [
      "2 rows of templates: 1 created, 0 updated, 0 unchanged, 0 merged, 1 refused",
      "line 3: the template id is missing",
      "columns not read: Sr No",
      "",
    ].join("\n"),
  });
  const again = await run(importing(path, "--json"));
  expect(JSON.parse(again.out)).toMatchObject({ created: 0, unchanged: 1, refused: [{ line: 3 }] });
});

test("a long list shows progress, and is summed up", async () => {
  const rows = Array.from({ length: 700 }, (_, index) => `H${index}`);
  const { code, out, err } = await run(importing(file(`Header\n${rows.join("\n")}\n`)));
  expect([code, err]).toEqual([0, "500 of 700 headers\n700 of 700 headers\n"]);
  expect(out).toStartWith("700 rows of headers: 700 created,");
  expect(await text("senders", "list", "--account", account)).toContain("H0");
});

test("a list that is longer than a request may be is imported as a whole, and lines are those of the file", async () => {
  const id = (index: number) => `11079${String(index).padStart(14, "0")}`;
  const filler = "Thank you for waiting. ".repeat(100);
  const rows = Array.from({ length: 4_000 }, (_, at) => `${id(at)},"Row ${at}\n${filler}",LINEA`);
  // One more header of the first template, a row that says otherwise of the second, and one that is none.
  const odd = [`${id(0)},"Row 0\n${filler}",LINEB`, `${id(1)},other,LINEA`, "1.1E+18,rounded,LINEA"];
  const text = `Templates of Acme\n\nTemplate ID,Template Content,Header\n${[...rows, ...odd].join("\r\n")}\r\n`;
  expect(text.length).toBeGreaterThan(8 * 1024 * 1024);
  const { out, err, code } = await run(importing(file(text)));
  expect(code).toBe(1);
  expect(out).toStartWith(
    "4003 rows of templates: 4000 created, 0 updated, 0 unchanged, 1 merged, 2 refused\n",
  );
  expect(out).toContain(`line 8006: ${id(1)} stands on line 6 with other values\n`);
  expect(out).toContain("line 8007: the template id 1.1E+18 was rounded");
  expect(err).toEndWith("4001 of 4001 templates\n");
  const { data } = await json("sms-templates", "list", "--account", account, "--limit", "1000");
  const first = data.find((template: { dlt_template_id?: string }) => template.dlt_template_id === id(0));
  expect(first.linked_headers).toEqual(["LINEA", "LINEB"]);
});

test("a long file that is no list is refused as a short one is", async () => {
  const { code, err } = await run(importing(file("a,b\n".repeat(500_000))));
  expect([code, err]).toEqual([1, expect.stringContaining("--file: has no row that names its columns")]);
});

test("spreadsheets' Unicode text is read; workbooks, other encodings, and missing and empty files are not", async () => {
  const utf16 = Buffer.from("\uFEFFEntity ID\tEntity Name\n1101172974420810001\tआशा\n", "utf16le");
  expect(await text(...importing(file(utf16)))).toStartWith("1 row of entities: 1 created");
  expect(await text("dlt-entities", "list")).toContain("आशा");
  const refused = async (path: string) => {
    const { code, err } = await run(importing(path));
    return [code, err.replace(dataFolder, "")];
  };
  const end = "save it as CSV (UTF-8)\n";
  expect(await refused(file("PK\u0003\u0004..."))).toEqual([
    1,
    expect.stringContaining("is an Excel workbook"),
  ]);
  expect(await refused(file(Buffer.from([0x50, 0x4b, 0x03, 0x04, 0xff])))).toEqual([
    2,
    expect.stringContaining(end),
  ]);
  expect(await refused(file(Buffer.from([0x41, 0xe9])))).toEqual([
    2,
    `error: /export.csv is not UTF-8: ${end}`,
  ]);
  expect(await refused("nowhere.csv")).toEqual([
    2,
    'error: "nowhere.csv" cannot be read: there is no such file\n',
  ]);
  expect(await refused(file(""))).toEqual([2, 'error: "/export.csv" is empty\n']);
  expect(await refused("")).toEqual([2, 'error: "" cannot be read: there is no such file\n']);
});
