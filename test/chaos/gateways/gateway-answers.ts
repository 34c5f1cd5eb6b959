/** What a gateway writes for each fate of a request. */
import type { Socket } from "node:net";
import type { Dice } from "../dice.ts";
import type { GatewayFate, Naming } from "./gateway-fates.ts";
import { chunkOf, headOf, type WireAnswer } from "./http-wire.ts";

export interface Answering {
  readonly fate: GatewayFate;
  /** The gateway's names of what it took. */
  readonly ids: readonly string[];
  readonly naming: Naming;
  /** The time of the processes. */
  readonly now: () => number;
  readonly dice: Dice;
}

/** Whether the service can know from what is written what became of the message, if all of it arrives. */
export function isAnswered(fate: GatewayFate): boolean {
  return !UNANSWERED.has(fate);
}

const UNANSWERED: ReadonlySet<GatewayFate> = new Set<GatewayFate>([
  ...(["take silently", "take and drop", "take with half a head"] as const),
  ...(["lose", "lose and drop", "lose with gibberish"] as const),
]);

/** Resolves with whether the connection was still open. */
export async function answerAs(socket: Socket, answering: Answering): Promise<boolean> {
  const { fate, dice } = answering;
  if (fate === "take slowly") await Bun.sleep(dice.between(20, 400));
  if (socket.destroyed || !socket.writable) return false;
  const write = WRITERS[fate] ?? whole;
  await write(socket, answering);
  return true;
}

type Writer = (socket: Socket, answering: Answering) => unknown;

const whole: Writer = (socket, answering) => {
  const answer = answerOf(answering);
  socket.write(headOf(answer) + answer.body);
};

const drop: Writer = (socket) => socket.destroy();

const silence: Writer = () => {};

const inPieces: Writer = async (socket, answering) => {
  const { status, body } = answerOf(answering);
  socket.write(`HTTP/1.1 ${status} OK\r\nTransfer-`);
  for (const piece of [
    "Encoding: chunked\r\n\r\n",
    chunkOf(body.slice(0, 5)),
    chunkOf(body.slice(5)),
    "0\r\n\r\n",
  ]) {
    await Bun.sleep(answering.dice.between(1, 60));
    socket.write(piece);
  }
};

/** The length is that of an answer that never comes. */
const half = ({ body, ...answer }: WireAnswer) =>
  headOf({ body, ...answer }, { length: body.length + 1_000 }) + body.slice(0, body.length / 2);

const cut: Writer = (socket, answering) => socket.end(half(answerOf(answering)));

const endlessly: Writer = (socket, answering) => socket.write(half(answerOf(answering)));

/** With the answer, since one that comes later may be taken for that to the next request, whoever the client is. */
const twice: Writer = (socket, answering) => {
  const answer = answerOf(answering);
  const other = answerOf({ ...answering, ids: answering.ids.map((id) => `${id.slice(0, -1)}77777`) });
  socket.write(headOf(answer) + answer.body + headOf(other) + other.body);
};

const WRITERS: Readonly<Partial<Record<GatewayFate, Writer>>> = {
  "take in pieces": inPieces,
  "take and close": (socket, answering) => {
    const answer = answerOf(answering);
    socket.end(headOf({ ...answer, headers: { Connection: "close" } }) + answer.body);
  },
  "take without a length": (socket, answering) => {
    const answer = answerOf(answering);
    socket.end(headOf(answer, { hasLength: false }) + answer.body);
  },
  "take and answer twice": twice,
  "take and say more": (socket, answering) => {
    const answer = answerOf(answering);
    socket.write(`${headOf(answer)}${answer.body}${answering.dice.oneOf(["\r\n", "</html>"])}`);
  },
  "take and cut": cut,
  "refuse and cut": cut,
  "take endlessly": endlessly,
  "take with half a head": (socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Le"),
  "lose with gibberish": (socket) => socket.end("220 chaos ESMTP\r\n"),
  "take silently": silence,
  lose: silence,
  "take and drop": drop,
  "lose and drop": drop,
};

function answerOf({ fate, ids, naming, dice, now }: Answering): WireAnswer {
  if (!fate.startsWith("take")) return refusalOf(fate, dice, now);
  if (fate === "take as a bad gateway")
    return { status: dice.oneOf([502, 504]), body: "<html>bad gateway</html>" };
  if (fate === "take with nonsense") return { status: 200, body: "<html>\u0000 it works! \uFFFD</html>" };
  const body = TAKEN[naming](ids);
  // So long that the service does not read it to its end.
  if (fate === "take hugely")
    return { status: 200, body: `${body.slice(0, -1)}, "more": "${"x".repeat(300_000)}"}` };
  return { status: dice.oneOf([200, 201, 202]), body };
}

const TAKEN: Readonly<Record<Naming, (ids: readonly string[]) => string>> = {
  ours: () => '{"accepted": true}',
  one: ([id]) => `{"id": ${id}}`,
  each: (ids) => JSON.stringify({ messages: ids.map((id) => ({ id })) }),
};

function refusalOf(fate: GatewayFate, dice: Dice, now: () => number): WireAnswer {
  const seconds = dice.between(1, 2);
  const until = dice.chance(0.5) ? String(seconds) : new Date(now() + seconds * 1_000).toUTCString();
  switch (fate) {
    case "be busy":
      return {
        status: dice.oneOf([500, 503]),
        headers: dice.chance(0.5) ? { "Retry-After": until } : {},
        body: "",
      };
    case "say that it is busy":
      return errorOf(200, "BUSY");
    case "throttle":
      return { status: 429, headers: { "Retry-After": until }, body: "" };
    case "be full":
      return errorOf(400, "QUEUE_FULL");
    case "bar":
      return dice.chance(0.5) ? errorOf(400, "NO_CREDIT") : { status: dice.oneOf([401, 403]), body: "" };
    case "redirect":
      return { status: dice.oneOf([301, 302, 307]), headers: { Location: "/elsewhere" }, body: "" };
    default:
      return errorOf(400, "BAD_NUMBER");
  }
}

function errorOf(status: number, error: string): WireAnswer {
  return { status, body: JSON.stringify({ error }) };
}

/** What the connector is told of such answers. */
export const ROWS = [
  { http: "200", from: { json: "/error" }, is: ["BUSY"], outcome: "deferred" },
  { http: "400", from: { json: "/error" }, is: ["QUEUE_FULL"], outcome: "throttled" },
  { http: "400", from: { json: "/error" }, is: ["NO_CREDIT"], outcome: "barred" },
];
