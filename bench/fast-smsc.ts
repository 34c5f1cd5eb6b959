/**
 * An SMSC that answers at once and is not in the way: SMPP 3.4 on the loopback, in a process of its own. Each chunk
 * that comes in is answered by one write, a submit_sm by its answer and, right behind it, a receipt. It is told what
 * to report, and reports, in lines: `expect <receipts>` is answered by `done <Unix ms>` when so many receipts have
 * been acknowledged since, `count` by `count <submits> <acknowledged>`. Each submit_sm to a number that begins
 * with WATCHED is reported as `seen <number> <Unix ms>`.
 */
import { createInterface } from "node:readline";
import type { Socket } from "bun";

const WATCHED = "1999";

const HEADER = 16;
const ENQUIRE_LINK = 0x15;
const SUBMIT_SM = 0x04;
const DELIVER_SM = 0x05;
const DELIVER_SM_RESP = 0x80000005;
const UNBIND = 0x06;
const BINDS: ReadonlySet<number> = new Set([0x01, 0x02, 0x09]);

const tally = { submits: 0, acknowledged: 0, awaited: Number.POSITIVE_INFINITY };
let nextId = 10_000_000;

const server = Bun.listen<{ rest: Buffer; waiting: Buffer[] }>({
  hostname: "127.0.0.1",
  port: 0,
  socket: {
    open(socket) {
      socket.data = { rest: Buffer.alloc(0), waiting: [] };
    },
    data(socket, chunk) {
      const { rest } = socket.data;
      const octets = rest.length > 0 ? Buffer.concat([rest, chunk]) : Buffer.from(chunk);
      const answers: Buffer[] = [];
      let at = 0;
      while (octets.length - at >= 4 && octets.length - at >= octets.readUInt32BE(at)) {
        const length = octets.readUInt32BE(at);
        answer(octets.subarray(at, at + length), answers);
        at += length;
      }
      socket.data.rest = Buffer.from(octets.subarray(at));
      if (answers.length > 0) write(socket, Buffer.concat(answers));
    },
    drain(socket) {
      const waiting = Buffer.concat(socket.data.waiting.splice(0));
      write(socket, waiting);
    },
  },
});
console.log(`port ${server.port}`);

createInterface(process.stdin).on("line", (line) => {
  const [word, count] = line.split(" ");
  if (word === "count") console.log(`count ${tally.submits} ${tally.acknowledged}`);
  if (word === "expect") tally.awaited = tally.acknowledged + Number(count);
});
process.stdin.on("end", () => process.exit(0));

/** What the socket does not take now goes when it drains, in order. */
function write(socket: Socket<{ rest: Buffer; waiting: Buffer[] }>, octets: Buffer): void {
  if (octets.length === 0) return;
  const { waiting } = socket.data;
  const written = waiting.length > 0 ? 0 : socket.write(octets);
  if (written < octets.length) waiting.push(octets.subarray(Math.max(0, written)));
}

function answer(pdu: Buffer, answers: Buffer[]): void {
  const command = pdu.readUInt32BE(4);
  const sequence = pdu.readUInt32BE(12);
  if (command === SUBMIT_SM) takeSubmit(pdu, sequence, answers);
  else if (command === DELIVER_SM_RESP) takeAcknowledgement();
  else if (BINDS.has(command)) answers.push(toPdu(command | 0x80000000, sequence, Buffer.from("fast\0")));
  else if (command === ENQUIRE_LINK || command === UNBIND)
    answers.push(toPdu(command | 0x80000000, sequence, Buffer.alloc(0)));
}

function takeSubmit(pdu: Buffer, sequence: number, answers: Buffer[]): void {
  const id = String(nextId++);
  const { source, destination } = addressesOf(pdu);
  tally.submits++;
  if (destination.startsWith(WATCHED)) console.log(`seen ${destination} ${now()}`);
  answers.push(toPdu(SUBMIT_SM | 0x80000000, sequence, Buffer.from(`${id}\0`)));
  const text = `id:${id} sub:001 dlvrd:001 submit date:2601151200 done date:2601151200 stat:DELIVRD err:000 text:`;
  const head = `\0\x01\x01${destination}\0\x05\0${source}\0\x04\0\0\0\0\0\0\0\0${String.fromCharCode(text.length)}`;
  answers.push(toPdu(DELIVER_SM, tally.submits & 0x7fffffff, Buffer.from(head + text, "latin1")));
}

function takeAcknowledgement(): void {
  tally.acknowledged++;
  if (tally.acknowledged !== tally.awaited) return;
  tally.awaited = Number.POSITIVE_INFINITY;
  console.log(`done ${now()}`);
}

/** SMPP 3.4 §4.4.1: service_type, then TON, NPI and address of the sender and of the recipient. */
function addressesOf(pdu: Buffer): { source: string; destination: string } {
  const sourceAt = pdu.indexOf(0, HEADER) + 3;
  const sourceEnd = pdu.indexOf(0, sourceAt);
  const destinationAt = sourceEnd + 3;
  const destinationEnd = pdu.indexOf(0, destinationAt);
  return {
    source: pdu.toString("latin1", sourceAt, sourceEnd),
    destination: pdu.toString("latin1", destinationAt, destinationEnd),
  };
}

function toPdu(command: number, sequence: number, body: Buffer): Buffer {
  const pdu = Buffer.allocUnsafe(HEADER + body.length);
  pdu.writeUInt32BE(pdu.length, 0);
  pdu.writeUInt32BE(command >>> 0, 4);
  pdu.writeUInt32BE(0, 8);
  pdu.writeUInt32BE(sequence, 12);
  body.copy(pdu, HEADER);
  return pdu;
}

function now(): number {
  return performance.timeOrigin + performance.now();
}
