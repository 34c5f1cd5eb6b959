/** Which certificate a server shows to who connects now. */
import { X509Certificate } from "node:crypto";
import { connect } from "node:net";
import { type ConnectionOptions, connect as connectTls } from "node:tls";

export const fingerprintOf = (pem: string) => new X509Certificate(pem).fingerprint256;

/** Its fingerprint. Rejects if there is none. */
export function shownAt(port: number, options: ConnectionOptions = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connectTls({ port, host: "127.0.0.1", rejectUnauthorized: false, ...options });
    socket.once("secureConnect", () => {
      resolve(socket.getPeerCertificate().fingerprint256);
      socket.destroy();
    });
    socket.once("error", reject);
  });
}

/** The same after STARTTLS of a mail server. */
export async function shownByMailAt(port: number): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  for (const said of ["", "EHLO localhost\r\n", "STARTTLS\r\n"]) {
    if (said) socket.write(said);
    await new Promise<void>((resolve) => {
      let text = "";
      const read = (chunk: Buffer) => {
        text += chunk.toString("latin1");
        if (!/^\d{3} .*\r\n$/m.test(text)) return;
        socket.off("data", read);
        resolve();
      };
      socket.on("data", read);
    });
  }
  return shownAt(port, { socket });
}
