/** What becomes of the rest of a body that is refused. */
import { expect, test } from "bun:test";
import { dial } from "../fakes/raw-client.ts";
import { until } from "../until.ts";
import { onEveryStore } from "./running-api.ts";

const PATH = "/v1/sms/messages";
const MIB = 1024 * 1024;

onEveryStore((start) => {
  test("a refusal reaches a client that first sends all of its body and wants the connection closed", async () => {
    await using api = await start();
    const body = " ".repeat(24 * MIB);
    const whole = [`Content-Length: ${body.length}`, body] as const;
    const chunked = [
      "Transfer-Encoding: chunked",
      `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
    ] as const;
    const key = `Authorization: Bearer ${api.caller.key}\r\n`;
    for (const [path, lines, [length, sent], status] of [
      ["/v1/emails/messages", key, whole, 413],
      ["/v1/emails/messages", key, chunked, 413],
      ["/v1/emails/messages", `${key}Content-Type: text/plain\r\n`, whole, 415],
      ["/v1/emails/messages", "", chunked, 401],
      ["/v1/nowhere", "", whole, 404],
    ] as const) {
      const wire = await dial(api.port);
      const head = `POST ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${lines}${length}\r\n\r\n`;
      await new Promise<void>((resolve, reject) =>
        wire.socket.write(head + sent, (error) => (error ? reject(error) : resolve())),
      );
      expect(await wire.until()).toStartWith(`HTTP/1.1 ${status}`);
    }
  });

  test("an answer to a request whose body has not come is the last on its connection", async () => {
    await using api = await start();
    const key = `Authorization: Bearer ${api.caller.key}\r\n`;
    for (const [line, lines, sent, status] of [
      ["POST /v1/nowhere", "Content-Length: 9\r\n", "{", 404],
      ["POST /v1/sms/messages", "Content-Length: 9\r\n", "{", 401],
      [
        "POST /v1/sms/messages",
        `${key}Content-Type: text/plain\r\nTransfer-Encoding: chunked\r\n`,
        "9\r\n{",
        415,
      ],
      ["OPTIONS /v1/push/register", "Content-Length: 9\r\n", "{", 204],
      [`GET ${PATH}`, `${key}Content-Length: 9\r\n`, "{", 200],
    ] as const) {
      const wire = await dial(api.port);
      wire.socket.write(`${line} HTTP/1.1\r\nHost: a\r\n${lines}\r\n${sent}`);
      await until(api.clock.pending);
      for (let n = 0; n < 2; n++) await api.clock.advance(5_000);
      const answer = await wire.until();
      expect(answer).toStartWith(`HTTP/1.1 ${status}`);
      expect(answer).toMatch(/\r\nconnection: close\r\n/i);
    }
  });

  test("a refused body is waited for as long as it comes, for half a minute", async () => {
    await using api = await start();
    const wire = await dial(api.port);
    wire.socket.write("POST /v1/nowhere HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n");
    await until(api.clock.pending);
    for (let n = 0; n < 5; n++) {
      wire.socket.write("x");
      // Until that has come.
      await api.get("/healthz");
      await api.clock.advance(5_000);
    }
    wire.socket.write("xxxx");
    const answer = await wire.until(/not found/);
    expect(answer).toStartWith("HTTP/1.1 404");
    expect(answer).not.toMatch(/connection: close/i);
    wire.socket.destroy();
  });

  test("of many refused bodies that do not come, only some are waited for: the rest would keep others from being answered", async () => {
    await using api = await start();
    const wires = await Promise.all(Array.from({ length: 70 }, () => dial(api.port)));
    for (const { socket } of wires)
      socket.write("POST /v1/nowhere HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n");
    // Until they have come.
    await api.get("/healthz");
    await api.clock.advance(200);
    await until(() => api.observed.length > 6);
    expect(api.observed).toHaveLength(7);
    for (let n = 0; n < 2; n++) await api.clock.advance(5_000);
    for (const wire of wires) {
      const answer = await wire.until();
      expect(answer).toStartWith("HTTP/1.1 404");
      expect(answer).toMatch(/\r\nconnection: close\r\n/i);
    }
  });

  test("a client that wants the connection closed and never sends the body it announced is answered after 5 s", async () => {
    await using api = await start();
    const wire = await dial(api.port);
    wire.socket.write(
      "POST /v1/nowhere HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 9\r\n\r\n",
    );
    await until(api.clock.pending);
    await api.clock.advance(5000);
    expect(await wire.until()).toStartWith("HTTP/1.1 404");
  });
});
