import { expect, test } from "bun:test";
import { connectorsText, routeText } from "./route-text.ts";

const connectors = [{ connector_id: "1", weight: 80 }, { connector_id: "2" }];
const route = { id: "r", channel: "sms", match: "91", sender: "ACME", connectors };

test("a route says which messages it takes", () => {
  expect(routeText(route)).toBe("sms to 91…, sender ACME");
  expect(routeText({ id: "r", channel: "email", match: "", connectors })).toBe("email all");
});

test("a route names its connectors in order; one that is not known is named by its id", () => {
  expect(connectorsText(route, [{ id: "1", name: "primary" }])).toBe("primary (weight 80), 2");
});
