/** The web console, in a real browser: an operator has a receiver's events delivered that wait for their next try. */
import { expect, test } from "bun:test";
import { browserConsole } from "../browser-console.ts";

const opened = browserConsole();

test("what waits for its next try at a host is delivered now, once it was told how many events those are", async () => {
  const { page, complaints, go } = await opened.signedIn();
  const { account_id } = opened.service.sandbox;
  const waiting = /\/admin\/v1\/webhooks\?.*state=waiting/;
  const events = (count: number) => Array.from({ length: count }, (_, n) => ({ id: `evt_${n}_1` }));
  const pages = [{ data: [] }, { data: events(1_000), next: "far" }, { data: events(1) }];
  const asked: URLSearchParams[] = [];
  await page.route(waiting, (route) => {
    asked.push(new URL(route.request().url()).searchParams);
    return route.fulfill({ json: pages[asked.length - 1] });
  });
  const bodies: unknown[] = [];
  await page.route("**/admin/v1/webhooks/replay", (route) => {
    bodies.push(route.request().postDataJSON());
    return route.fulfill({ json: bodies.length === 1 ? { replayed: 1_000, next: "far" } : { replayed: 2 } });
  });
  await go("webhooks?host=other.example");
  const button = page.locator("main").getByRole("button", { name: "Replay waiting" });
  const question = (count: string) =>
    page.getByRole("dialog", { name: `what waits for its next try at other.example: ${count}?` });

  await button.press("Enter");
  await page.locator(".notices").getByText("No events of other.example wait for their next try").waitFor();
  // By the keyboard alone: the focus is on what is asked, and back at the button after a no.
  await button.press("Enter");
  await question("more than 1,000 events").waitFor();
  await page.keyboard.press("Escape");
  await page.locator("button:focus", { hasText: "Replay waiting" }).waitFor();
  expect(bodies).toEqual([]);
  await button.press("Enter");
  await question("1 event").getByRole("button", { name: "Replay waiting" }).press("Enter");
  await page.locator(".notices").getByText("1,002 events are queued for delivery again").waitFor();
  const body = { account_id, host: "other.example", waiting: true };
  expect(bodies).toEqual([body, { ...body, after: "far" }]);
  expect(asked.map((each) => [each.get("account_id"), each.get("host"), each.get("limit")])).toEqual(
    Array(3).fill([account_id, "other.example", "1000"]),
  );
  expect(complaints).toEqual([]);
});
