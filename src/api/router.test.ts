import { expect, test } from "bun:test";
import type { Endpoint } from "./endpoint.ts";
import { createRouter, pathOf, queryOf } from "./router.ts";

function endpoint(method: Endpoint["method"], path: string, more: Partial<Endpoint> = {}): Endpoint {
  return {
    method,
    path,
    operation: `${method} ${path}`,
    summary: "",
    tag: "",
    auth: "none",
    responses: {},
    handle: () => new Response(),
    ...more,
  };
}

const route = createRouter([
  endpoint("POST", "/a", { aliases: ["/b"], cors: true }),
  endpoint("GET", "/a/{id}"),
  endpoint("DELETE", "/a/{key}"),
  endpoint("GET", "/a/fixed"),
  endpoint("GET", "/a/{id}/parts/{part}"),
  endpoint("POST", "/a/{other}/parts/{part}"),
]);

function found(method: string, path: string) {
  const match = route(method, path);
  return match.kind === "found" ? [match.endpoint.operation, match.params] : match.kind;
}

test("plain paths, aliases and parameters are found", () => {
  expect(found("POST", "/a")).toEqual(["POST /a", {}]);
  expect(found("POST", "/b")).toEqual(["POST /a", {}]);
  expect(found("GET", "/a/7%20x")).toEqual(["GET /a/{id}", { id: "7 x" }]);
  expect(found("GET", "/a/7/parts/8")).toEqual(["GET /a/{id}/parts/{part}", { id: "7", part: "8" }]);
});

test("each method names its parameters as its own path does", () => {
  expect(found("DELETE", "/a/7")).toEqual(["DELETE /a/{key}", { key: "7" }]);
  expect(found("POST", "/a/7/parts/8")).toEqual(["POST /a/{other}/parts/{part}", { other: "7", part: "8" }]);
});

test("a plain path comes before a parameter", () => {
  expect(found("GET", "/a/fixed")).toEqual(["GET /a/fixed", {}]);
});

test("HEAD is answered by GET, and a wrong method is told the right ones", () => {
  expect(found("HEAD", "/a/7")).toEqual(["GET /a/{id}", { id: "7" }]);
  expect(route("PUT", "/a")).toEqual({ kind: "wrong_method", allow: "POST, OPTIONS", cors: true });
  expect(route("PUT", "/a/7")).toMatchObject({ allow: "GET, DELETE, HEAD" });
});

test("anything else is unknown", () => {
  for (const path of ["", "/", "/a/", "//a", "/a/7/parts", "/a/7/parts/", "/a//parts/8", "/A"]) {
    expect(found("GET", path)).toBe("unknown");
  }
});

test("path and query are cut out of a URL as the request line had them", () => {
  expect(pathOf("http://host:80/a/b?c=d?e")).toBe("/a/b");
  expect(pathOf("https://host")).toBe("");
  expect(pathOf("/a?b")).toBe("/a");
  expect(queryOf("http://host/a?b=c%20d").get("b")).toBe("c d");
  expect([...queryOf("http://host/a")]).toEqual([]);
});

test("two endpoints for one method and path are a mistake found at start", () => {
  expect(() => createRouter([endpoint("GET", "/a"), endpoint("GET", "/a")])).toThrow("two endpoints");
});
