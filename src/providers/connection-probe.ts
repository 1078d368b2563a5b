/** A connect timeout, which fetch lacks: for an address without recent responses, a bare connection is tried beside the request. */

/** An address that responded this recently counts as reachable. */
const ALIVE_MS = 10_000

export interface ConnectionProbe {
  /** Calls `onTimeout` unless the address of `url` accepts a connection in time, or the returned function is called first. */
  watch(url: string, timeoutMs: number, onTimeout: () => void): () => void
  /** Notes that the address just responded. */
  noteAlive(url: string): void
}

export function createConnectionProbe(): ConnectionProbe {
  const aliveAtMs = new Map<string, number>()

  return {
    watch(url, timeoutMs, onTimeout) {
      const { origin, hostname, port, protocol } = new URL(url)
      if (performance.now() - (aliveAtMs.get(origin) ?? Number.NEGATIVE_INFINITY) < ALIVE_MS) return () => {}
      const timer = setTimeout(onTimeout, timeoutMs)
      const stop = () => clearTimeout(timer)
      // Refused or unresolvable: the request itself fails with a better error.
      Bun.connect({
        hostname: hostname.replace(/^\[|\]$/g, ''),
        port: Number(port) || (protocol === 'https:' ? 443 : 80),
        socket: {
          open(socket) {
            stop()
            socket.end()
          },
          data() {},
          error: stop,
          connectError: stop,
        },
      }).catch(stop)
      return stop
    },
    noteAlive(url) {
      aliveAtMs.set(new URL(url).origin, performance.now())
    },
  }
}
