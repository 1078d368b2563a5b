/** Whether this process should get requests: GET /livez says that it lives, GET /readyz that it can answer, and is not about to stop. */
import type { RouteTarget } from '../pipeline/request/request.ts'
import type { Health } from './health.ts'

export type Probe = Extract<RouteTarget, { kind: 'probe' }>['probe']

export interface Readiness<H = Health> {
  /** From now on, /readyz says 503, and each answer asks its client to connect anew the next time. */
  beginDrain(): void
  isDraining(): boolean
  checkHealth(): Promise<H>
  probe(probe: Probe): Promise<{ value: { status: string }; status: number }>
}

/** A server listens only after its migration, so there is nothing to ask about that. */
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
      // Without Redis, requests are answered all the same.
      return status === 'down' ? { value: { status }, status: 503 } : { value: { status: 'ready' }, status: 200 }
    },
  }
}
