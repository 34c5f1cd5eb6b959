/** What DLT portals export is brought into an account: as they write it, and the second time without any change. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { onEveryAdmin, type RunningAdmin } from "./running-admin.ts";

onEveryAdmin((startAdmin) => {
  let admin: RunningAdmin;
  let account: string;

  beforeAll(async () => {
    admin = await startAdmin();
  });
  beforeEach(async () => {
    account = (await admin.call("POST", "accounts", { name: "Acme", mode: "live" })).json.id;
  });
  afterAll(() => admin[Symbol.asyncDispose]());

  async function bring(csv: string, over: Record<string, unknown> = {}) {
    const { status, json } = await admin.call("POST", "dlt/import", { account_id: account, csv, ...over });
    if (status !== 200) throw new Error(JSON.stringify(json.details));
    return json;
  }

  async function listed(path: string) {
    return (await admin.call("GET", `${path}?account_id=${account}&limit=1000`)).json.data;
  }

  const ID = "1107161234567890123";
  const ENTITY = "1101172974420810001";

  describe("templates", () => {
    test("come with content, category, headers, entity and status, and twice changes nothing", async () => {
      const csv = [
        "\uFEFFSr No,Template ID,Template Name,Template Type,Header,Entity ID,Template Content,Approval Status",
        `1,${ID},Login code,Service Implicit,"ACMECO,ACMEIN",${ENTITY},"Your code is {#numeric#},`,
        'Acme ""the shop""",Approved',
        `2,110799999999,Sale,Promotional,VM-ACMECO-P,${ENTITY},Sale!,Pending for approval`,
      ].join("\r\n");
      const report = await bring(csv);
      expect(report).toMatchObject({
        kind: "templates",
        rows: 2,
        created: 2,
        refused: [],
        done: 2,
        total: 2,
      });
      expect(report.ignored_columns).toEqual(["Sr No"]);
      expect(await listed("sms-templates")).toMatchObject([
        {
          name: "Login code",
          body: 'Your code is {#numeric#},\nAcme "the shop"',
          dlt_template_id: ID,
          dlt_entity_id: ENTITY,
          category: "service_implicit",
          linked_headers: ["ACMECO", "ACMEIN"],
          status: "approved",
        },
        { name: "Sale", category: "promotional", linked_headers: ["ACMECO"], status: "pending" },
      ]);
      const before = await listed("sms-templates");
      expect(await bring(csv)).toMatchObject({ created: 0, updated: 0, unchanged: 2 });
      expect(await listed("sms-templates")).toEqual(before);
    });

    test("that have changed on the portal are brought up to date, and keep their own name", async () => {
      await bring(`template_id,template_name,template_message,status\n${ID},otp,Hi {#var#},In progress`);
      const [{ id }] = await listed("sms-templates");
      await admin.call("PATCH", `sms-templates/${id}`, { name: "mine", from: "ACMECO" });
      const again = await bring(
        `template_id,template_name,template_message,status\n${ID},otp,Hi {#var#},Active`,
      );
      expect(again).toMatchObject({ created: 0, updated: 1 });
      expect(await listed("sms-templates")).toMatchObject([
        { id, name: "mine", from: "ACMECO", status: "approved" },
      ]);
    });

    test("with a row for each header are one template with all of them", async () => {
      const csv = `DLT_TE_ID|Content|CLI\n${ID}|Hi|ACMECO\n${ID}|Hi|ACMEIN\n${ID}|Hi|ACMECO`;
      expect(await bring(csv)).toMatchObject({ rows: 3, created: 1, merged: 2, total: 1 });
      expect(await listed("sms-templates")).toMatchObject([{ linked_headers: ["ACMECO", "ACMEIN"] }]);
      expect(await bring(csv)).toMatchObject({ unchanged: 1, merged: 2 });
    });

    test("with twenty thousand rows for one of them are read in moments", async () => {
      const rows = Array.from({ length: 20_000 }, (_, index) => `${ID},Sale!,H${index}`);
      const csv = ["Template ID,Template Content,Header", ...rows].join("\n");
      expect(await bring(csv, { dry_run: true })).toMatchObject({ created: 1, merged: 19_999, refused: [] });
    });

    test("may come with tags beside the text, a title above the columns and ids kept from spreadsheets", async () => {
      const csv = [
        "Content templates of ACME RETAIL",
        "",
        "Template Id;Template Message;Variable Types;Message Type;Category",
        `'${ID};Code {#var#} see {#var#};Numeric, URL;Text;Retail`,
        '="110799999999";Hi;;Unicode;Promotional',
      ].join("\n");
      expect(await bring(csv)).toMatchObject({ rows: 2, created: 2, refused: [] });
      expect(await listed("sms-templates")).toMatchObject([
        { dlt_template_id: ID, variable_tags: ["numeric", "url"] },
        { dlt_template_id: "110799999999", category: "promotional" },
      ]);
    });

    test("that cannot be taken are told by line and reason, and the others are taken", async () => {
      const csv = [
        "Template ID,Template Content,Template Type,Status,Header",
        ",Hi,,,",
        "1.10716E+18,Hi,,,",
        "11071X,Hi,,,",
        `${ID},,,,`,
        '110700000001,"Hi',
        'there {#var",,,',
        "110700000002,Hi,Bulk,,",
        "110700000003,Hi,,Unheard of,",
        "110700000004,Hi,,,ACMECO",
        "110700000004,Ho,,,ACMECO",
        "110700000005,Hi",
      ].join("\n");
      const { refused, created } = await bring(csv);
      expect(created).toBe(2);
      expect(refused).toEqual([
        { line: 2, reason: "the template id is missing" },
        {
          line: 3,
          reason:
            "the template id 1.10716E+18 was rounded by a spreadsheet: give the column the format text and export again",
        },
        { line: 4, reason: "the template id 11071X must be a DLT id of 8 to 30 digits" },
        { line: 5, reason: "the content is missing" },
        {
          line: 6,
          reason: "the content has an unknown placeholder {#var: write {#var#} or {{1}}",
        },
        { line: 8, reason: 'the template type "Bulk" is not known' },
        { line: 9, reason: expect.stringContaining('the status "Unheard of" is not known: write approved,') },
        { line: 11, reason: "110700000004 stands on line 10 with other values" },
      ]);
      const ids = (await listed("sms-templates")).map((row: Record<string, string>) => row.dlt_template_id);
      expect(ids.sort()).toEqual(["110700000004", "110700000005"]);
    });
  });

  test("headers become senders, none of them the default, and existing ones keep what the file leaves out", async () => {
    await admin.call("POST", "senders", { account_id: account, sender_id: "ACMECO", is_default: true });
    const csv = `Header Name\tHeader Type\tPE ID\tStatus\nACMECO\tOthers\t${ENTITY}\tActive\n612345\tPromotional\t${ENTITY}\tBlacklisted`;
    expect(await bring(csv)).toMatchObject({ kind: "headers", created: 1, updated: 1 });
    expect(await listed("senders")).toMatchObject([
      {
        sender_id: "ACMECO",
        is_default: true,
        header_type: "service",
        dlt_entity_id: ENTITY,
        status: "approved",
      },
      { sender_id: "612345", is_default: false, header_type: "promotional", status: "blacklisted" },
    ]);
    expect(await bring(csv)).toMatchObject({ created: 0, updated: 0, unchanged: 2 });
    expect((await bring("Header\nTOO-LONG-A-HEADER", { kind: "headers" })).refused).toEqual([
      {
        line: 2,
        reason:
          "the header must be 3 to 15 digits, or at most 11 letters, digits, blanks and characters of `._-&+`, with a letter among them",
      },
    ]);
  });

  test("entities come with their whitelists", async () => {
    const csv = `Entity ID,Entity Name,Whitelisted URLs,Callback Number\n${ENTITY},Acme,https://acme.in/ acme.shop,1800 123 4567`;
    expect(await bring(csv)).toMatchObject({ kind: "entities", created: 1 });
    expect(await listed("dlt-entities")).toMatchObject([
      {
        entity_id: ENTITY,
        name: "Acme",
        whitelisted_urls: ["https://acme.in/", "acme.shop"],
        callback_numbers: ["1800 123 4567"],
      },
    ]);
  });

  test("a dry run says the same and changes nothing", async () => {
    const csv = `Template ID,Template Content\n${ID},Hi\nx,Hi`;
    expect(await bring(csv, { dry_run: true })).toMatchObject({
      dry_run: true,
      created: 1,
      refused: [{ line: 3 }],
    });
    expect(await listed("sms-templates")).toEqual([]);
  });

  test("a long list is taken in pieces, each row once", async () => {
    const rows = Array.from({ length: 601 }, (_, index) => `${1107000000000 + index},Hi ${index}`);
    const csv = `Template ID,Template Content\nx,Hi\n${rows.join("\n")}`;
    const pieces = [];
    for (let after: number | undefined = 0; after !== undefined; ) {
      const piece: Record<string, number | undefined> = await bring(csv, { after });
      pieces.push([piece.created, piece.done, (piece.refused as unknown as unknown[]).length]);
      after = piece.next;
    }
    expect(pieces).toEqual([
      [500, 500, 1],
      [101, 601, 0],
    ]);
  });

  test("two imports of a list at once create each row once, and refuse none", async () => {
    const rows = Array.from({ length: 200 }, (_, index) => `${1107000000000 + index},Hi ${index}`);
    const csv = `Template ID,Template Content\n${rows.join("\n")}`;
    const [one, other] = await Promise.all([bring(csv), bring(csv)]);
    expect([one.refused, other.refused]).toEqual([[], []]);
    expect(one.created + other.created).toBe(200);
    expect(await listed("sms-templates")).toHaveLength(200);
  });

  describe("a file is refused as a whole", () => {
    test.each([
      ["without columns that are known", "a,b\n1,2", {}, "names its columns"],
      ["of another kind than was said", `Header\nACMECO`, { kind: "templates" }, "template id and content"],
      [
        "with a quote that is never closed",
        `Template ID,Template Content\n1,"Hi`,
        {},
        "cannot be read as CSV",
      ],
      ["that is a workbook", "PK\u0003\u0004", {}, "is an Excel workbook"],
      [
        "that is a web page",
        "\n<table><tr><th>Template ID</th><th>Template Content</th></tr></table>",
        {},
        "is a web page",
      ],
      [
        "whose ids a spreadsheet has written out with zeros",
        "Template ID,Template Content\n1107161234567890000,Hi\n1107161234567910000,Ho",
        {},
        "was rounded by a spreadsheet",
      ],
    ])("%s", async (_, csv, over, reason) => {
      const { status, json } = await admin.call("POST", "dlt/import", { account_id: account, csv, ...over });
      expect([status, Object.keys(json.details)]).toEqual([400, ["csv"]]);
      expect(json.details.csv).toContain(reason);
    });

    test("for an account that is not there, or a body that lacks what is needed", async () => {
      const none = await admin.call("POST", "dlt/import", { account_id: "x", csv: "Header\nA" });
      expect(none.json.details).toEqual({ account_id: "no such account" });
      const { json } = await admin.call("POST", "dlt/import", { kind: "stamps" });
      expect(Object.keys(json.details).sort()).toEqual(["account_id", "csv", "kind"]);
    });
  });
});
