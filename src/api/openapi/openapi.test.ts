import { expect, test } from "bun:test";
import { onEveryAdmin } from "../../../test/acceptance/running-admin.ts";

onEveryAdmin((start) => {
  test("clients that are generated go to the public URL, once one is set, and not to where the process listens", async () => {
    await using admin = await start();
    const serversNow = async () => {
      const { servers } = JSON.parse(await (await fetch(`${admin.url}/openapi.json`)).text());
      return servers.map(({ url }: { url: string }) => url);
    };
    const [here] = await serversNow();
    await admin.call("PUT", "settings/public_url", { value: "https://sms.acme.example" });
    expect(await serversNow()).toEqual(["https://sms.acme.example", here]);
    await admin.call("PUT", "settings/public_url", { value: null });
    expect(await serversNow()).toEqual([here]);
  });
});
