import { connect, type SecureContext } from "node:tls";

/** One end of connections: they are used again only for the same address, port and name. */
export interface Endpoint {
  /** Vetted for this very attempt. */
  readonly address: string;
  readonly port: number;
  /** For SNI and the certificate; absent where the URL names an address. */
  readonly servername?: string;
}

/** How far a connection has come. */
export type Phase = "connect" | "tls" | "open";

/** One connection over TLS, to an address and never to a name: nothing here can look anything up. */
export interface Connection {
  phase(): Phase;
  /** Who hears from now on. With nobody there, whatever the other side does ends the connection. */
  attend(listener: Listener | undefined): void;
  /** In one piece; only when it is open. */
  send(text: string): void;
  close(): void;
}

export interface Listener {
  /** TLS stands, and the certificate is the name's. */
  onOpen(): void;
  onData(chunk: Buffer): void;
  /** It has ended, or never came to be. */
  onGone(error?: Error): void;
}

/** `onGone`: once, however it ended. */
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
    attend(next) {
      listener = next;
    },
    send: (text) => void socket.write(text),
    close: () => {
      listener = undefined;
      end();
    },
  };
}
