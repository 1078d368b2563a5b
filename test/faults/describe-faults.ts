/** Groups of tests that stop and freeze servers. They run with the real backend, on machines that can start private servers. */
import { describe, inject } from 'vitest'
import { missingServers } from './servers.ts'

/** Skips the group with the reason in its title. */
export function describeFaults(title: string, define: () => void): void {
  const reason = inject('real') ? missingServers : 'DATABASE_URL and REDIS_URL are not set'
  if (reason === null) describe(title, define)
  else describe.skip(`${title}: skipped, ${reason}`, define)
}
