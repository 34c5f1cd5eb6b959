/**
 * Options of `fetch` that keep a request to this machine from a proxy in the environment (`HTTP_PROXY`): such requests hold
 * the admin token or a key, and no proxy can reach our loopback address. Requests to other machines use the proxy, as is usual.
 */
export function pastProxy(url: URL): { readonly proxy?: false } {
  return HERE.test(url.hostname) ? { proxy: false } : {};
}

/** As the URL parser writes them; `0.0.0.0` and `::` lead to this machine too. */
const HERE =
  /^(?:(?:.+\.)?localhost\.?|127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[::1?\]|\[::ffff:7f[0-9a-f]{2}:[0-9a-f]{1,4}\])$/;
