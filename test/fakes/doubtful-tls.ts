/** Certificates for `localhost` and 127.0.0.1 that no client should accept, and servers that show one. The private key protects nothing. */
import type { AddressInfo, Socket } from "node:net";
import { createServer } from "node:tls";

const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgVZkFL95suwXjvAUU
sv5BhzvrgKS8XxbqsWnH0a7LoFKhRANCAAQJ87eX1mpSPAgKTwuHrdO2WI7g26zT
IXKo0tMqqEE90KRhymfwgSyifgbz6vOUI+eTwfP87pNyQ81p4S33EvEs
-----END PRIVATE KEY-----`;

/** Signed by itself, and valid for a hundred years. */
export const selfSignedTls = {
  key,
  cert: `-----BEGIN CERTIFICATE-----
MIIBaTCCAQ+gAwIBAgIUOsf9rdYx7Ra53ZEbZsui0lIZ9NQwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAx
MDAwMDAwWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAQJ87eX1mpSPAgKTwuHrdO2WI7g26zTIXKo0tMqqEE90KRhymfwgSyi
fgbz6vOUI+eTwfP87pNyQ81p4S33EvEsoz0wOzAaBgNVHREEEzARgglsb2NhbGhv
c3SHBH8AAAEwHQYDVR0OBBYEFJ4eK9tXMIoWglyG8cCAbdzv9sEdMAoGCCqGSM49
BAMCA0gAMEUCIQCXe0yHvX+UUcJDmrz+REyq3vspN1zsPjf8uIUJkXmECAIgPebG
zSbCIsjGIbYiL+MFF8RtOYuYNrghwkyWDr4lQbU=
-----END CERTIFICATE-----`,
};

/** Signed by `doubtfulCa`; over since 2020. */
export const expiredTls = {
  key,
  cert: `-----BEGIN CERTIFICATE-----
MIIBxTCCAWugAwIBAgIUQh0DOubtbZZ7R1uxSnJgoPZ0c7UwCgYIKoZIzj0EAwIw
IjEgMB4GA1UEAwwXUG9zdHJpZGVyIGRvdWJ0IHRlc3QgQ0EwHhcNMjAwMTAxMDAw
MDAwWhcNMjAwMTAyMDAwMDAwWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcq
hkjOPQIBBggqhkjOPQMBBwNCAAQJ87eX1mpSPAgKTwuHrdO2WI7g26zTIXKo0tMq
qEE90KRhymfwgSyifgbz6vOUI+eTwfP87pNyQ81p4S33EvEso4GMMIGJMBoGA1Ud
EQQTMBGCCWxvY2FsaG9zdIcEfwAAATAJBgNVHRMEAjAAMAsGA1UdDwQEAwIHgDAT
BgNVHSUEDDAKBggrBgEFBQcDATAdBgNVHQ4EFgQUnh4r21cwihaCXIbxwIBt3O/2
wR0wHwYDVR0jBBgwFoAUhGXzRy9SXf+07ZI+K+zGJ6U1A20wCgYIKoZIzj0EAwID
SAAwRQIhAOGvuI01X0Tw3EDEDdcJGa49p4tCBd2riMvJ7H8vuk7MAiA6IRx104z/
2KVOePeVK2wygs/kEBiRIPkdPgDkoz9pew==
-----END CERTIFICATE-----`,
};

/** Signed by `doubtfulCa`; begins in 2110. */
export const earlyTls = {
  key,
  cert: `-----BEGIN CERTIFICATE-----
MIIByjCCAW+gAwIBAgIUVYb4tVljhOg1U3sHjcR5jJTqRYMwCgYIKoZIzj0EAwIw
IjEgMB4GA1UEAwwXUG9zdHJpZGVyIGRvdWJ0IHRlc3QgQ0EwIhgPMjExMDAxMDEw
MDAwMDBaGA8yMTIwMDEwMTAwMDAwMFowFDESMBAGA1UEAwwJbG9jYWxob3N0MFkw
EwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAECfO3l9ZqUjwICk8Lh63TtliO4Nus0yFy
qNLTKqhBPdCkYcpn8IEson4G8+rzlCPnk8Hz/O6TckPNaeEt9xLxLKOBjDCBiTAa
BgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCQYDVR0TBAIwADALBgNVHQ8EBAMC
B4AwEwYDVR0lBAwwCgYIKwYBBQUHAwEwHQYDVR0OBBYEFJ4eK9tXMIoWglyG8cCA
bdzv9sEdMB8GA1UdIwQYMBaAFIRl80cvUl3/tO2SPivsxielNQNtMAoGCCqGSM49
BAMCA0kAMEYCIQCGpOXOnymDKOlEa9M32ooK37c478mjiWKfV4bReZn4WQIhALoB
UcEKBcvNZoCdpJY9NkdcoOciyDZylo/BCDdTO7Mh
-----END CERTIFICATE-----`,
};

export const doubtfulCa = `-----BEGIN CERTIFICATE-----
MIIBijCCATCgAwIBAgIUL1QBRqablJ32nJXrVcDYgaTCmokwCgYIKoZIzj0EAwIw
IjEgMB4GA1UEAwwXUG9zdHJpZGVyIGRvdWJ0IHRlc3QgQ0EwIBcNMjAwMTAxMDAw
MDAwWhgPMjEyMDAxMDEwMDAwMDBaMCIxIDAeBgNVBAMMF1Bvc3RyaWRlciBkb3Vi
dCB0ZXN0IENBMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEoFTTo1E4wgMLHca1
bTYCyKJRul3bxhIONoef3sqzFzDIQP4RpUQ+g3khh3SoICWSSUSJVKlrP1PpPyqR
cWaTK6NCMEAwDwYDVR0TAQH/BAUwAwEB/zAOBgNVHQ8BAf8EBAMCAQYwHQYDVR0O
BBYEFIRl80cvUl3/tO2SPivsxielNQNtMAoGCCqGSM49BAMCA0gAMEUCIQCQHOvO
tsEi7cs1yjSUD1W6ySFzAk6vItyacwewSI2nXQIgcjH90Hj7KTm7d7pva7bM92Kh
PKJht3sCyJOvm+IjRNc=
-----END CERTIFICATE-----`;

export interface TlsServer {
  readonly port: number;
  close(): Promise<void>;
}

/** A server that only shows its certificate. */
export async function startTlsServer(certificate: { key: string; cert: string }): Promise<TlsServer> {
  const sockets = new Set<Socket>();
  const server = createServer({ key: certificate.key, cert: certificate.cert });
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
  });
  server.on("tlsClientError", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
