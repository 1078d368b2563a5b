/** Tests on the engines that the docs name. */
import { describe, inject } from 'vitest'
import { missingServers } from '../faults/servers.ts'
import { type Engine, findEngine } from './find-engine.ts'

/** Skipped with the reason in its title where an engine is missing, or there are no real stores. */
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
