/** Paths of the engines on this machine. */

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
  | 'buildah'

/** Debian installs some of them in directories that are only in root's PATH. */
const PATH = `${process.env.PATH ?? ''}:/usr/sbin:/sbin`

export function findEngine(engine: Engine): string | null {
  return Bun.which(engine, { PATH })
}

/** Returns the path of an installed engine. */
export function engineAt(engine: Engine): string {
  const path = findEngine(engine)
  if (path === null) throw new Error(`${engine} is not installed`)
  return path
}
