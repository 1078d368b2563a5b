/**
 * Behaviour that depends on a server's own configuration: TLS, pg_hba.conf, passwords, the number of connections, standbys and extensions.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { chmod, copyFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Certificates, makeCertificates } from '../engines/redis-servers.ts'
import { duringTests } from '../harness/during-tests.ts'
import { waitUntil } from '../harness/wait-until.ts'
import { bareFlags, runPsql } from '../integration/run-psql.ts'
import { spawnProxy, startProxyProcess } from './proxy-process.ts'
import { missingServers, startPostgres, startStandby } from './servers.ts'

describe.skipIf(missingServers !== null)('a server’s configuration', () => {
  const server = duringTests(startPostgres)
  let certificates: Certificates
  let data: string
  let hba: string

  beforeAll(async () => {
    certificates = await makeCertificates()
    data = dirname(await sql('show hba_file'))
    hba = readFileSync(join(data, 'pg_hba.conf'), 'utf8')
    for (const [name, file] of [
      ['server.crt', certificates.cert],
      ['server.key', certificates.key],
    ] as const) {
      await copyFile(file, join(data, name))
      await Bun.spawn(['chown', 'postgres:', join(data, name)]).exited
      await chmod(join(data, name), 0o600)
    }
    await sql("create role host_user login superuser password 'right'")
  })
  afterAll(async () => {
    if (certificates) await rm(certificates.folder, { recursive: true })
  })

  async function sql(...lines: string[]): Promise<string> {
    // Uses the socket, which pg_hba.conf always admits here.
    const url = data ? `${server.url}?host=${data}` : server.url
    const { exitCode, stdout, stderr } = await runPsql(url, bareFlags, `${lines.join('\n;\n')}\n`)
    expect(stderr.replace(/^(WARNING|NOTICE).*$/gm, '').trim()).toBe('')
    expect(exitCode).toBe(0)
    return stdout.trim()
  }

  /** `local` connections remain trusted. */
  async function setHba(...lines: string[]): Promise<void> {
    writeFileSync(join(data, 'pg_hba.conf'), ['local all all trust', ...lines, ''].join('\n'))
    await sql('select pg_reload_conf()')
    // The reload is complete once a session reports a new load time.
    await reloaded()
  }

  async function reloaded(): Promise<void> {
    const before = await sql('select pg_conf_load_time()')
    await sql('select pg_reload_conf()')
    await waitUntil('it is loaded', async () => (await sql('select pg_conf_load_time()')) !== before)
  }

  const address = (query = '', user = 'host_user:right') =>
    `${server.url.replace('postgres@127.0.0.1', `${user}@localhost`)}${query}`

  /** Returns the output of a process whose start fails. */
  async function refusal(url: string, environment: Record<string, string> = {}): Promise<string> {
    const proxy = spawnProxy({ DATABASE_URL: url, METRICS_PORT: '0', PORT: '0', ...environment })
    expect(await proxy.ended()).toBe(1)
    return proxy.output()
  }

  /** Returns the state of TLS that a start logs. */
  async function startedWith(url: string, environment: Record<string, string> = {}): Promise<string | undefined> {
    const proxy = await startProxyProcess({ DATABASE_URL: url, METRICS_PORT: '0', ...environment })
    proxy.signal('SIGTERM')
    expect(await proxy.ended()).toBe(0)
    return /"tls":"(\w+)"/.exec(proxy.output())?.[1]
  }

  test('a wrong password, and a machine that pg_hba.conf does not list', { timeout: 120_000 }, async () => {
    await setHba('host all host_user 127.0.0.1/32 scram-sha-256', 'host all host_user ::1/128 scram-sha-256')
    expect(await startedWith(address())).toBe('none')
    const wrong = await refusal(address('', 'host_user:wrong'))
    expect(wrong).toMatch(/the password in DATABASE_URL is wrong/)
    expect(wrong).not.toContain('wrong@')
    await sql(`alter role host_user login password 'NEW-PASSWORD'`)
    expect(wrong).toContain(`    alter role host_user login password 'NEW-PASSWORD';`)
    expect(await startedWith(address('', 'host_user:NEW-PASSWORD'))).toBe('none')
    await sql(`alter role host_user login password 'right'`)
    await setHba('host all nobody 127.0.0.1/32 trust')
    const stranger = await refusal(address())
    expect(stranger).toMatch(/pg_hba.conf of the server does not let this machine in/)
    const line = /^ {4}(host .*)$/m.exec(stranger)?.[1] ?? ''
    await setHba(line)
    expect(await startedWith(address())).toBe('none')
  })

  test('TLS: as each sslmode demands, and reported at the start', { timeout: 240_000 }, async () => {
    await setHba('host all all all trust')
    expect(await refusal(address('?sslmode=require'))).toMatch(
      /the server does not support TLS, which DATABASE_URL requires/,
    )
    expect(await startedWith(address('?sslmode=prefer'))).toBe('none')
    await sql('alter system set ssl = on')
    await reloaded()
    expect(await startedWith(address())).toBe('encrypted')
    expect(await startedWith(address('?sslmode=disable'))).toBe('none')
    expect(await startedWith(address('?ssl=true'))).toBe('encrypted')
    for (const query of ['?sslmode=verify-full', '?sslmode=require&channel_binding=require'])
      expect(await refusal(address(query))).toMatch(
        /not signed by an authority that this machine trusts.*DATABASE_CA_FILE/s,
      )
    const authority = { DATABASE_CA_FILE: certificates.ca }
    expect(await startedWith(address(), authority)).toBe('verified')
    expect(await startedWith(address('?sslmode=require&channel_binding=require'), authority)).toBe('verified')
    const byNumber = address().replace('localhost', '127.0.0.1')
    expect(await refusal(byNumber, authority)).toMatch(/made out to another name/)
    expect(await startedWith(`${byNumber}?sslmode=verify-ca`, authority)).toBe('verified')
    // Hosts that accept only encrypted connections, and a line that accepts none.
    await setHba('hostssl all all all scram-sha-256')
    expect(await startedWith(address())).toBe('encrypted')
    expect(await refusal(address('?sslmode=disable'))).toMatch(/set sslmode=require in DATABASE_URL/)
    await setHba('hostnossl all all all scram-sha-256')
    expect(await startedWith(address())).toBe('none')
    expect(await refusal(address('?sslmode=require'))).toMatch(/pg_hba.conf/)
    await sql('alter system reset ssl')
    await reloaded()
  })

  test('a standby is distinguished from a read-only primary', { timeout: 120_000 }, async () => {
    writeFileSync(join(data, 'pg_hba.conf'), hba)
    await reloaded()
    const standby = await startStandby(server)
    const output = await refusal(standby.url)
    expect(output).toMatch(/it is a standby. Name the primary in DATABASE_URL/)
    await standby.remove()
  })

  test('all connections in use', { timeout: 120_000 }, async () => {
    writeFileSync(join(data, 'pg_hba.conf'), hba)
    await sql(
      'alter system set max_connections = 4',
      'alter system set superuser_reserved_connections = 0',
      'alter system set max_wal_senders = 0',
    )
    await sql('create role plain_user login')
    await server.stop()
    await server.start()
    const holders = Array.from({ length: 4 }, () =>
      Bun.spawn(['psql', server.url, '-qAt'], { stdin: 'pipe', stdout: 'pipe' }),
    )
    for (const holder of holders) {
      holder.stdin.write('select 1;\n')
      holder.stdin.flush()
      await holder.stdout.getReader().read()
    }
    const output = await refusal(server.url)
    expect(output).toMatch(/the server has as many connections as it takes/)
    for (const holder of holders) holder.stdin.end()
    for (const holder of holders) await holder.exited
    await sql(...[...output.matchAll(/^ {4}(.*)$/gm)].map(([, line]) => line ?? ''))
    await server.stop()
    await server.start()
    expect(await startedWith(server.url)).toBe('none')
  })

  test('no listener, and an unknown name', async () => {
    expect(await refusal('postgres://u@127.0.0.1:1/d')).toMatch(
      /nothing listens at 127.0.0.1:1\/d .*pg_isready -h 127.0.0.1 -p 1/s,
    )
    expect(await refusal('postgres://u@nowhere.invalid/d')).toMatch(
      /the name in nowhere.invalid:5432\/d cannot be resolved/,
    )
    expect(await refusal('postgres://u@127.0.0.1:1/d?sslmod=require')).toMatch(
      /without the parameter sslmod, which is not supported/,
    )
  })
})
