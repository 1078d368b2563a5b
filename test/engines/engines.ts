/** The engines that the docs name, as tests find them on this machine. */
import { describe, inject } from 'vitest'
import { missingServers } from '../faults/servers.ts'

export type Engine =
  | 'redis-server'
  | 'redis-sentinel'
  | 'redis-cli'
  | 'openssl'
  | 'haproxy'
  | 'nginx'
  | 'pgbouncer'
  | 'prometheus'
  | 'promtool'

/** Debian keeps some of them where only root's path leads. */
const PATH = `${process.env.PATH ?? ''}:/usr/sbin:/sbin`

export function findEngine(engine: Engine): string | null {
  return Bun.which(engine, { PATH })
}

/** The path of an engine that is there. */
export function engineAt(engine: Engine): string {
  const path = findEngine(engine)
  if (path === null) throw new Error(`${engine} is not installed`)
  return path
}

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
