/** Where the engines that the docs name are on this machine. */

export type Engine =
  | 'redis-server'
  | 'redis-sentinel'
  | 'redis-cli'
  | 'openssl'
  | 'haproxy'
  | 'nginx'
  | 'pgbouncer'
  | 'patroni'
  | 'etcd'
  | 'prometheus'
  | 'promtool'
  | 'pg_dump'
  | 'pg_restore'
  | 'psql'

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
