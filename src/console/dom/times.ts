/** Times and durations as people read them. Pure: what is now, and where, are arguments. */

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/**
 * `10:26:35` if it is of today, else `27 Nov 10:26:35`; of another year with the year. In the time zone of the browser, with its offset
 * where a clock shows that time twice: `02:30:00 +01:00`.
 */
export function timeText(iso: string, now: Date): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return iso;
  const clock = plainClockText(at);
  if (at.toDateString() === now.toDateString()) return clock;
  const day = `${at.getDate()} ${MONTHS[at.getMonth()]}`;
  return at.getFullYear() === now.getFullYear() ? `${day} ${clock}` : `${day} ${at.getFullYear()} ${clock}`;
}

/** `250 ms`, `2.5 s`, `3 min 5 s`, `2 h 4 min`, `3 d 2 h`: two units at most. */
export function durationText(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 9_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  const units: readonly [number, string][] = [
    [86_400, "d"],
    [3_600, "h"],
    [60, "min"],
    [1, "s"],
  ];
  const first = units.findIndex(([size]) => seconds >= size);
  let rest = seconds;
  const parts = units.slice(first, first + 2).map(([size, name]) => {
    const count = Math.floor(rest / size);
    rest -= count * size;
    return count === 0 ? "" : `${count} ${name}`;
  });
  return parts.filter((part) => part !== "").join(" ");
}

/** How long ago, or how long from now: `3 min ago`, `in 5 s`. */
export function agoText(iso: string, now: Date): string {
  const ms = now.getTime() - new Date(iso).getTime();
  if (Math.abs(ms) < 1000) return "now";
  return ms > 0 ? `${oneUnit(ms)} ago` : `in ${oneUnit(-ms)}`;
}

/** How far back a list goes: minutes, and how that is said. */
export const WITHIN = [
  ["10", "last 10 minutes"],
  ["60", "last hour"],
  ["1440", "last day"],
  ["10080", "last 7 days"],
] as const;

/** What `<input type="datetime-local">` holds, and the time it means. */
export function localOfIso(iso: string): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return "";
  const day = [at.getFullYear(), twoDigits(at.getMonth() + 1), twoDigits(at.getDate())].join("-");
  return `${day}T${clockText(at)}`;
}

export function isoOfLocal(local: string): string {
  const at = new Date(local);
  return local === "" || Number.isNaN(at.getTime()) ? "" : at.toISOString();
}

function oneUnit(ms: number): string {
  return durationText(Math.floor(ms / 1000) * 1000)
    .split(" ")
    .slice(0, 2)
    .join(" ")
    .replace(".0", "");
}

function clockText(at: Date): string {
  return [at.getHours(), at.getMinutes(), at.getSeconds()].map(twoDigits).join(":");
}

/** By how many minutes a clock may be put back. */
const PUT_BACK = [60, 30];

/** `clockText`, and which of the two it is in the hour that a clock shows again when summer time ends. */
function plainClockText(at: Date): string {
  const text = clockText(at);
  const isTwice = PUT_BACK.flatMap((minutes) => [minutes, -minutes]).some(
    (minutes) => clockText(new Date(at.getTime() + minutes * 60_000)) === text,
  );
  return isTwice ? `${text} ${offsetText(-at.getTimezoneOffset())}` : text;
}

function offsetText(minutes: number): string {
  const size = Math.abs(minutes);
  return `${minutes < 0 ? "-" : "+"}${twoDigits(Math.floor(size / 60))}:${twoDigits(size % 60)}`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, "0");
}
