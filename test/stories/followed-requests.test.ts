/**
 * A request that comes together with what is no request, or with another one. The listener does not wait for the answer: it says
 * 400, or nothing, and closes the connection. So nothing may have been done, or the client would do it again.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { sms } from "../acceptance/builders.ts";
import { send } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { dial } from "../fakes/raw-client.ts";
import { type PostriderProcess, startPostrider } from "../postrider-process.ts";

const PATH = "/v1/sms/messages";
const REFUSED = "HTTP/1.1 400 Bad Request";

/** What simple clients write after a body, and what those write that do not wait for an answer. */
const withTails = (request: string) => [`${request}\r\n`, `${request}\n`, request + request];

/** Of each text: enough for the main thread and each of the listeners to get some. */
const COPIES = 20;

onBothStores((store) => {
  let service: PostriderProcess;

  beforeAll(async () => {
    service = await startPostrider({ args: store === "sqlite" ? ["--listeners", "2"] : [] });
  });

  afterAll(async () => {
    service.kill("SIGKILL");
    await service.exited;
  });

  const requestOf = (path: string, framing: string, body = "") =>
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${service.sandbox.api_key}\r\n${framing}\r\n\r\n${body}`;

  /** The first lines of what is heard, each text on connections of its own. */
  const firstLines = async (texts: readonly string[]) => {
    const heard = texts.flatMap((text) =>
      Array.from({ length: COPIES }, async () => {
        const { socket, until } = await dial(Number(new URL(service.url).port));
        socket.write(text);
        return until();
      }),
    );
    return [...new Set((await Promise.all(heard)).map((answer) => answer.split("\r\n")[0]))].toSorted();
  };

  const post = async (more: Readonly<Record<string, unknown>> = {}) => {
    const { body } = await send(service, { apiKey: service.sandbox.api_key, path: PATH, body: sms(more) });
    return String(body.message_id);
  };
  const get = async (path: string) =>
    (await fetch(service.url + path, { headers: { "X-API-Key": service.sandbox.api_key } })).json();

  /** A message that was accepted before would be there by the time the next one is. */
  const expectNoneBut = async (id: string, tag: string) =>
    expect(await get(`${PATH}?tag=${tag}`)).toMatchObject({ data: [{ message_id: id }] });

  test("no message is accepted", async () => {
    const body = JSON.stringify(sms({ tags: ["whole"] }));
    const request = requestOf(PATH, `Content-Length: ${body.length}`, body);
    expect(await firstLines(withTails(request))).toEqual(["", REFUSED]);
    await expectNoneBut(await post({ tags: ["whole"] }), "whole");
  });

  test("no message is accepted whose chunked body ends with trailers", async () => {
    const body = JSON.stringify(sms({ tags: ["chunked"] }));
    const chunks = `${body.length.toString(16)}\r\n${body}\r\n0\r\nX-Checksum: 1\r\n\r\n`;
    expect(await firstLines([requestOf(PATH, "Transfer-Encoding: chunked", chunks)])).toEqual([REFUSED]);
    await expectNoneBut(await post({ tags: ["chunked"] }), "chunked");
  });

  test("no message is canceled", async () => {
    const id = await post({ schedule_at: new Date(Date.now() + 3_600_000).toISOString() });
    const path = `${PATH}/${id}`;
    expect(await firstLines(withTails(requestOf(`${path}/cancel`, "Content-Length: 0")))).toEqual([
      "",
      REFUSED,
    ]);
    expect(await get(path)).toMatchObject({ status: "scheduled" });
  });
});
