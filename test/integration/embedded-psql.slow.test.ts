import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { type EmbeddedDatabase, openEmbeddedDatabase } from '../../src/postgres/embedded/embedded.ts'
import { queriesOf } from '../harness/queries.ts'
import { bareFlags, psqlPath, runPsql } from './run-psql.ts'

const PASSWORD = 'correct-horse'

const title = psqlPath ? 'psql on the embedded database' : 'skipped: psql is not installed'

describe.skipIf(!psqlPath)(title, () => {
  let database: EmbeddedDatabase
  let url: string

  beforeAll(async () => {
    database = await open(0)
    url = `postgres://postgres:${PASSWORD}@127.0.0.1:${database.psqlPort}/postgres`
    await database.runScript('create table notes (note text primary key)')
  })
  afterAll(() => database.close())

  async function open(port: number, directory: string | null = null): Promise<EmbeddedDatabase> {
    const template = new Blob([await Bun.file(inject('embeddedTemplate')).bytes()])
    return openEmbeddedDatabase({ directory, psql: { port, password: PASSWORD }, template })
  }

  async function query<T>(text: string): Promise<T[]> {
    return (await sql.raw<T>(text).execute(queriesOf(database))).rows
  }

  const notes = async () => (await query<{ note: string }>('select note from notes order by 1')).map(row => row.note)

  const psql = (...commands: string[]) => runPsql(url, [...bareFlags, ...commands.flatMap(text => ['-c', text])])

  /** A psql process that stays open: `say` sends lines and resolves once psql has executed them. */
  function openPsql(of = url) {
    const running = Bun.spawn([psqlPath ?? 'psql', of, '-XqAt'], { stdin: 'pipe', stdout: 'pipe', stderr: 'pipe' })
    const reader = running.stdout.getReader()
    const decoder = new TextDecoder()
    let markers = 0
    return {
      running,
      async say(lines: string): Promise<string> {
        const marker = `said ${++markers}\n`
        running.stdin.write(`${lines}\n\\echo ${marker}`)
        running.stdin.flush()
        let output = ''
        while (!output.endsWith(marker)) {
          const { value, done } = await reader.read()
          if (done) return output
          output += decoder.decode(value, { stream: true })
        }
        return output.slice(0, -marker.length)
      },
      async kill() {
        running.kill('SIGKILL')
        await running.exited
      },
    }
  }

  /** Sends raw bytes. Resolves with everything that comes back until the connection ends. */
  function exchange(messages: string[]): Promise<string> {
    return new Promise((resolve, reject) => {
      let received = ''
      const socket = connect(database.psqlPort ?? 0, '127.0.0.1', () => socket.write(messages.join(''), 'latin1'))
      socket.on('data', data => {
        received += data.toString('latin1')
      })
      socket.on('close', () => resolve(received))
      socket.on('error', reject)
    })
  }

  test('consecutive sessions, including a failing one, leave everything in order', async () => {
    expect(await psql('select 1')).toEqual({ exitCode: 0, stdout: '1\n', stderr: '' })
    expect(await psql('select nonsense')).toMatchObject({ exitCode: 1 })
    expect(await query('select 2 as two')).toEqual([{ two: 2 }])
    expect(await psql('begin', 'select nonsense')).toMatchObject({ exitCode: 1 })
    expect(await query('select 3 as three')).toEqual([{ three: 3 }])
    expect(await psql('select 4')).toMatchObject({ exitCode: 0, stdout: '4\n' })
  })

  test('simultaneous sessions, each with a transaction, and the server’s own queries between them', async () => {
    const sessions = Array.from({ length: 6 }, (_, n) =>
      psql('begin', `insert into notes values ('at once ${n}')`, 'select count(*) > 0 from notes', 'commit'),
    )
    const own = Array.from({ length: 50 }, (_, n) => query<{ n: number }>(`select ${n} as n`))
    expect((await Promise.all(own)).map(([row]) => row?.n)).toEqual(Array.from({ length: 50 }, (_, n) => n))
    for (const outcome of await Promise.all(sessions)) {
      expect(outcome).toEqual({ exitCode: 0, stdout: 't\n', stderr: '' })
    }
    expect((await notes()).filter(note => note.startsWith('at once'))).toHaveLength(6)
  })

  test('the server’s own statements never join a session’s transaction', async () => {
    const session = openPsql()
    await session.say("begin; insert into notes values ('rolled back');")
    const own = query("insert into notes values ('own')")
    await session.say('rollback;')
    await own
    expect(await notes()).toContain('own')
    expect(await notes()).not.toContain('rolled back')
    await session.kill()
  })

  test('a session killed inside its transaction is rolled back', async () => {
    const session = openPsql()
    await session.say("begin; insert into notes values ('killed');")
    await session.kill()
    expect(await notes()).not.toContain('killed')
    expect(await psql('select 1')).toMatchObject({ exitCode: 0 })
  })

  test('a transaction left open is ended once the server waits for it', async () => {
    const session = openPsql()
    await session.say("begin; insert into notes values ('forgotten');")
    // The session would stay open forever: this returns only because the server ends it.
    expect(await notes()).not.toContain('forgotten')
    await session.say('select 1;')
    await session.running.stdin.end()
    expect(await new Response(session.running.stderr).text()).toContain('its open transaction blocks the proxy')
    expect(await session.running.exited).not.toBe(0)
  })

  test('settings, roles and temporary tables stay in their session', async () => {
    const session = openPsql()
    await session.say("set search_path = nowhere; set timezone = 'Asia/Tokyo'; set client_encoding = 'LATIN1';")
    await session.say('create role somebody; set role somebody;')
    expect(
      await query(
        "select current_setting('search_path') as path, current_setting('client_encoding') as encoding, current_user",
      ),
    ).toEqual([{ path: 'model_proxy, public', encoding: 'UTF8', current_user: 'postgres' }])
    expect(await session.say('show search_path; show timezone; select current_user;')).toBe(
      'nowhere\nAsia/Tokyo\nsomebody\n',
    )
    await session.say('reset role; create temporary table mine (a int);')
    await session.kill()
    expect(await psql('show search_path')).toMatchObject({ stdout: 'model_proxy, public\n' })
    expect(await psql("select to_regclass('mine') is null")).toMatchObject({ stdout: 't\n' })
  })

  test('COPY exports rows; COPY into a table is rejected with a reason and breaks nothing', async () => {
    const refused = await runPsql(url, [...bareFlags, '-c', 'copy notes from stdin'], 'copied\n')
    expect(refused.exitCode).toBe(1)
    expect(refused.stderr).toContain('not available on the embedded database; use INSERT')
    const session = await openWire()
    const [parse, bind, execute, sync] = [
      message('P', '\0copy notes from stdin\0\0\0'),
      message('B', '\0\0\0\0\0\0\0\0'),
      message('E', '\0\0\0\0\0'),
      message('S', ''),
    ]
    expect(await session.say(parse, bind, execute, sync)).toContain(
      'not available on the embedded database; use INSERT',
    )
    // A driver that had rows to send continues like this.
    expect(await session.say(message('d', 'copied\n'), message('c', ''), message('Q', "select 'on'\0"))).toContain('on')
    session.close()
    expect(await psql("copy (values ('out')) to stdout")).toMatchObject({ exitCode: 0, stdout: 'out\n' })
    expect(await notes()).not.toContain('copied')
  })

  /** A session that a driver has logged in. The test then writes its own messages on the socket. */
  async function openWire() {
    const socket = connect(database.psqlPort ?? 0, '127.0.0.1')
    // The type of the options has no `socket`.
    const options = { max: 1, fetch_types: false, socket: () => socket }
    const driver = postgres(url, options)
    await driver`select 1`
    socket.removeAllListeners('data')
    return {
      /** Sends messages. Resolves with the reply once the database is ready for more. */
      say(...messages: string[]): Promise<string> {
        const { promise, resolve, reject } = Promise.withResolvers<string>()
        let received = ''
        socket.once('close', () => reject(new Error(`The session was closed after: ${received}`)))
        socket.on('data', function listen(data) {
          received += data.toString('latin1')
          if (!received.endsWith(message('Z', 'I'))) return
          socket.removeListener('data', listen)
          resolve(received)
        })
        socket.write(messages.join(''), 'latin1')
        return promise
      },
      close: () => void socket.destroy(),
    }
  }

  test('COPY starts no program', async () => {
    for (const command of ["copy notes from program 'locale -a'", "copy (select 1) to program 'cat'"]) {
      const refused = await psql(command)
      expect(refused.exitCode).toBe(1)
      expect(refused.stderr).toContain('could not execute command')
    }
    expect(await psql('select 1')).toMatchObject({ exitCode: 0 })
  })

  test('rejects a login without the password', async () => {
    const wrong = url.replace(PASSWORD, 'wrong-horse')
    expect(await runPsql(wrong, [...bareFlags, '-c', 'select 1'])).toMatchObject({ exitCode: 2, stdout: '' })
    expect((await runPsql(wrong, [...bareFlags, '-c', 'select 1'])).stderr).toContain('password authentication failed')
    const none = await runPsql(url.replace(`:${PASSWORD}`, ''), [...bareFlags, '-w', '-c', 'select 1'])
    expect(none).toMatchObject({ exitCode: 2, stdout: '' })
    const startup = '\0\0\0\x17\0\x03\0\0user\0postgres\0\0'
    const query = 'Q\0\0\0\x0dselect 1\0'
    expect(await exchange([startup + query])).toContain('expected a password message')
  })

  test('ends a statement that blocks the server; the server waits for a moment, and loses nothing', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'model-proxy-embedded-'))
    const other = await open(0, directory)
    const otherUrl = url.replace(`:${database.psqlPort}/`, `:${other.psqlPort}/`)
    const own = async <T>(text: string) => (await sql.raw<T>(text).execute(queriesOf(other))).rows
    await own('create table counts (n int)')
    await own('set synchronous_commit = off')
    await own('insert into counts select generate_series(1, 100)')
    const long = openPsql(otherUrl)
    expect(await long.say('select 1;')).toBe('1\n')
    const ended = long.say('select count(*) from generate_series(1, 200000000);')
    // The query has started by then, because nothing else runs.
    await Bun.sleep(700)
    const inserts = Array.from({ length: 5 }, (_, n) =>
      own<{ n: number }>(`insert into counts values (${n}) returning n`),
    )
    // These arrive while no worker runs: between the end of one and the start of the next.
    const during = ended.then(() =>
      Promise.all([1, 2, 3].map(n => runPsql(otherUrl, [...bareFlags, '-c', `select ${n}`]))),
    )
    expect((await Promise.all(inserts)).map(([row]) => row?.n)).toEqual([0, 1, 2, 3, 4])
    expect(await ended).toBe('')
    expect(await during).toEqual([1, 2, 3].map(n => ({ exitCode: 0, stdout: `${n}\n`, stderr: '' })))
    long.running.stdin.end()
    expect(await new Response(long.running.stderr).text()).toContain('kept the proxy’s requests waiting')
    expect(await long.running.exited).toBe(2)
    expect(await own('select count(*)::int as n from counts')).toEqual([{ n: 105 }])
    expect(await runPsql(otherUrl, [...bareFlags, '-c', 'select 1'])).toMatchObject({ exitCode: 0, stdout: '1\n' })
    await other.close()
    await rm(directory, { recursive: true })
  })

  test('settings of the role or the database change nothing for the proxy, neither at the next start nor after a session', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'model-proxy-embedded-'))
    const before = await open(0, directory)
    await before.runScript(`alter role postgres set datestyle = 'German, DMY'; alter role postgres set bytea_output = 'escape';
      alter database postgres set array_nulls = off`)
    await before.close()
    const after = await open(0, directory)
    const state = () =>
      after.call(
        `select current_setting('datestyle') as dates, current_setting('bytea_output') as bytes, current_setting('array_nulls') as nulls`,
        [],
      )
    const right = [{ dates: 'ISO, MDY', bytes: 'hex', nulls: 'on' }]
    expect(await state()).toEqual(right)
    const afterUrl = url.replace(`:${database.psqlPort}/`, `:${after.psqlPort}/`)
    expect(await runPsql(afterUrl, [...bareFlags, '-c', 'set datestyle = sql', '-c', 'show datestyle'])).toMatchObject({
      exitCode: 0,
      stdout: 'SQL, MDY\n',
    })
    expect(await state()).toEqual(right)
    await after.close()
    await rm(directory, { recursive: true })
  })

  test('a driver’s parse, bind and execute are not interleaved with other statements', async () => {
    const driver = postgres(url, { max: 1, onnotice: () => {}, fetch_types: false })
    const answers = Array.from({ length: 40 }, async (_, n) => {
      const [[theirs], [own]] = await Promise.all([
        driver<{ n: number }[]>`select ${n}::int as n, ${'text'}::text as t`,
        sql<{ n: number }>`select ${n * 2}::int as n`.execute(queriesOf(database)).then(result => result.rows),
      ])
      return [theirs?.n, own?.n]
    })
    expect(await Promise.all(answers)).toEqual(Array.from({ length: 40 }, (_, n) => [n, n * 2]))
    await driver.end()
  })

  test('results of many megabytes arrive whole', async () => {
    const { exitCode, stdout } = await psql("select repeat('x', 1000) from generate_series(1, 8000)")
    expect(exitCode).toBe(0)
    expect(stdout).toBe(`${'x'.repeat(1000)}\n`.repeat(8000))
  })

  test('rejects other protocols', async () => {
    for (const noise of ['GET / HTTP/1.1\r\nHost: x\r\n\r\n', '\0\0\0\0\0\0\0\0\0', '\0\0\0\x08\0\x02\0\0']) {
      const reply = await exchange([noise])
      expect(reply).toMatch(/^E.*FATAL/s)
    }
    expect(await psql('select 1')).toMatchObject({ exitCode: 0 })
  })

  test('rejects one session too many with a message', async () => {
    const sessions = Array.from({ length: 10 }, openPsql)
    await Promise.all(sessions.map(session => session.say('select 1;')))
    const refused = await psql('select 1')
    await Promise.all(sessions.map(session => session.kill()))
    expect(refused.exitCode).toBe(2)
    expect(refused.stderr).toContain('accepts at most 10 psql sessions')
    await expect.poll(async () => (await psql('select 1')).exitCode).toBe(0)
  })

  test('a port in use prevents the start', async () => {
    await expect(open(database.psqlPort ?? 0)).rejects.toThrow(
      `port ${database.psqlPort} for psql is not available; set EMBEDDED_PG_PORT`,
    )
  })

  test('closing does not wait for a session’s open transaction', async () => {
    const other = await open(0)
    const session = Bun.spawn(
      [psqlPath ?? 'psql', `postgres://postgres:${PASSWORD}@127.0.0.1:${other.psqlPort}/postgres`, '-Xq'],
      {
        stdin: 'pipe',
        stdout: 'pipe',
        stderr: 'pipe',
      },
    )
    session.stdin.write('begin; select 1;\n')
    session.stdin.flush()
    await session.stdout.getReader().read()
    await other.close()
    session.stdin.write('select 1;\n')
    await session.stdin.end()
    // The session was cut off. It did not get the warning that follows half a second of blocking.
    expect(await new Response(session.stderr).text()).not.toContain('blocks the proxy')
    session.kill()
    await session.exited
  })
})

/** Encodes a message of https://www.postgresql.org/docs/current/protocol-message-formats.html */
function message(type: string, content: string): string {
  const length = Buffer.alloc(4)
  length.writeInt32BE(content.length + 4)
  return `${type}${length.toString('latin1')}${content}`
}
