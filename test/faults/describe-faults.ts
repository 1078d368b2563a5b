/** Where tests run that end and freeze servers: on the real backend, where servers of their own can be started. */
import { describe, inject } from 'vitest'
import { missingServers } from './servers.ts'

/** Skipped with the reason in its title. */
export function describeFaults(title: string, define: () => void): void {
  const reason = inject('real') ? missingServers : 'DATABASE_URL and REDIS_URL are not set'
  if (reason === null) describe(title, define)
  else describe.skip(`${title}: skipped, ${reason}`, define)
}
