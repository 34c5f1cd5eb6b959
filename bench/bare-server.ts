/** The yardstick: parses the same JSON body and answers the same JSON, and does nothing else. Prints its URL. */
const answer = (to: string) => ({
  message_id: "019a0000-0000-7000-8000-000000000000",
  status: "queued",
  to,
  created_at: new Date().toISOString(),
});

const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    if (request.method === "GET") return Response.json(answer("+919876543210"));
    const body = (await request.json()) as { to: string | string[] };
    if (Array.isArray(body.to)) return Response.json({ messages: body.to.map(answer) }, { status: 202 });
    return Response.json(answer(body.to), { status: 202 });
  },
});
console.log(`http://127.0.0.1:${server.port}`);
