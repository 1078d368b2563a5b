/** A PgBouncer for one test, in front of a private PostgreSQL. */
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findFreePort } from '../../scripts/bench/processes.ts'
import { asPostgres, createServerProcess } from '../faults/servers.ts'
import { engineAt } from './find-engine.ts'

export interface Pooler {
  url: string
  /** Such as 1.18.0. */
  version: string
  remove(): Promise<void>
}

/** Starts it in transaction mode with a small pool, so that clients share server connections. `settings` are lines of its configuration. */
export async function startPgBouncer(databaseUrl: string, settings: readonly string[] = []): Promise<Pooler> {
  const folder = await mkdtemp(join(tmpdir(), 'model-proxy-pgbouncer-'))
  await chmod(folder, 0o755)
  const { hostname, port: serverPort, pathname } = new URL(databaseUrl)
  const port = findFreePort()
  const url = `postgres://postgres@127.0.0.1:${port}${pathname}`
  const file = join(folder, 'pgbouncer.ini')
  await Bun.write(join(folder, 'users'), '"postgres" ""\n')
  await Bun.write(
    file,
    [
      '[databases]',
      `* = host=${hostname} port=${serverPort} user=postgres`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = trust',
      `auth_file = ${join(folder, 'users')}`,
      'pool_mode = transaction',
      'default_pool_size = 4',
      ...settings,
      '',
    ].join('\n'),
  )
  const server = createServerProcess({
    command: asPostgres([engineAt('pgbouncer'), file]),
    stopSignal: 'SIGINT',
    answers: async () =>
      (await Bun.spawn(['psql', url, '-qAtc', 'select 1'], { stdout: 'ignore', stderr: 'ignore' }).exited) === 0,
  })
  await server.start()
  return {
    url,
    version: /(\d+\.\d+\.\d+)/.exec(Bun.spawnSync([engineAt('pgbouncer'), '--version']).stdout.toString())?.[1] ?? '',
    async remove() {
      await server.kill()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
