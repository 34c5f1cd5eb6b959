/** Imports from files in the web console: a real browser, a real service. */
import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { admin } from "../admin.ts";
import { browserConsole } from "../browser-console.ts";

const opened = browserConsole();
const { signedIn } = opened;

const choose = (page: Page, text: string | Buffer) =>
  page
    .getByLabel("File")
    .setInputFiles({ name: "list.csv", mimeType: "text/csv", buffer: Buffer.from(text) });

const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click();

const shown = (page: Page) => page.locator("main").innerText();

test("a DLT list is checked before it is imported, and each refused row is shown with its reason", async () => {
  const templates = () => admin<{ data: { dlt_template_id: string }[] }>(opened.service, "/sms-templates");
  const list = `Sr No,Template ID,Template Content
1,1107161234567890123,"Your code is {#var#},
<b>thanks</b>"
2,1.10716E+18,<i>Hello</i> {#var#}
`;
  const { page, complaints, heading } = await signedIn("sms-templates");
  await page.getByRole("link", { name: "Import" }).click();
  await heading("Import from a DLT portal");
  await press(page, "Check the file");
  await page.locator("#problem-account_id", { hasText: "required" }).waitFor();
  await page.locator("#problem-csv", { hasText: "required" }).waitFor();
  await page.getByLabel("Account").selectOption("Sandbox");
  await choose(page, "PK\u0003\u0004\u0000\u0000");
  await press(page, "Check the file");
  await page.locator("#problem-csv", { hasText: "is an Excel workbook" }).waitFor();
  await choose(page, "");
  await press(page, "Check the file");
  await page.locator("#problem-csv", { hasText: "is empty" }).waitFor();
  await choose(page, "Sr No,Remark\n1,none\n");
  await press(page, "Check the file");
  await page.locator("#problem-csv", { hasText: "has no row that names its columns" }).waitFor();
  await choose(page, list);
  await press(page, "Check the file");
  await page.getByRole("heading", { name: "What an import would do" }).waitFor();
  expect(await shown(page)).toMatch(/2 of templates\s+To be created\s+1\s+[\s\S]*Columns not read\s+Sr No/);
  const refused = page.getByRole("region", { name: "Refused rows" }).getByRole("row").nth(1);
  expect(await refused.innerText()).toMatch(
    /^4\s+the template id 1.10716E\+18 was rounded[\s\S]*2,1.10716E\+18,<i>Hello<\/i>/,
  );
  expect((await templates()).data).toEqual([]);
  await press(page, "Import");
  await page.getByRole("heading", { name: "Imported" }).waitFor();
  expect(await page.evaluate("document.activeElement.textContent")).toBe("Imported");
  expect((await templates()).data).toMatchObject([{ dlt_template_id: "1107161234567890123" }]);
  await press(page, "Check the file");
  await page.getByText("There is nothing to import.").waitFor();
  await page.getByLabel("Kind").selectOption("headers");
  expect(await shown(page)).not.toContain("There is nothing to import.");
  // One that takes several requests is one to whoever imports it.
  const many = Array.from(
    { length: 600 },
    (_, index) => `${1107160000000001000n + BigInt(index)},Hello ${index}`,
  );
  await page.getByLabel("Kind").selectOption("templates");
  await choose(page, ["Template ID,Template Content", ...many].join("\n"));
  await press(page, "Check the file");
  await page.getByRole("heading", { name: "What an import would do" }).waitFor();
  expect(await shown(page)).toMatch(/600 of templates\s+To be created\s+600\s+To be updated\s+0\s/);
  await press(page, "Import");
  await page.getByRole("heading", { name: "Imported" }).waitFor();
  expect(await shown(page)).toMatch(/600 of templates\s+Created\s+600\s/);
  expect(await page.locator("dd:empty").count()).toBe(0);
  await page.getByRole("link", { name: "To the templates" }).click();
  await heading("SMS templates");
  expect(complaints).toEqual([]);
});

test("a long list of suppressions that was cut off says how far it came, and goes on when it is imported again", async () => {
  const rows = Array.from({ length: 2_500 }, (_, index) =>
    index >= 1_200 && index < 1_320 ? '"nobody"' : `ann${index}@example.net`,
  );
  const account = opened.service.sandbox.account_id;
  const { page, complaints, heading } = await signedIn(`suppressions/import?account_id=${account}`);
  await heading("Import suppressions");
  await choose(page, ["Email;Phone", ...rows].join("\n"));
  await press(page, "Check the file");
  await page.getByRole("heading", { name: "What an import would do" }).waitFor();
  expect(await shown(page)).toMatch(/2,500[\s\S]*Columns not read\s+phone[\s\S]*ann4@example.net/);
  let asked = 0;
  const cutSecond = "**/admin/v1/suppressions/import";
  await page.route(cutSecond, (route) => (++asked === 2 ? route.abort() : route.continue()));
  await press(page, "Import 2,500 entries");
  await page.getByRole("alert").getByText("Import 2,500 entries: No answer from Postrider").waitFor();
  await page.getByText("1,000 of 2,500 were done: start again for the others").waitFor();
  await press(page, "Import 2,500 entries");
  await page.getByRole("heading", { name: "Imported" }).waitFor();
  expect(await shown(page)).toMatch(/Added\s+1,380\s+There already\s+1,000\s+Refused\s+120\s/);
  expect(await shown(page)).toMatch(/1202\s+not an email address\s+"nobody"/);
  expect(await page.getByRole("region", { name: "Refused rows" }).locator("tbody tr").count()).toBe(100);
  await page.getByText("100 of 120 are shown").waitFor();
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await press(page, "Copy all refused rows");
  await page.getByRole("button", { name: "Copied" }).waitFor();
  const copied = (await page.evaluate<string>("navigator.clipboard.readText()")).split("\n");
  expect([copied.length, copied.at(-1)]).toEqual([120, '1321\tnot an email address\t"nobody"']);
  await page.unroute(cutSecond);
  await page.getByRole("link", { name: "To the suppressions" }).click();
  await page.getByRole("link", { name: "ann0@example.net" }).waitFor();
  expect(complaints.filter((each) => !each.includes("ERR_FAILED"))).toEqual([]);
});

test("whoever leaves while a list is imported is told where that has stopped", async () => {
  const account = opened.service.sandbox.account_id;
  const { page, complaints, heading } = await signedIn(`suppressions/import?account_id=${account}`);
  await heading("Import suppressions");
  await choose(page, Array.from({ length: 2_500 }, (_, index) => `bob${index}@example.net`).join("\n"));
  await press(page, "Check the file");
  const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
  let asked = 0;
  await page.route("**/admin/v1/suppressions/import", async (route) => {
    if (++asked === 2) await held;
    return route.continue();
  });
  await press(page, "Import 2,500 entries");
  await page.getByText("1,000 of 2,500").waitFor();
  // Another file, or a second import, would be another one's report.
  await page.locator("form.record[inert]").waitFor();
  const asking = page.waitForEvent("dialog");
  await page.evaluate("setTimeout(() => location.reload())");
  expect((await asking).type()).toBe("beforeunload");
  await page.getByRole("navigation").getByRole("link", { name: "Settings" }).click();
  await heading("Settings");
  letGo();
  await page.getByText("The import has stopped after 2,000 of 2,500: import again for the others").waitFor();
  expect(asked).toBe(2);
  expect(complaints).toEqual(["dialog: "]);
});
