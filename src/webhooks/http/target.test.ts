import { expect, test } from "bun:test";
import { parseTarget } from "./target.ts";

test("a URL without a port leads to 443, and Host names the port only if it is another", () => {
  const at = (url: string) => {
    const target = parseTarget(url);
    return typeof target === "string" ? target : [target.hostname, target.port, target.host, target.path];
  };
  expect(at("https://hooks.test/a?b=1")).toEqual(["hooks.test", 443, "hooks.test", "/a?b=1"]);
  expect(at("https://hooks.test:443")).toEqual(["hooks.test", 443, "hooks.test", "/"]);
  expect(at("https://hooks.test:8443/a")).toEqual(["hooks.test", 8443, "hooks.test:8443", "/a"]);
});
