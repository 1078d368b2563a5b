/** A request's address, read in one place. */

/** A name or an IP address, and a port. The names of two Host headers, which Bun joins, are none. */
const HOST = /^(?:[\w.~-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i
/** CONNECT names a host alone. */
const HAS_PATH = /^(?:https?:\/)?\//
/** For requests of HTTP/1.0, such as health checks, which need not name a host. */
const NO_HOST = 'http://localhost'

/** Whether `urlOf` can read it. Asked once, before anything else. */
export function hasReadableAddress({ url, headers }: Request): boolean {
  const host = headers.get('host')
  return (host === null || HOST.test(host)) && HAS_PATH.test(url) && URL.canParse(url, NO_HOST)
}

export function urlOf({ url }: Request): URL {
  return new URL(url, NO_HOST)
}
