import { expect, test } from "bun:test";
import { type DltList, readHead } from "./dlt-columns.ts";
import { readDltRow } from "./dlt-rows.ts";

const ENTITY = "1101172974420810001";
const TEMPLATE = "1107161234567890123";

/** Reads one row under such a head. */
function read(list: DltList, head: readonly string[], cells: readonly string[]) {
  const layout = readHead(head, list);
  if (!layout) throw new Error("this is no head of such a list");
  return readDltRow(list, layout, { cells, mode: "live" });
}

test("whitelists are split at whatever separates them, and empty ones say nothing", () => {
  const head = ["Entity ID", "Whitelisted URLs", "Callback Number"];
  const full = read("entities", head, [
    ENTITY,
    " https://acme.in/ | acme.shop,,\nm.acme.in; ",
    " 1800 123 4567 ;022-1234567,, ",
  ]);
  expect(full).toEqual({
    key: ENTITY,
    fields: {
      entityId: ENTITY,
      whitelistedUrls: ["https://acme.in/", "acme.shop", "m.acme.in"],
      callbackNumbers: ["1800 123 4567", "022-1234567"],
    },
  });
  expect(read("entities", head, [ENTITY, " ", " , ; "])).toEqual({
    key: ENTITY,
    fields: { entityId: ENTITY },
  });
});

test.each([
  [["Approved", "Inactive"], "inactive"],
  [["Inactive", "Approved"], "inactive"],
  [["Approved", "No"], "approved"],
  [["", "Blacklisted"], "blacklisted"],
  [["Approved", "Yes"], "blacklisted"],
  [["Approved", "NA"], "approved"],
  [["Approved", "n/a"], "approved"],
  [["Approved", "Not Blacklisted"], "approved"],
  [["Approved", "Non-blacklisted"], "approved"],
  [["-", "No"], "approved"],
])("of the statuses %p the one counts that prevents sending: %p", (statuses, status) => {
  const head = ["Header", "Approval Status", "Blacklist Status"];
  expect(read("headers", head, ["ACMECO", ...statuses])).toMatchObject({ fields: { status } });
});

test.each(["Blacklist", "Blacklisted", "Is Blacklisted?", "Blacklisted Status"])(
  "a column called %p is the blacklist's",
  (name) => {
    const statusOf = (cell: string) =>
      read("headers", ["Header", "Status", name], ["ACMECO", "Approved", cell]);
    expect(statusOf("Yes")).toMatchObject({ fields: { status: "blacklisted" } });
    expect(statusOf("No")).toMatchObject({ fields: { status: "approved" } });
  },
);

test("`No` means approved only under the head of a blacklist", () => {
  const reason = notKnown("No");
  expect(read("headers", ["Header", "Active Status"], ["ACMECO", "No"])).toEqual({ reason });
  const both = ["Header", "Active Status", "Blacklist Status"];
  expect(read("headers", both, ["ACMECO", "No", "No"])).toEqual({ reason });
});

test.each(["-", "--", "–", "NA", "N/A", "n.a."])(
  "a status that is %p is left out, and not judged",
  (cell) => {
    const row = read("headers", ["Header", "Status"], ["ACMECO", cell]);
    expect(row).toEqual({ key: "ACMECO", fields: { senderId: "ACMECO" } });
  },
);

test("a cell that is a dash or N/A is as good as empty in every column", () => {
  const head = [
    "Template ID",
    "Content",
    "Type",
    "Header",
    "Entity ID",
    "Variable Types",
    "Blacklist Status",
  ];
  const row = read("templates", head, [TEMPLATE, "Hi", "NA", "-", "N/A", "—", "-"]);
  expect(row).toEqual({ key: TEMPLATE, fields: { dltTemplateId: TEMPLATE, body: "Hi" } });
});

function notKnown(status: string): string {
  return `the status "${status}" is not known: write approved, pending, rejected, inactive or blacklisted instead`;
}

test.each(["✗", "?", "Not Blacklisted"])("a status that is %p is refused", (cell) => {
  const reason = notKnown(cell);
  expect(read("headers", ["Header", "Status"], ["ACMECO", cell])).toEqual({ reason });
});

test("a row without its header is refused", () => {
  for (const header of ["", "-", "N/A"])
    expect(read("headers", ["Header", "Status"], [header, "Approved"])).toEqual({
      reason: "the header is missing",
    });
});

test("the kinds of a template's variables are taken in order, and one that is not known refuses the row", () => {
  const head = ["Template ID", "Content", "Variable Types"];
  const kinds = (text: string) => read("templates", head, [TEMPLATE, "{#var#} {#var#}", text]);
  expect(kinds("Number, URL")).toMatchObject({ fields: { variableTags: ["numeric", "url"] } });
  expect(kinds("Numeric, colour")).toEqual({
    reason: 'the variable tags "Numeric, colour" is not known',
  });
});

test("one cell that cannot be stored is enough to refuse a row", () => {
  const head = ["Template ID", "Content", "Remarks"];
  const reason = "must not contain NUL or unpaired surrogates";
  for (const bad of ["\0", "\ud800"]) {
    expect(read("templates", head, [TEMPLATE, `Hi${bad}`, "fine"])).toEqual({ reason });
    expect(read("templates", head, [TEMPLATE, "Hi", bad])).toEqual({ reason });
  }
});

test("a row whose text was cut at a comma is refused, and empty values at its end are no matter", () => {
  const head = ["Template ID", "Content", "Created On"];
  expect(read("templates", head, [TEMPLATE, "Dear {#var#}", " your code is {#var#}", "2026-01-02"])).toEqual({
    reason: "the row has more values than there are columns: put quotes round a value that holds a separator",
  });
  expect(read("templates", head, [TEMPLATE, "Hi", "2026-01-02", "", " "])).toMatchObject({
    fields: { body: "Hi" },
  });
});

test("the marks of spreadsheets go, with the blanks around and inside of them", () => {
  const head = ["Template ID", "Content"];
  for (const id of [`'${TEMPLATE}`, `'${TEMPLATE}'`, `="${TEMPLATE}"`, ` =" ${TEMPLATE} " `])
    expect(read("templates", head, [id, " Hi "])).toMatchObject({ key: TEMPLATE, fields: { body: "Hi" } });
});

test("a list is known by the columns that it must have, and columns without a name are not among those that are ignored", () => {
  expect(readHead(["Template ID", "Name"], "templates")).toBeUndefined();
  expect(readHead(["Content"])).toBeUndefined();
  expect(readHead(["Header", " ", "", "Remarks"])).toMatchObject({ list: "headers", ignored: ["Remarks"] });
});
