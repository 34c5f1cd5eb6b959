import { expect, test } from "bun:test";
import { onEveryAdmin } from "../../../test/acceptance/running-admin.ts";

interface Described {
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required: boolean }[];
  readonly requestBody?: object;
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

  test("the example of a query that is refused is answered to one without what is required, or with what the example names", async () => {
    await using admin = await start();
    const description = await fetch(`${admin.url}/openapi.json`);
    const { paths } = (await description.json()) as { paths: Record<string, Record<string, Described>> };
    const asked = Object.entries(paths).flatMap(([path, operations]) =>
      Object.entries(operations).flatMap(([method, operation]) => {
        const queried = operation.parameters?.filter((each) => each.in === "query") ?? [];
        const names = queried.map(({ name }) => name);
        const isOnly = names.length > 0 && !names.includes("limit") && !operation.requestBody;
        const isOurs = path.startsWith("/admin/") && isOnly;
        return isOurs ? [{ method, path, queried, example: exampleOf(operation) as Refused }] : [];
      }),
    );
    expect(asked.length).toBeGreaterThan(5);
    for (const { method, path, queried, example } of asked) {
      const [wrong = ""] = Object.keys(example.details);
      const query = queried.some(({ name, required }) => name === wrong && required) ? "" : `?${wrong}=x`;
      const where = path
        .replace("/admin/v1/", "")
        .replace("{channel}", "sms")
        .replace("{name}", "idempotency");
      const { json } = await admin.call(method.toUpperCase(), where.replace("{id}", NOBODY) + query);
      expect({ path, json }).toEqual({ path, json: example });
    }
  });
});

const NOBODY = "01890000-0000-7000-8000-000000000000";

interface Refused {
  readonly details: Readonly<Record<string, string>>;
}

function exampleOf({ responses }: Described): unknown {
  return responses[400]?.content["application/json"]?.example;
}
