import { connect, type SecureContext } from "node:tls";

/** Where a connection leads. It is used again only for the same address, port and name. */
export interface Endpoint {
  /** Has passed the address rules in this very attempt. */
  readonly address: string;
  readonly port: number;
  /** For SNI and the certificate; absent if the URL has an address in place of a name. */
  readonly servername?: string;
}

/** How far a connection has come. */
export type Phase = "connect" | "tls" | "open";

/** One connection over TLS, to an address and never to a name, so that nothing here looks up a name. */
export interface Connection {
  phase(): Phase;
  /** Replaces the listener. Without one, anything the server does ends the connection. */
  listen(listener: Listener | undefined): void;
  /** Writes the text in one piece; only while the phase is `open`. */
  send(text: string): void;
  close(): void;
}

export interface Listener {
  /** TLS is established, and the certificate is valid for the name. */
  onOpen(): void;
  onData(chunk: Buffer): void;
  /** The connection has ended, or could not be opened. */
  onGone(error?: Error): void;
}

/** @param onGone called once, however the connection ends */
export function openConnection(
  { address, port, servername }: Endpoint,
  { secureContext, onGone }: { readonly secureContext: SecureContext; readonly onGone: () => void },
): Connection {
  let phase: Phase = "connect";
  let listener: Listener | undefined;
  let isGone = false;
  const socket = connect({
    host: address,
    port,
    ...(servername !== undefined && { servername }),
    secureContext,
    // Not left to NODE_TLS_REJECT_UNAUTHORIZED.
    rejectUnauthorized: true,
    ALPNProtocols: ["http/1.1"],
  });
  const end = (error?: Error) => {
    if (isGone) return;
    isGone = true;
    socket.destroy();
    onGone();
    listener?.onGone(error);
  };
  socket.setNoDelay(true);
  socket.once("connect", () => {
    phase = "tls";
  });
  socket.once("secureConnect", () => {
    phase = "open";
    listener?.onOpen();
  });
  socket.on("data", (chunk: Buffer) => (listener ? listener.onData(chunk) : end()));
  socket.on("error", end);
  socket.on("end", () => end());
  socket.on("close", () => end());
  return {
    phase: () => phase,
    listen(next) {
      listener = next;
    },
    send: (text) => void socket.write(text),
    close: () => {
      listener = undefined;
      end();
    },
  };
}
