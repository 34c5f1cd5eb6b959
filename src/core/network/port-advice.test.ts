import { expect, test } from "bun:test";
import { portAdvice } from "./port-advice.ts";

test("a refused port below 1024 is answered with the capability it needs", () => {
  expect(portAdvice("listen EACCES: permission denied 127.0.0.1:25", 25)).toContain("CAP_NET_BIND_SERVICE");
  expect(portAdvice("permission denied 127.0.0.1:80", 80)).toContain("CAP_NET_BIND_SERVICE");
});

test("other reasons and other ports get no such advice", () => {
  expect(portAdvice("Failed to start server. Is port 80 in use?", 80)).toBe("");
  expect(portAdvice("listen EACCES: permission denied 127.0.0.1:8080", 8080)).toBe("");
});
