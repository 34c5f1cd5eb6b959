import { expect, test } from "bun:test";
import { ehloNameProblem } from "./ehlo-name.ts";

const LONG = "a".repeat(63);

test.each([
  "mail.example.com",
  "localhost",
  "xn--mller-kva.example",
  "1and1.example",
  `${LONG}.example`,
  "[192.0.2.1]",
  "[IPv6:2001:db8::1]",
  "[ipv6:::ffff:192.0.2.1]",
])("%p introduces us", (ehlo_name) => {
  expect(ehloNameProblem({ config: { ehlo_name } })).toEqual({});
});

test.each([
  "mail.example.com\r\nMAIL FROM:<a@b.example>",
  "mail.example.com\n",
  "mail example.com",
  " mail.example.com",
  "müller.example",
  "mail_1.example.com",
  "-mail.example.com",
  "mail-.example.com",
  "mail..example.com",
  "mail.example.com.",
  `${LONG}a.example`,
  "192.0.2.1",
  "2001:db8::1",
  "[2001:db8::1]",
  "[IPv6:fe80::1%eth0]",
  "[192.0.2.256]",
  "[]",
  "https://mail.example.com",
])("%p is no domain and no address literal", (ehlo_name) => {
  expect(ehloNameProblem({ config: { ehlo_name } })).toEqual({
    ehlo_name: expect.stringContaining("must be a domain name"),
  });
});
