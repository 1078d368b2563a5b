/** Detects addresses that do not accept connections, beside the requests to them. */

/** An address that responded within this time counts as reachable. */
const REACHABLE_FOR_MS = 10_000

/**
 * A connect timeout, which fetch lacks. If an address has not responded recently, a separate connection to it is opened beside the request. At an
 * https address, the timeout includes the TLS handshake.
 */
export interface ConnectionProbe {
  /** Calls `onTimeout` unless the address of `url` accepts a connection in time, or the returned function is called first. */
  watch(url: string, timeoutMs: number, onTimeout: () => void): () => void
  /** Records that the address of `url` just responded. */
  markReachable(url: string): void
}

export function createConnectionProbe(): ConnectionProbe {
  const respondedAtMs = new Map<string, number>()

  return {
    watch(url, timeoutMs, onTimeout) {
      const { origin } = new URL(url)
      if (performance.now() - (respondedAtMs.get(origin) ?? Number.NEGATIVE_INFINITY) < REACHABLE_FOR_MS)
        return () => {}
      let end = () => {}
      const timer = setTimeout(() => {
        end()
        onTimeout()
      }, timeoutMs)
      const stop = () => {
        clearTimeout(timer)
        end()
      }
      end = connect(url, stop)
      return stop
    },
    markReachable(url) {
      respondedAtMs.set(new URL(url).origin, performance.now())
    },
  }
}

/**
 * Opens a connection. Calls `onSettled` when it is established or cannot be: the request itself then fails with a better error. Returns a
 * function that closes it.
 */
function connect(url: string, onSettled: () => void): () => void {
  const { hostname, port, protocol } = new URL(url)
  const host = hostname.replace(/^\[|\]$/g, '')
  const isEncrypted = protocol === 'https:'
  let isClosed = false
  let close = () => {}
  Bun.connect({
    hostname: host,
    port: Number(port) || (isEncrypted ? 443 : 80),
    // The request verifies the certificate.
    ...(isEncrypted && { tls: { serverName: host, rejectUnauthorized: false } }),
    socket: {
      open(socket) {
        close = () => socket.terminate()
        if (isClosed) close()
        else if (!isEncrypted) onSettled()
      },
      handshake: onSettled,
      data() {},
      error: onSettled,
      connectError: onSettled,
      close: onSettled,
    },
  }).catch(onSettled)
  return () => {
    isClosed = true
    close()
  }
}
