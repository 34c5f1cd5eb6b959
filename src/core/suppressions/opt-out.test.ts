import { expect, test } from "bun:test";
import { readKeyword } from "./opt-out.ts";

test("case does not matter in Turkish either, whose i has a dot in capitals too", () => {
  for (const stop_words of ["İPTAL", "iptal", "IPTAL"])
    for (const text of ["İPTAL", "iptal", "Iptal", "ıptal", "i\u0307ptal", "I\u0307PTAL"])
      expect([stop_words, text, readKeyword(text, { stop_words })]).toEqual([stop_words, text, "stop"]);
  expect(readKeyword("QUİT", {})).toBe("stop");
});

test("a stop word is read as handsets write it: in any case, width and composition, with what they add to it", () => {
  const settings = { stop_words: "STOP,arrêt,रोक़ें,STOPALL,opt out,🛑" };
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
    "s\u200ftop",
    "Stop.",
    "STOP!!!",
    '"stop"',
    "“Stop…”",
    "stop 🙏",
    "S T O P",
    "stop all",
    "Opt-out",
    "STOP❗\ufe0f",
    "Stop ☹\ufe0f \u{1f64f}\u{1f3fd}",
    "st\u034fop",
    "🛑",
    "🛑\ufe0f",
    "stop".padEnd(160),
    " 🛑\u200f\n",
  ];
  for (const text of written) expect([text, readKeyword(text, settings)]).toEqual([text, "stop"]);
  for (const text of ["please stop", "stop it", "stop 2", "don't stop", "", "\u200f", "!", "🛑🛑"]) {
    expect([text, readKeyword(text, settings)]).toEqual([text, undefined]);
  }
});
