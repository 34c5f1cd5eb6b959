import { expect, test } from "bun:test";
import { onEveryAdmin } from "../../../test/acceptance/running-admin.ts";

interface Described {
  readonly parameters?: readonly { readonly name: string }[];
  readonly responses: Record<string, { readonly content: Record<string, { readonly example: object }> }>;
}

onEveryAdmin((start) => {
  test("the example of a limit that is refused is what each list of the administration answers", async () => {
    await using admin = await start();
    const description = await fetch(`${admin.url}/openapi.json`);
    const { paths } = (await description.json()) as { paths: Record<string, { get?: Described }> };
    const lists = Object.entries(paths).flatMap(([path, { get }]) =>
      get && path.startsWith("/admin/") && get.parameters?.some(({ name }) => name === "limit")
        ? [{ path, names: get.parameters.map(({ name }) => name), example: exampleOf(get) }]
        : [],
    );
    expect(lists.length).toBeGreaterThan(10);
    const wanted = Object.entries({ limit: "0", account_id: admin.accountId, channel: "sms" });
    for (const { path, names, example } of lists) {
      const query = new URLSearchParams(wanted.filter(([name]) => names.includes(name)));
      const { json } = await admin.call("GET", `${path.replace("/admin/v1/", "")}?${query}`);
      expect({ path, json }).toEqual({ path, json: example });
    }
  });
});

function exampleOf({ responses }: Described): unknown {
  return responses[400]?.content["application/json"]?.example;
}
