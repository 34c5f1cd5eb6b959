import { expect, test } from "bun:test";
import { readKeyword } from "./opt-out.ts";

test("a stop word is read as handsets write it: in any case, width and composition, with what they add round it", () => {
  const settings = { stop_words: "STOP,arrêt,रोक़ें" };
  const written = [
    "stop",
    " Stop\r\n",
    "\u200fstop\u200f",
    "\ufeffSTOP",
    "stop\u0000",
    "\u2067stop\u2069",
    "ｓｔｏｐ",
    "ARRÊT".normalize("NFD"),
    "arrêt",
    "रोक़ें".normalize("NFD"),
    "रोक\u093cें",
  ];
  for (const text of written) expect([text, readKeyword(text, settings)]).toEqual([text, "stop"]);
  for (const text of ["please stop", "stop it", "", "\u200f", "s\u200ftop"]) {
    expect([text, readKeyword(text, settings)]).toEqual([text, undefined]);
  }
});
