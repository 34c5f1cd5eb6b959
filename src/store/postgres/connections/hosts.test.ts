import { expect, test } from "bun:test";
import { readHosts } from "./hosts.ts";

test("a URL of several hosts is one URL for each, and only the writable one will do", () => {
  expect(
    readHosts(
      "postgres://me:s%40cret@a:5432,[::1]:5433,c/db?sslmode=disable&target_session_attrs=read-write",
    ),
  ).toEqual({
    urls: [
      "postgres://me:s%40cret@a:5432/db?sslmode=disable",
      "postgres://me:s%40cret@[::1]:5433/db?sslmode=disable",
      "postgres://me:s%40cret@c/db?sslmode=disable",
    ],
    isToBeWritable: true,
    isPrepared: true,
    place: "a:5432,[::1]:5433,c/db",
  });
});

test("a URL of one host stays as it is", () => {
  const url = "postgresql://me@%2Frun%2Fpostgres/db";
  expect(readHosts(url)).toEqual({
    urls: [url],
    isToBeWritable: false,
    isPrepared: true,
    place: "/run/postgres/db",
  });
  expect(readHosts("postgres://h/db?target_session_attrs=primary").isToBeWritable).toBeTrue();
});

test("statements are not prepared where the URL says so, and the server hears nothing of it", () => {
  const { urls, isPrepared } = readHosts("postgres://h:6432/db?prepare=false&sslmode=disable");
  expect({ urls, isPrepared }).toEqual({ urls: ["postgres://h:6432/db?sslmode=disable"], isPrepared: false });
});

test("settings of the session are told apart, so that ours can follow, unless the server is to hear of none of ours", () => {
  const setting = "options=-c%20search_path%3Dmail";
  const own = readHosts(`postgres://h/db?${setting}&sslmode=disable`);
  expect(own).toMatchObject({ urls: ["postgres://h/db?sslmode=disable"], options: "-c search_path=mail" });
  const ofPooler = readHosts(`postgres://h/db?prepare=false&${setting}`);
  expect(ofPooler.urls).toEqual([`postgres://h/db?${setting}`]);
  expect(ofPooler).not.toHaveProperty("options");
});

test("a name for the sessions is told apart, so that it does not displace ours", () => {
  const { urls, applicationName } = readHosts("postgres://h/db?application_name=billing%201&sslmode=disable");
  expect({ urls, applicationName }).toEqual({
    urls: ["postgres://h/db?sslmode=disable"],
    applicationName: "billing 1",
  });
});

test("what cannot be a database's URL is refused, without its password", () => {
  for (const url of [
    "mysql://me:hidden@h/db",
    "postgres://me:hidden@h@i/db",
    "postgres://me:hidden@a:x,b/db",
    "postgres://me:hidden@a:/db",
    "postgres://me:hidden@a:654321/db",
    "postgres://me:hidden@a,/db",
    "postgres://me:hidden@h/db?prepare=never",
    "postgres://me:hidden@a,b/db?target_session_attrs=prefer-standby",
    "postgres://me:hidden/half@h/db",
    "postgres://me:7/hidden@h/db",
    "postgres://me:hidden?half@h/db",
    "postgres://me:7?hidden@h/db",
    "postgres://me:7?hidden@h/db?a=b",
    "postgres://me:7?hidden",
    "postgres://me:hidden?a=half@h/db",
    "postgres://me:hidden#half@h/db",
    "postgres://me:a,hidden/half@h/db",
    "postgres://me:hidden",
  ]) {
    expect(() => readHosts(url)).toThrow(/expected/);
    expect(() => readHosts(url)).not.toThrow(/hidden/);
  }
});
