/** Tests with the servers and tools that the documentation names. */
import { describe, inject } from 'vitest'
import { missingServers } from '../faults/servers.ts'
import { type Engine, findEngine } from './find-engine.ts'

/** Skips the group with the reason in its title, if an engine is missing or no real stores are configured. */
export function describeEngines(title: string, engines: readonly Engine[], define: () => void): void {
  const missing = engines.filter(engine => findEngine(engine) === null)
  const reason = inject('real')
    ? missing.length > 0
      ? `${missing.join(', ')} not installed`
      : missingServers
    : 'DATABASE_URL and REDIS_URL are not set'
  if (reason === null) describe(title, define)
  else describe.skip(`${title}: skipped, ${reason}`, define)
}
