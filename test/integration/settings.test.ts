import { expect, test } from 'vitest'
import { admitRequests } from '../../src/postgres/admit-requests.ts'
import { callFunction } from '../../src/postgres/call.ts'
import { migrate } from '../../src/postgres/migrate.ts'
import { describeBackends } from '../harness/backends.ts'

/** A setting of each type, as the next release might add it. */
const ROWS = `insert into setting_kinds (name, type, preset, least, most, words, title, help) values
  ('greeting', 'choice', 'short', null, null, '{short,long}', 'Greeting', 'How long it is.'),
  ('greetings', 'whole', '3', 0, 9, '{"whole times"}', 'Greetings', 'How many there are.'),
  ('warmth', 'number', '0.5', 0, 1, '{"a number"}', 'Warmth', 'Of the greeting.'),
  ('greeted_by', 'models', '{a,b}', 0, 3, '{"up to 3 models"}', 'By whom', 'Who greets.')`

describeBackends('a setting', backend => {
  test('is a row: from the next deployment on all projects have it', async () => {
    const { database } = await backend.open()
    const read = async () => {
      const [reply] = await admitRequests({ ...database }, [{ keyHash, requests: 0 }])
      return reply?.resolvedKey
    }
    const deploy = async () => {
      await database.call(`update schema_migrations set checksum = 'another' where name like 'settings/%'`, [])
      expect((await migrate(database)).applied).toContain('settings')
    }
    await callFunction(database, 'create_project', { project: 'acme', plan: 'pro' })
    const keyHash = new Bun.CryptoHasher('sha256')
      .update(await callFunction(database, 'issue_key', { project: 'acme', key_type: 'project', key_name: 'ci' }))
      .digest('hex')

    await database.call(ROWS, [])
    await deploy()
    const preset = { greeting: 'short', greetings: 3, warmth: 0.5, greeted_by: ['a', 'b'] }
    expect(await read()).toMatchObject(preset)

    await database.call(`select set_settings('acme', '{"greeting": "long", "greetings": 9, "greeted_by": ["c"]}')`, [])
    const changed = { greeting: 'long', greetings: 9, warmth: 0.5, greeted_by: ['c'] }
    expect(await read()).toMatchObject(changed)
    const refused = 'value "10" is not valid for setting greetings: use whole times from 0 to 9'
    await expect(database.call(`select set_setting('acme', 'greetings', '10')`, [])).rejects.toThrow(refused)
    // An operator who changes the row is also rejected.
    await expect(database.call('update projects set greetings = 10', [])).rejects.toThrow(refused)
    await expect(database.call('update projects set greeting = null', [])).rejects.toThrow('greeting')

    // A release with another preset: it applies to new projects.
    await database.call(`update setting_kinds set preset = '7' where name = 'greetings'`, [])
    await deploy()
    expect(await read()).toMatchObject(changed)
    await callFunction(database, 'create_project', { project: 'new', plan: 'pro' })
    expect(await database.call('select greetings::integer from projects order by id', [])).toEqual([
      { greetings: 9 },
      { greetings: 7 },
    ])
  })
  test('holds durations for all models and for single models', async () => {
    const { database } = await backend.open()
    await callFunction(database, 'create_project', { project: 'acme', plan: 'pro' })
    const set = (value: string) =>
      callFunction(database, 'set_setting', { project: 'acme', setting: 'idle_timeout_ms', value })
    for (const value of ['', '1', '3600000', 'gpt-4o=5', '20000, gpt-4o=90000, openai/*=5000']) {
      await set(value)
      const [row] = await database.call<{ idle_timeout_ms: string[] }>('select idle_timeout_ms from projects', [])
      expect(row?.idle_timeout_ms).toEqual(value === '' ? [] : value.split(', '))
    }
    for (const value of ['0', '3600001', '1.5', '-1', 'soon', 'gpt-4o=', '=5', '1,2', 'gpt-4o=1,gpt-4o=2'])
      await expect(set(value), value).rejects.toThrow(
        `value "${value}" is not valid for setting idle_timeout_ms: use whole milliseconds from 1 to 3600000, for all`,
      )
  })

  test('holds corrected contexts', async () => {
    const { database } = await backend.open()
    await callFunction(database, 'create_project', { project: 'acme', plan: 'pro' })
    const set = (value: string) =>
      callFunction(database, 'set_setting', { project: 'acme', setting: 'semantic_contexts', value })
    const [one, other] = ['0123456789abcdef', 'a'.repeat(16)]
    for (const value of ['', `${one}=question`, `${one}=wording, ${other}=question`]) {
      await set(value)
      const [row] = await database.call<{ semantic_contexts: string[] }>('select semantic_contexts from projects', [])
      expect(row?.semantic_contexts).toEqual(value === '' ? [] : value.split(', '))
    }
    const listed = Array.from({ length: 101 }, (_, at) => `${at.toString(16).padStart(16, '0')}=question`).join()
    for (const value of [one, `${one}=`, `${one}=maybe`, `abc=question`, `${one}=question,${one}=wording`, listed])
      await expect(set(value), value).rejects.toThrow(
        'is not valid for setting semantic_contexts: use up to 100 hashes',
      )
  })
})
