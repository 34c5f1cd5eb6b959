/** What the web console shows of what has come in, and of what was erased: a real browser, a real service. */
import { expect, test } from "bun:test";
import { admin } from "../admin.ts";
import { browserConsole } from "../browser-console.ts";
import { startFakeSmsc } from "../fakes/fake-smsc.ts";
import { until } from "../until.ts";

const opened = browserConsole();
const { signedIn } = opened;

test("an inbound SMS is simulated, found by its sender, and shown whole", async () => {
  const { page, complaints, heading } = await signedIn("inbound");
  await heading("Inbound SMS");
  await page.getByText("No handset reaches a sandbox account").waitFor();
  await page.getByRole("link", { name: "Simulate one" }).first().click();
  await heading("Simulate an inbound SMS");
  await page.getByLabel("From").fill("+919876543210");
  await page.getByRole("button", { name: "Receive" }).click();
  await page.locator("#problem-to", { hasText: "required" }).waitFor();
  await page.getByLabel("To").fill("56161");
  await page.getByLabel("Text").fill("<b>Where</b> is\nmy order?");
  await page.getByRole("button", { name: "Receive" }).click();
  await heading("Inbound SMS");
  const { account_id } = opened.service.sandbox;
  const stop = { account_id, from: "+919876543211", to: "56161", text: "Stop" };
  await admin(opened.service, "/sandbox/inbound", stop);
  await page.getByLabel("From").fill("+919876543211");
  await page.getByRole("button", { name: "Show" }).click();
  await page.locator("summary", { hasText: "means stop" }).click();
  expect(await page.locator("summary").count()).toBe(1);
  await page.getByRole("link", { name: "Of this sender" }).click();
  await heading("Opt-outs");
  await page.getByRole("link", { name: "+919876543211" }).waitFor();
  await page.goBack();
  await page.getByLabel("From").fill("");
  await page.getByRole("button", { name: "Show" }).click();
  await page.locator("summary", { hasText: "+919876543210" }).click();
  expect(await page.locator("details[open] pre").innerText()).toBe("<b>Where</b> is\nmy order?");
  expect(await page.getByText("Some are missing").count()).toBe(0);
  await page.getByLabel("Account").selectOption("numbers of no account");
  await page.getByText("Nothing like this was received for numbers of no account").waitFor();
  expect(complaints).toEqual([]);
});

test("receipts that match no message are found from their connector, in the provider's own words", async () => {
  const smsc = await startFakeSmsc({});
  const config = { host: smsc.host, port: smsc.port, system_id: "acme" };
  const made = await admin<{ id: string }>(opened.service, "/connectors", {
    kind: "smpp",
    name: "airtel",
    config,
  });
  await smsc.until(() => smsc.bound().length > 0);
  const shortMessage = Buffer.from("id:<i>F00</i> sub:001 dlvrd:000 stat:UNDELIV err:011 text:");
  const source = { ton: 1, npi: 1, address: "919876543210" };
  const status = await smsc.deliver({
    esmClass: 0x04,
    source,
    destination: { ton: 5, npi: 0, address: "ACME" },
    shortMessage,
  });
  expect(status).toBe(0);
  const { page, complaints, heading } = await signedIn(`connectors/${made.id}`);
  await heading("airtel");
  await page.getByRole("link", { name: "Those that match no message" }).click();
  await heading("Parked receipts");
  const row = page.getByRole("row").nth(1);
  expect(await row.innerText()).toMatch(/airtel\s+<i>F00<\/i>\s+9198\*+10\s+undelivered\s+id:<i>F00/);
  await page.getByRole("link", { name: "Edit the connector" }).click();
  await heading("Edit airtel");
  await admin(opened.service, `/connectors/${made.id}`, undefined, "DELETE");
  await smsc.close();
  expect(complaints).toEqual([]);
});

test("an erasure is asked for twice, followed until it is done, and found by its recipient", async () => {
  const { account_id } = opened.service.sandbox;
  const recipient = "+919876543299";
  await admin(opened.service, "/sandbox/inbound", {
    account_id,
    from: recipient,
    to: "56161",
    text: "Hello",
  });
  const written = () =>
    admin<{ data: unknown[] }>(
      opened.service,
      `/inbound-messages?account_id=${account_id}&from=%2B919876543299`,
    );
  const { page, complaints, heading } = await signedIn("erasures");
  await page.getByRole("link", { name: "New erasure" }).click();
  await heading("New erasure");
  await page.getByText("An erasure cannot be undone.").waitFor();
  await page.getByLabel("Recipient").fill(recipient);
  const erase = page.locator("main").getByRole("button", { name: "Erase" });
  await erase.click();
  const question = page.getByRole("dialog");
  await question.getByText(`${recipient} in all accounts? This cannot be undone.`).waitFor();
  await page.keyboard.press("Escape");
  await question.waitFor({ state: "detached" });
  expect((await written()).data).toHaveLength(1);
  await erase.click();
  await question.getByRole("button", { name: "Erase" }).click();
  await heading("Erasure");
  await page.locator("main").getByText("done", { exact: true }).waitFor();
  expect(await until(written, ({ data }) => data.length === 0)).toEqual({ data: [] });
  await page.getByRole("link", { name: "Erasures" }).click();
  await page.getByLabel("Number or address").fill("no such thing");
  await page.getByRole("button", { name: "Show" }).click();
  await page.getByRole("alert").getByText("Validation failed: recipient must be").waitFor();
  await page.getByLabel("Number or address").fill("+919876543200");
  await page.getByRole("button", { name: "Show" }).click();
  await page.getByText("was never erased here").waitFor();
  await page.getByLabel("Number or address").fill(recipient);
  await page.getByRole("button", { name: "Show" }).click();
  await page.getByRole("cell", { name: "all accounts" }).waitFor();
  // Where one account is chosen, the others keep theirs.
  await page.getByRole("link", { name: "New erasure" }).click();
  await heading("New erasure");
  await page.getByLabel("Recipient").fill(recipient);
  await page.getByLabel("Account").selectOption("Sandbox");
  await erase.click();
  await question.getByText(`${recipient} in the account “Sandbox”?`).waitFor();
  await question.getByRole("button", { name: "Erase" }).click();
  await heading("Erasure");
  await page.locator("main").getByRole("link", { name: "Sandbox" }).waitFor();
  expect(complaints).toEqual([]);
});

test("inbound SMS begin with the one that came last, and go on page by page", async () => {
  const { page, complaints, go } = await signedIn();
  const { account_id } = opened.service.sandbox;
  const receive = (from: string) =>
    admin(opened.service, "/sandbox/inbound", { account_id, from, to: "56161", text: "Hello" });
  await Promise.all(
    Array.from({ length: 50 }, (_, at) => receive(`+9198765001${String(at).padStart(2, "0")}`)),
  );
  await receive("+919876500200");
  await go("inbound");
  const shown = () => page.locator(".given summary").allTextContents();
  const first = await until(shown, ({ length }) => length === 50);
  expect(first[0]).toContain("+919876500200");
  await page.getByRole("link", { name: "Next page" }).click();
  const rest = await until(shown, ([latest]) => latest !== first[0]);
  for (const row of rest) expect(first).not.toContain(row);
  expect(complaints).toEqual([]);
});
