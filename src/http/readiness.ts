/** Implements the probes: GET /livez reports that the process runs, GET /readyz that it can serve requests and is not draining. */
import type { RouteTarget } from '../pipeline/request/request.ts'
import type { Health } from './health.ts'

export type Probe = Extract<RouteTarget, { kind: 'probe' }>['probe']

export interface Readiness<H = Health> {
  /** Makes /readyz return 503, and each response close its connection. */
  beginDrain(): void
  isDraining(): boolean
  checkHealth(): Promise<H>
  probe(probe: Probe): Promise<{ value: { status: string }; status: number }>
}

/** Creates the readiness state. It does not check for migrations, because a server listens only after they have run. */
export function createReadiness<H extends Pick<Health, 'status'>>(checkHealth: () => Promise<H>): Readiness<H> {
  let isDraining = false
  return {
    beginDrain() {
      isDraining = true
    },
    isDraining: () => isDraining,
    checkHealth,
    async probe(probe) {
      if (probe === 'livez') return { value: { status: 'alive' }, status: 200 }
      if (isDraining) return { value: { status: 'draining' }, status: 503 }
      const { status } = await checkHealth()
      // Requests are also served without Redis.
      return status === 'down' ? { value: { status }, status: 503 } : { value: { status: 'ready' }, status: 200 }
    },
  }
}
