import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import type { Database } from '../../src/postgres/database.ts'
import { openEmbeddedDatabase } from '../../src/postgres/embedded/embedded.ts'
import { openServerDatabase } from '../../src/postgres/server-database.ts'
import { queriesOf } from '../harness/queries.ts'
import { runAsAdmin } from '../harness/run-as-admin.ts'
import { nameTablesIn } from '../harness/search-path.ts'
import { bareFlags, type PsqlOutcome, psqlPath, runPsql } from './run-psql.ts'

interface Backend {
  database: Database
  url: string
  drop(): Promise<void>
}

const scriptsFolder = fileURLToPath(new URL('../../scripts/', import.meta.url))

async function openEmbedded(): Promise<Backend> {
  const template = new Blob([await Bun.file(inject('embeddedTemplate')).bytes()])
  const database = await openEmbeddedDatabase({ directory: null, psql: { port: 0, password: 'test' }, template })
  return {
    database,
    url: `postgres://postgres:test@127.0.0.1:${database.psqlPort}/postgres`,
    drop: () => database.close(),
  }
}

async function openReal(adminUrl: string, template: string): Promise<Backend> {
  const name = `operators_${crypto.randomUUID().replaceAll('-', '')}`
  await runAsAdmin(adminUrl, `create database ${name} template ${template}`, nameTablesIn(name))
  const url = new URL(adminUrl)
  url.pathname = `/${name}`
  const database = openServerDatabase({ url: url.href, maxConnections: 2 })
  return {
    database,
    url: url.href,
    async drop() {
      await database.close()
      await runAsAdmin(adminUrl, `drop database ${name} with (force)`)
    },
  }
}

const real = inject('real')
const backends = [
  { name: 'embedded', open: openEmbedded },
  ...(real ? [{ name: 'real', open: () => openReal(real.adminUrl, real.template) }] : []),
]

const title = psqlPath ? 'psql' : 'skipped: psql is not installed'

describe.skipIf(!psqlPath)(title, () => {
  describe.each(backends)('operators’ scripts, $name', ({ open }) => {
    let backend: Backend

    beforeAll(async () => {
      backend = await open()
    })
    afterAll(() => backend.drop())

    function run(script: string, variables: Record<string, string>, flags: readonly string[] = bareFlags) {
      const given = Object.entries(variables).flatMap(([name, value]) => ['-v', `${name}=${value}`])
      return runPsql(backend.url, [...flags, ...given, '-f', `${scriptsFolder}${script}.sql`])
    }

    async function succeed(script: string, variables: Record<string, string>): Promise<string> {
      const outcome = await run(script, variables)
      expect(outcome).toMatchObject({ exitCode: 0, stderr: '' })
      return outcome.stdout
    }

    async function newProject(plan = 'pro'): Promise<string> {
      const project = `p${crypto.randomUUID()}`
      await succeed('create-project', { project, plan })
      return project
    }

    /** All data that an operator's script may change. */
    async function everything(): Promise<unknown[]> {
      const { rows } = await sql`
        select (select json_agg(p order by p.id) from projects p) as projects,
          (select json_agg(k order by k.id) from api_keys k) as keys,
          (select count(*) from cache_entries) as entries`.execute(queriesOf(backend.database))
      return rows
    }

    function expectOneLine(outcome: PsqlOutcome, message: RegExp) {
      expect(outcome.exitCode).toBe(3)
      expect(outcome.stdout).toBe('')
      expect(outcome.stderr).toMatch(/^psql:\S+:\d+: ERROR: {2}[^\n]+\n$/)
      expect(outcome.stderr).toMatch(message)
    }

    test('create-project prints the id of the new project', async () => {
      const project = `p${crypto.randomUUID()}`
      const printed = await succeed('create-project', { project, plan: 'enterprise' })
      expect(printed).toMatch(/^\d+\n$/)
      const { rows } = await sql`select id, plan from projects where name = ${project}`.execute(
        queriesOf(backend.database),
      )
      expect(rows).toEqual([{ id: Number(printed), plan: 'enterprise' }])
    })

    test('create-key prints a key of which only the hash is stored', async () => {
      const project = await newProject()
      for (const [type, start] of [
        ['project', 'lgw_proj_'],
        ['test', 'lgw_test_'],
      ] as const) {
        const key = (await succeed('create-key', { project, type, name: `key of ${type}` })).trimEnd()
        expect(key).toMatch(new RegExp(`^${start}[0-9A-Za-z]{32}$`))
        const hash = new Bun.CryptoHasher('sha256').update(key).digest('hex')
        const { rows } =
          await sql`select prefix, type, expires_at from api_keys where key_hash = decode(${hash}, 'hex')`.execute(
            queriesOf(backend.database),
          )
        expect(rows).toEqual([{ prefix: key.slice(0, 17), type, expires_at: null }])
      }
    })

    test('create-key accepts an expiry, in UTC by default', async () => {
      const project = await newProject()
      await succeed('create-key', { project, type: 'test', name: 'a date', expires: '2999-01-01' })
      await succeed('create-key', { project, type: 'test', name: 'a time', expires: '2999-01-01T12:00:00+02:00' })
      await succeed('create-key', { project, type: 'test', name: 'empty', expires: '' })
      const listed = (await succeed('list-keys', { project })).trimEnd().split('\n')
      expect(listed.map(line => line.split('|')[4])).toEqual(['2999-01-01T00:00:00Z', '2999-01-01T10:00:00Z', ''])
    })

    test('list-deliveries shows a project’s deliveries, and resend-delivery repeats one', async () => {
      const project = await newProject()
      expect(await succeed('list-deliveries', { project })).toBe('')
      await sql`select send_test_event(${project}::text, add_webhook(${project}::text, 'https://example.com/', '{}', ''))`.execute(
        queriesOf(backend.database),
      )
      await sql`update event_deliveries set attempts = 9, not_before = null, status = 500, problem = 'it answered 500'`.execute(
        queriesOf(backend.database),
      )
      const listed = await succeed('list-deliveries', { project })
      expect(listed).toMatch(
        /^delivery_\d+\|failed\|webhook\.test\|[^|]+\|9\|500\|it answered 500\|https:\/\/example\.com\/\n$/,
      )
      await succeed('resend-delivery', { project, delivery: listed.split('|')[0] ?? '' })
      expect(await succeed('list-deliveries', { project })).toContain('|pending|webhook.test|')
      expectOneLine(
        await run('resend-delivery', { project, delivery: 'delivery_0' }),
        /no delivery delivery_0 in project/,
      )
    })

    test('settle-request replaces an estimated cost, once', async () => {
      const project = await newProject()
      await sql`select maintain_usage_partitions()`.execute(queriesOf(backend.database))
      await sql`insert into usage_records (recorded_at, project_id, request_id, status, endpoint, model, streamed, prompt_tokens,
          cached_prompt_tokens, completion_tokens, tokens_saved, cost_usd, cost_estimated, doubtful_usd, saved_usd, latency_ms, duration_ms, key_id)
        values (now(), find_project(${project}), 'req_1', 499, 'chat', 'o3', true, 20, 0, 12, 0, 0.0002, 'client_left', 1.25, 0, 1, 1, 0)`.execute(
        queriesOf(backend.database),
      )
      for (const usd of ['-1', 'nothing'])
        expectOneLine(await run('settle-request', { project, request: 'req_1', usd }), /cost must be|invalid input/)
      expect(await succeed('settle-request', { project, request: 'req_1', usd: '0.5', prompt_tokens: '30' })).toBe('\n')
      const read = sql<{
        usd: number
        prompt_tokens: number
      }>`select cost_usd::float8 as usd, prompt_tokens from usage_records
        where project_id = find_project(${project}) and cost_estimated is null`
      expect((await read.execute(queriesOf(backend.database))).rows).toEqual([{ usd: 0.5, prompt_tokens: 30 }])
      expectOneLine(await run('settle-request', { project, request: 'req_1', usd: '1' }), /whose cost is estimated/)
      expectOneLine(await run('settle-request', { project, usd: '1' }), /request is missing/)
    })

    test('list-keys shows every key and no secret', async () => {
      const project = await newProject()
      expect(await succeed('list-keys', { project })).toBe('')
      const first = (await succeed('create-key', { project, type: 'project', name: "Zoë's | key" })).trimEnd()
      const second = (await succeed('create-key', { project, type: 'test', name: 'second' })).trimEnd()
      await succeed('deactivate-key', { key: second })
      const lines = (await succeed('list-keys', { project })).trimEnd().split('\n')
      const time = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`
      expect(lines).toHaveLength(2)
      expect(lines[0]).toMatch(new RegExp(`^${first.slice(0, 17)}\\|project\\|active\\|${time}\\|\\|\\|Zoë's \\| key$`))
      expect(lines[1]).toMatch(new RegExp(`^${second.slice(0, 17)}\\|test\\|deactivated\\|${time}\\|\\|\\|second$`))
    })

    test('deactivate-key accepts a whole key or its prefix, with an ellipsis or without, repeatedly', async () => {
      const project = await newProject()
      const key = (await succeed('create-key', { project, type: 'project', name: 'ci' })).trimEnd()
      const prefix = key.slice(0, 17)
      for (const given of [`${prefix}…`, `${prefix}...`, prefix, key]) {
        expect(await succeed('deactivate-key', { key: given })).toBe(`${prefix}\n`)
      }
      const hash = new Bun.CryptoHasher('sha256').update(key).digest('hex')
      const { rows } = await sql<{
        verdict: string
      }>`select verdict from admit(array[${hash}], array[1], null, null, null, false, 50)`.execute(
        queriesOf(backend.database),
      )
      expect(rows).toEqual([{ verdict: 'disabled' }])
    })

    test('the name of a deactivated key can be used again', async () => {
      const project = await newProject()
      const old = (await succeed('create-key', { project, type: 'project', name: 'ci' })).trimEnd()
      await succeed('deactivate-key', { key: old })
      await succeed('create-key', { project, type: 'project', name: 'ci' })
    })

    test('rejects a prefix that two keys share', async () => {
      const project = await newProject()
      await sql`
        insert into api_keys (project_id, key_hash, prefix, type, name)
        select find_project(${project}), sha256(convert_to(n::text || ${project}, 'UTF8')), 'lgw_proj_SamePfx1', 'project', 'n' || n
        from generate_series(1, 2) n`.execute(queriesOf(backend.database))
      const before = await everything()
      expectOneLine(await run('deactivate-key', { key: 'lgw_proj_SamePfx1' }), /several keys begin with/)
      const longer = await run('deactivate-key', { key: 'lgw_proj_SamePfx1xY' })
      expectOneLine(
        longer,
        /no such key: several keys begin with "lgw_proj_SamePfx1", and it is none of them; give a whole/,
      )
      expect(await everything()).toEqual(before)
    })

    test('rejects a text that is longer than the prefix and no whole key, and says so', async () => {
      const project = await newProject()
      const key = (await succeed('create-key', { project, type: 'project', name: 'ci' })).trim()
      const before = await everything()
      for (const given of [
        key.slice(0, 18),
        key.slice(0, 30),
        key.slice(0, -1),
        `${key}x`,
        `${key.slice(0, 17)}0000`,
      ]) {
        for (const [script, more] of [
          ['set-key-limits', { requests_per_minute: '10' }],
          ['deactivate-key', {}],
        ] as const) {
          const ended = await run(script, { key: given, ...more })
          expectOneLine(
            ended,
            new RegExp(
              `no such key: it begins with "${key.slice(0, 17)}", as the key "ci" of the project "${project}" does, but is not the whole of that; give these 17 characters alone, or the whole key`,
            ),
          )
          // No other part of a key reaches a log.
          expect(JSON.stringify(ended)).not.toContain(given)
        }
      }
      expect(await everything()).toEqual(before)
      await succeed('set-key-limits', { key: `${key.slice(0, 17)}…`, requests_per_minute: '10' })
    })

    test('set-key-limits prints nothing and sets the given limits; rotate-key prints only the new key', async () => {
      const project = await newProject()
      const key = (await succeed('create-key', { project, type: 'project', name: 'ci' })).trim()
      const limits = async () =>
        (
          await sql<{
            of: string
          }>`select concat_ws(' ', requests_per_minute, tokens_per_minute, allowed_models, allowed_addresses) as of from api_keys
          where project_id = find_project(${project}) order by id`.execute(queriesOf(backend.database))
        ).rows.map(({ of }) => of)
      await succeed('set-key-limits', { key, requests_per_minute: '10', tokens_per_minute: '5000' })
      expect(
        await succeed('set-key-limits', { key, allowed_models: 'gpt-4o*, o3', allowed_addresses: '::1,10.0.0.0/8' }),
      ).toBe('')
      expect(await limits()).toEqual(['10 5000 {gpt-4o*,o3} {::1/128,10.0.0.0/8}'])
      await succeed('set-key-limits', {
        key,
        requests_per_minute: 'none',
        tokens_per_minute: 'none',
        allowed_models: 'none',
      })
      expect(await limits()).toEqual(['{::1/128,10.0.0.0/8}'])
      expect(await succeed('rotate-key', { key, grace: '60' })).toMatch(/^lgw_proj_[0-9A-Za-z]{32}\n$/)
      expect(await limits()).toEqual(['{::1/128,10.0.0.0/8}', '{::1/128,10.0.0.0/8}'])
    })

    test('set-budget prints its id, and none removes it', async () => {
      const project = await newProject()
      const key = (await succeed('create-key', { project, type: 'project', name: 'ci' })).trim()
      const amounts = async () =>
        (
          await sql<{ of: string }>`select concat_ws(' ', amount::float8, unit, per, tag) as of from budgets
          where project_id = find_project(${project}) order by id`.execute(queriesOf(backend.database))
        ).rows
      const id = await succeed('set-budget', { project, usd: '100', per: 'month' })
      expect(id).toMatch(/^\d+\n$/)
      expect(await succeed('set-budget', { project, usd: '50.5', per: 'month' })).toBe(id)
      const printed = await run('set-budget', {
        project,
        tokens: '1000',
        per: 'day',
        key,
        tag: 'team=search',
        zone: 'Europe/Vienna',
      })
      expect([printed.exitCode, printed.stdout]).toEqual([0, expect.stringMatching(/^\d+\n$/)])
      expect(printed.stderr).toMatch(/WARNING: {2}No request with the tag team=search has been recorded\.\n$/)
      expect(await amounts()).toEqual([{ of: '50.5 usd month' }, { of: '1000 tokens day {"team": "search"}' }])
      await succeed('set-budget', { project, usd: 'none', per: 'month' })
      expect(await amounts()).toHaveLength(1)
    })

    test('a script that sets names of models warns of unknown ones', async () => {
      const project = await newProject()
      const key = (await succeed('create-key', { project, type: 'project', name: 'ci' })).trim()
      const warned = /WARNING: {2}No model is known by the name gpt-4o-mni\. Did you mean gpt-4o-mini\?\n$/
      for (const outcome of [
        await run('set-budget', { project, usd: '1', per: 'day', model: 'gpt-4o-mni' }),
        await run('set-setting', { project, setting: 'fallbacks', value: 'gpt-4o-mni' }),
        await run('set-setting', { project, setting: 'aliases', value: 'fast=gpt-4.1|gpt-4o-mni' }),
        await run('set-setting', { project, setting: 'allowed_models', value: 'gpt-4*,fast,gpt-4o-mni' }),
        await run('set-key-limits', { key, allowed_models: 'fast,gpt-4o-mni' }),
      ]) {
        expect([outcome.exitCode, outcome.stderr]).toEqual([0, expect.stringMatching(warned)])
        expect(outcome.stderr.match(/WARNING/g)).toHaveLength(1)
      }
      await succeed('set-key-limits', { key, requests_per_minute: '5' })
    })

    test('set-plan and set-setting print nothing and apply', async () => {
      const project = await newProject()
      expect(await succeed('set-plan', { project, plan: 'free' })).toBe('')
      for (const [setting, value] of [
        ['semantic_enabled', 'no'],
        ['semantic_guards', 'false'],
        ['semantic_threshold', '0.97'],
        ['cache_ttl_seconds', '60'],
      ] as const) {
        expect(await succeed('set-setting', { project, setting, value })).toBe('')
      }
      const { rows } = await sql`
        select plan, semantic_enabled, semantic_guards, semantic_threshold, cache_ttl_seconds
        from projects where name = ${project}`.execute(queriesOf(backend.database))
      expect(rows).toEqual([
        {
          plan: 'free',
          semantic_enabled: false,
          semantic_guards: false,
          semantic_threshold: 0.97,
          cache_ttl_seconds: 60,
        },
      ])
    })

    test('paid-again prints the questions that were paid for again', async () => {
      const project = await newProject()
      await sql`
        insert into usage_records (recorded_at, project_id, request_id, status, endpoint, model, cache_result, asked_id, streamed, prompt_tokens,
          cached_prompt_tokens, completion_tokens, tokens_saved, cost_usd, saved_usd, latency_ms, duration_ms, key_id)
        select now() - n * interval '1 minute', find_project(${project}), 'r' || n, 200, 'chat', 'gpt-4o', 'MISS', 'a', false, 0, 0, 0, 0, 0.5, 0,
          1, 1, 1
        from generate_series(1, 3) n`.execute(queriesOf(backend.database))
      expect(await succeed('paid-again', { project })).toBe('2|1.000000|-\nnot_stored|2|1.000000|gpt-4o|r1|-\n')
      expect(await succeed('paid-again', { project, days: '0' })).toBe('0|0.000000|-\n')
    })

    test('feedback prints nothing and stores the verdict; calibration prints the result', async () => {
      const project = await newProject()
      await sql`
        with entry as (
          insert into cache_entries (project_id, request_hash, endpoint, model, provider, response, expires_at)
          values (find_project(${project}), sha256('e'), 'chat', 'm', 'sandbox', '{}', now() + interval '1 hour')
          returning *
        ),
        prompt as (
          insert into cache_prompts (entry_id, project_id, context_hash, normalized_hash, prompt, created_at, expires_at)
          select id, project_id, sha256('c'), sha256('n'), 'known', created_at, expires_at from entry
        )
        select record_semantic_hits(json_build_array(json_build_object('project_id', project_id, 'request_id', 'one',
          'asked_hash', sha256('a'), 'entry_hash', request_hash, 'reason', 'proved', 'similarity', 0.97, 'is_shadow', false,
          'prompt_tokens', 1, 'completion_tokens', 1, 'saved_usd', 0.1)))
        from entry`.execute(queriesOf(backend.database))
      expect(await succeed('feedback', { project, request_id: 'one', verdict: 'wrong' })).toBe('')
      const { rows } =
        await sql`select source, verdict from cache_verdicts where project_id = find_project(${project})`.execute(
          queriesOf(backend.database),
        )
      expect(rows).toEqual([{ source: 'person', verdict: 'different' }])
      expect(await succeed('calibration', { project })).toContain('0.95|1|')
    })

    test('purge-cache prints how many entries it deleted, only of that project', async () => {
      const [project, other] = [await newProject(), await newProject()]
      await sql`
        insert into cache_entries (project_id, request_hash, endpoint, model, provider, response, expires_at)
        select p.id, sha256(convert_to(n::text, 'UTF8')), 'chat', 'm', 'sandbox', '{}', now() + interval '1 hour'
        from projects p, generate_series(1, 3) n
        where p.name in (${project}, ${other})`.execute(queriesOf(backend.database))
      expect(await succeed('purge-cache', { project })).toBe('3\n')
      expect(await succeed('purge-cache', { project })).toBe('0\n')
      expect(await succeed('purge-cache', { project: other })).toBe('3\n')
    })

    test('purge-cache counts and deletes the entries of one end user or one key', async () => {
      const project = await newProject()
      const long = "o'hara ".repeat(30)
      const keys: string[] = []
      for (const name of ['one', 'other'])
        keys.push((await succeed('create-key', { project, type: 'test', name })).trim())
      const [one = '', other = ''] = keys
      await sql`
        insert into cache_entries (project_id, request_hash, endpoint, model, provider, response, expires_at, key_id, end_user)
        select find_project(${project}), sha256(convert_to(u.name || k.key, 'UTF8')), 'chat', 'm', 'sandbox', '{}',
          now() + interval '1 hour', find_key(k.key), name_end_user(u.name)
        from (values ('alice'), (${long}), (${`${long}!`})) u (name), (values (${one}), (${other})) k (key)`.execute(
        queriesOf(backend.database),
      )
      expect(await succeed('purge-cache', { project, dry_run: 'true' })).toBe('6\n')
      for (const dry_run of ['on', 'false']) {
        expect(await succeed('purge-cache', { project, user: long, key: one, dry_run })).toBe('1\n')
      }
      expect(await succeed('purge-cache', { project, user: long })).toBe('1\n')
      expect(await succeed('purge-cache', { project, key: other.slice(0, 17) })).toBe('2\n')
      expect(await succeed('purge-cache', { project, user: 'nobody' })).toBe('0\n')
      expect(await succeed('purge-cache', { project, version: 'docs' })).toBe('0\n')
      const foreign = { project: await newProject(), key: one }
      const before = await everything()
      expectOneLine(await run('purge-cache', { project, user: '' }), /the end user must not be empty/)
      expectOneLine(await run('purge-cache', { project, key: 'lgw_test_00000000' }), /no such key/)
      expectOneLine(await run('purge-cache', foreign), /this project has no such key/)
      expectOneLine(await run('purge-cache', { project, dry_run: 'perhaps' }), /perhaps/)
      expect(await everything()).toEqual(before)
      expect(await succeed('purge-cache', { project })).toBe('2\n')
    })

    test('forget-user prints what is stored about an end user, and deletes it', async () => {
      const project = await newProject()
      const user = "o'hara\n"
      await sql`select maintain_usage_partitions()`.execute(queriesOf(backend.database))
      await sql`
        insert into cache_entries (project_id, request_hash, endpoint, model, provider, response, expires_at, end_user)
        select find_project(${project}), sha256(convert_to(u, 'UTF8')), 'chat', 'm', 'sandbox', '{}', now() + interval '1 hour',
          name_end_user(u)
        from unnest(array[${user}, 'alice']) u`.execute(queriesOf(backend.database))
      await sql`
        insert into usage_records (recorded_at, request_id, project_id, key_id, endpoint, model, status, streamed, prompt_tokens,
          cached_prompt_tokens, completion_tokens, tokens_saved, cost_usd, saved_usd, latency_ms, duration_ms, end_user)
        select now() - n * interval '1 ms', 'r' || n, find_project(${project}), 1, 'chat', 'm', 200, false, 1, 0, 1, 0, 0.5, 0, 1, 2,
          name_end_user(${user})
        from generate_series(1, 25000) n`.execute(queriesOf(backend.database))
      const listed = /^answer\|1\|\d+\nrecord\|25000\|\d+\n$/
      expect(await succeed('forget-user', { project, user, dry_run: 'true' })).toMatch(listed)
      expect(await succeed('forget-user', { project, user })).toMatch(listed)
      expect(await succeed('forget-user', { project, user })).toBe('')
      expect(await succeed('forget-user', { project, user: 'alice', dry_run: 'on' })).toMatch(/^answer\|1\|\d+\n$/)
      const { rows } = await sql`
        select count(*)::integer as records, sum(cost_usd)::integer as usd, count(end_user)::integer as named
        from usage_records where project_id = find_project(${project})`.execute(queriesOf(backend.database))
      expect(rows).toEqual([{ records: 25_000, usd: 12_500, named: 0 }])
      expectOneLine(await run('forget-user', { project }), /user is missing/)
      expectOneLine(await run('forget-user', { project, user: '' }), /the end user must not be empty/)
      expectOneLine(await run('forget-user', { project: 'nobody', user }), /nobody/)
    })

    test('usage reports the month by model, and the quotas', async () => {
      const project = await newProject()
      await sql`select maintain_usage_partitions()`.execute(queriesOf(backend.database))
      await sql`
        insert into monthly_counters (project_id, key_type, month, requests)
        values (find_project(${project}), 'project', current_month(), 4)`.execute(queriesOf(backend.database))
      await sql`
        insert into usage_records (recorded_at, request_id, project_id, key_id, endpoint, model, provider, cache_result, status, streamed,
          prompt_tokens, cached_prompt_tokens, completion_tokens, tokens_saved, cost_usd, saved_usd, latency_ms, duration_ms)
        select now(), 'r' || n, find_project(${project}), 1, 'chat', u.model, u.provider, u.cache_result, u.status, false,
          u.prompt_tokens, 0, u.completion_tokens, u.tokens_saved, u.cost_usd, u.saved_usd, 1, 2
        from (values
          (1, 'openai/gpt-x', 'openrouter', 'MISS', 200, 1000, 200, 0, 0.002, 0),
          (2, 'openai/gpt-x', 'openrouter', 'HIT', 200, 0, 0, 1000, 0, 0.002),
          (3, 'openai/gpt-x', 'openrouter', 'HIT-SEMANTIC', 200, 0, 0, 990, 0, 0.00201),
          (4, 'other', 'sandbox', 'MISS', 502, 5, 7, 0, 0, 0)
        ) as u (n, model, provider, cache_result, status, prompt_tokens, completion_tokens, tokens_saved, cost_usd, saved_usd)`.execute(
        queriesOf(backend.database),
      )
      await sql`
        insert into usage_pending
        select (pending_sums(r, 1)).* from usage_records r where r.project_id = find_project(${project})`.execute(
        queriesOf(backend.database),
      )

      const report = await run('usage', { project }, ['-v', 'ON_ERROR_STOP=1'])
      expect(report).toMatchObject({ exitCode: 0, stderr: '' })
      const month = new Date().toISOString().slice(0, 7)
      const cells = report.stdout.split('\n').map(line => line.split('|').map(cell => cell.trim()))
      expect(report.stdout).toContain(`Usage of ${project}, plan pro, ${month}`)
      expect(cells).toContainEqual(['project', '4', '1000000', '999996'])
      expect(cells).toContainEqual(['test', '0', '1000', '1000'])
      expect(cells).toContainEqual([
        'openai/gpt-x',
        'openrouter',
        '3',
        '1',
        '1',
        '1',
        '0',
        '66.7 %',
        '1000',
        '200',
        '1990',
        '0.002000',
        '0.004010',
      ])
      expect(cells).toContainEqual([
        'other',
        'sandbox',
        '1',
        '0',
        '0',
        '1',
        '1',
        '0.0 %',
        '5',
        '7',
        '0',
        '0.000000',
        '0.000000',
      ])
      expect(cells).toContainEqual([
        'TOTAL',
        '-',
        '4',
        '1',
        '1',
        '2',
        '1',
        '50.0 %',
        '1005',
        '207',
        '1990',
        '0.002000',
        '0.004010',
      ])

      const lastYear = await run('usage', { project, month: '2001-02' }, ['-v', 'ON_ERROR_STOP=1'])
      expect(lastYear.stdout).toContain(`Usage of ${project}, plan pro, 2001-02`)
      expect(lastYear.stdout).not.toContain('openai/gpt-x')
    })

    test('bad input ends non-zero with one line and changes nothing', async () => {
      const project = await newProject()
      const key = { project, type: 'project', name: 'taken' }
      const made = (await succeed('create-key', key)).trim()
      const before = await everything()

      const cases: [script: string, variables: Record<string, string>, message: RegExp][] = [
        ['create-project', { project, plan: 'pro' }, /project ".+" exists already/],
        ['create-project', { project: 'new', plan: 'gold' }, /plan "gold" does not exist; plans are: free, pro, enter/],
        ['create-project', { project: '', plan: 'pro' }, /project name "" is not valid/],
        ['create-project', { project: 'two\nlines', plan: 'pro' }, /project name "two\\nlines" is not valid/],
        ['create-project', { project: "'; drop table projects; --", plan: 'pro' }, /is not valid/],
        ['create-project', { project: 'new', plan: "pro' or '1'='1" }, /plan "pro' or '1'='1" does not exist/],
        ['create-project', { project: '\\', plan: '$$' }, /project name "\\\\" is not valid/],
        ['create-project', { project: 'new' }, /plan is missing: give -v plan=pro/],
        ['create-project', {}, /project is missing: give -v project=acme/],
        ['create-key', key, /already has an active key named "taken"/],
        ['create-key', { ...key, project: 'nobody' }, /project "nobody" does not exist/],
        [
          'create-key',
          { ...key, name: 'new', type: 'admin' },
          /key type "admin" does not exist; types are: project, t/,
        ],
        ['create-key', { ...key, name: '' }, /key name "" is not valid: 1 to 100 printable characters/],
        ['create-key', { ...key, name: 'tab\there' }, /key name "tab\\there" is not valid/],
        ['create-key', { ...key, name: 'x'.repeat(101) }, /key name "x{100}" is not valid/],
        ['create-key', { ...key, name: 'new', expires: 'someday' }, /expiry "someday" is not a date or time/],
        ['create-key', { ...key, name: 'new', expires: '2027-02-30' }, /expiry "2027-02-30" is not a date or time/],
        ['create-key', { ...key, name: 'new', expires: '2001-01-01' }, /expiry 2001-01-01T00:00:00Z is in the past/],
        ['create-key', { project, name: 'new' }, /type is missing/],
        ['create-key', { project, type: 'test' }, /name is missing/],
        ['list-keys', { project: 'nobody' }, /project "nobody" does not exist/],
        ['list-keys', {}, /project is missing/],
        ['deactivate-key', { key: 'lgw_proj_00000000' }, /no such key: "lgw_proj_00000000"; give a whole key/],
        ['deactivate-key', { key: '' }, /no such key: ""/],
        ['deactivate-key', {}, /key is missing/],
        ['set-key-limits', {}, /key is missing/],
        ['set-key-limits', { key: made }, /a limit is missing: give -v requests_per_minute=10/],
        ['set-key-limits', { key: made, requests_per_minute: '0' }, /requests_per_minute is not valid/],
        ['set-key-limits', { key: made, allowed_models: '' }, /allowed_models is not valid/],
        ['set-key-limits', { key: made, allowed_addresses: '10.0.0.0/8,home' }, /address "home" is not valid/],
        ['rotate-key', { key: made, grace: '7776001' }, /grace is not valid/],
        ['set-budget', { project: 'nobody', usd: '1', per: 'day' }, /project "nobody" does not exist/],
        ['set-budget', { project, usd: '1', per: 'year' }, /period "year" is not valid/],
        ['set-budget', { project, per: 'day' }, /the amount is missing/],
        ['set-budget', { project, usd: '-1', per: 'day' }, /usd is not valid/],
        ['set-budget', { project, usd: '1', tokens: '1', per: 'day' }, /two amounts/],
        // An empty variable of the shell does not create a budget for the whole project.
        ['set-budget', { project, usd: '1', per: 'day', key: '' }, /no such key: ""/],
        ['set-budget', { project, usd: '1', per: 'day', model: '' }, /model "" is not valid/],
        ['set-budget', { project, usd: '1', per: 'day', tag: '' }, /tag "" is not valid/],
        ['set-budget', { project, usd: '1', per: 'day', tag: 'team' }, /tag "team" is not valid/],
        ['set-budget', { project, usd: 'none', per: 'day' }, /has no such budget/],
        ['set-plan', { project, plan: 'gold' }, /plan "gold" does not exist/],
        ['set-plan', { project: 'nobody', plan: 'free' }, /project "nobody" does not exist/],
        ['set-plan', { project }, /plan is missing/],
        ['set-setting', { project: 'nobody', setting: 'semantic_enabled', value: 'no' }, /"nobody" does not exist/],
        ['set-setting', { project, setting: 'plan', value: 'pro' }, /setting "plan" does not exist; settings are: sem/],
        ['set-setting', { project, setting: 'semantic_enabled', value: 'perhaps' }, /use true or false/],
        ['set-setting', { project, setting: 'semantic_guards', value: '' }, /value "" is not valid/],
        [
          'set-setting',
          { project, setting: 'semantic_policy', value: 'strict' },
          /use verified, proved, judged or threshold/,
        ],
        ['set-setting', { project, setting: 'semantic_mode', value: 'true' }, /use on, shadow or off/],
        ['set-setting', { project, setting: 'semantic_judge_daily_usd', value: '-1' }, /US dollars from 0/],
        ['set-setting', { project, setting: 'semantic_judge', value: 'on' }, /off, learn or inline/],
        ['set-setting', { project, setting: 'semantic_verify_ratio', value: '1.1' }, /a number from 0.0 to 1.0/],
        ['feedback', { project, request_id: 'none', verdict: 'wrong' }, /no semantic hit .* under request id "none"/],
        ['feedback', { project, request_id: 'none', verdict: 'bad' }, /it is wrong or right/],
        ['feedback', { project: 'nobody', request_id: 'none', verdict: 'wrong' }, /"nobody" does not exist/],
        ['feedback', { project, request_id: 'none' }, /verdict is missing/],
        ['calibration', { project: 'nobody' }, /"nobody" does not exist/],
        ['paid-again', { project: 'nobody' }, /"nobody" does not exist/],
        ['set-setting', { project, setting: 'semantic_threshold', value: '1.01' }, /a number from 0\.0 to 1\.0/],
        ['set-setting', { project, setting: 'semantic_threshold', value: 'NaN' }, /a number from 0\.0 to 1\.0/],
        ['set-setting', { project, setting: 'semantic_threshold', value: '0,97' }, /value "0,97" is not valid/],
        ['set-setting', { project, setting: 'cache_ttl_seconds', value: '-1' }, /whole seconds from 0 to 315360000/],
        ['set-setting', { project, setting: 'cache_ttl_seconds', value: '1.5' }, /whole seconds/],
        ['set-setting', { project, setting: 'cache_ttl_seconds', value: '99999999999' }, /whole seconds/],
        ['set-setting', { project, setting: 'semantic_enabled' }, /value is missing/],
        ['purge-cache', { project: 'nobody' }, /project "nobody" does not exist/],
        ['purge-cache', {}, /project is missing/],
        ['usage', { project: 'nobody' }, /project "nobody" does not exist/],
        ['set-vendor', {}, /vendor is missing/],
        ['set-vendor', { vendor: 'acme' }, /vendor "acme" does not exist; vendors are: openai, .*Give base_url to add/],
        [
          'set-vendor',
          { vendor: 'acme', base_url: 'ftp://acme.example' },
          /"ftp:\/\/acme.example" is not valid for base_url/,
        ],
        ['set-vendor', { vendor: 'acme', base_url: 'http://10.0.0.1' }, /set allows_private_address to true/],
        [
          'set-vendor',
          { vendor: 'groq', base_url: 'http://groq.example' },
          /base_url "http:.* set allows_private_address/,
        ],
        ['set-vendor', { vendor: 'Acme', base_url: 'https://acme.example' }, /vendor name "Acme" is not valid/],
        ['set-vendor', { vendor: 'sandbox', base_url: 'https://acme.example' }, /vendor name "sandbox" is not valid/],
        ['set-vendor', { vendor: 'groq', columns: '{"colour": "red"}' }, /no column "colour"; columns are: accepts_/],
        ['set-vendor', { vendor: 'groq', columns: '{"source": "seed"}' }, /no column "source"/],
        ['set-vendor', { vendor: 'groq', columns: '[]' }, /must be a JSON object/],
        ['set-vendor', { vendor: 'groq', columns: 'x' }, /invalid input syntax for type json/],
        [
          'set-vendor',
          { vendor: 'groq', columns: '{"endpoints": "talk"}' },
          /is not valid for endpoints: The endpoints/,
        ],
        [
          'set-vendor',
          { vendor: 'groq', columns: '{"model_names": "("}' },
          /vendor "groq" are not valid: invalid regular/,
        ],
        ['set-vendor', { vendor: 'groq', columns: '{"makes_models": "perhaps"}' }, /not valid: invalid input syntax/],
        ['set-vendor', { vendor: 'groq', columns: '{"headers": null}' }, /null is not valid for headers/],
        ['remove-vendor', { vendor: 'nobody' }, /vendor "nobody" does not exist; vendors are: openai/],
        ['remove-vendor', {}, /vendor is missing/],
        ['usage', { project, month: '2026-13' }, /month "2026-13" is not valid: write it as 2026-10/],
        ['usage', {}, /project is missing/],
      ]
      for (const [script, variables, message] of cases) expectOneLine(await run(script, variables), message)

      expect(await everything()).toEqual(before)
    }, 60_000)

    test('vendors are added, changed, listed and removed, and no seed overwrites a change', async () => {
      const listed = async (vendor: string) =>
        (await succeed('list-vendors', {})).split('\n').find(line => line.startsWith(`${vendor}|`))
      const columns = JSON.stringify({ endpoints: ['chat', 'embeddings'], model_names: '^nova-', key_location: 'none' })
      expect(await succeed('set-vendor', { vendor: 'acme', base_url: 'https://acme.example/v1', columns })).toBe('')
      expect(await listed('acme')).toBe('acme|https://acme.example/v1|openai|none|operator|0|')
      // Text stands for lists and objects, and an empty one for none.
      const texts = { endpoints: 'chat, messages', query_parameters: '{"v":"2"}', model_names: '', place: '7' }
      await succeed('set-vendor', { vendor: 'acme', columns: JSON.stringify(texts) })
      const { rows } = await sql`select endpoints, query_parameters, model_names, place, base_url from vendors
        where name = 'acme'`.execute(queriesOf(backend.database))
      expect(rows).toEqual([
        {
          endpoints: ['chat', 'messages'],
          query_parameters: { v: '2' },
          model_names: null,
          place: 7,
          base_url: 'https://acme.example/v1',
        },
      ])

      expect(await listed('groq')).toBe('groq|https://api.groq.com/openai/v1|openai|bearer|seed|0|')
      await sql`update vendors set base_url = 'https://groq.example' where name = 'groq'`.execute(
        queriesOf(backend.database),
      )
      await backend.database.runScript(
        `set search_path = model_proxy, public; ${await Bun.file(`${scriptsFolder}../sql/seed/005_vendors.sql`).text()}`,
      )
      expect(await listed('groq')).toBe('groq|https://groq.example|openai|bearer|operator|0|')
      expect(await listed('xai')).toContain('|seed|')

      const project = await newProject()
      await sql`select store_provider_key(find_project(${project}), 'acme', '\\x01', 'abcd', 'default', 1)`.execute(
        queriesOf(backend.database),
      )
      expectOneLine(
        await run('remove-vendor', { vendor: 'acme' }),
        /has keys \(of 1 projects, none of the installation\)/,
      )
      expect(await succeed('remove-vendor', { vendor: 'acme', keys: 'remove' })).toBe('')
      expect(await listed('acme')).toBeUndefined()
      const { rows: audited } = await sql`select action, target, details -> 'columns' as columns from audit_log
        where action like 'vendor.%' or target = 'acme' order by id`.execute(queriesOf(backend.database))
      expect(audited).toEqual([
        { action: 'vendor.set', target: 'acme', columns: null },
        {
          action: 'vendor.set',
          target: 'acme',
          columns: ['endpoints', 'model_names', 'place', 'query_parameters'],
        },
        { action: 'vendor.set', target: 'groq', columns: ['base_url', 'source'] },
        { action: 'provider_key.stored', target: 'acme', columns: null },
        { action: 'provider_key.deleted', target: 'acme', columns: null },
        { action: 'vendor.removed', target: 'acme', columns: null },
      ])
    })

    test('create-admin prints a token that sets a password, and create-admin-key a key that works', async () => {
      const email = `Ada.${crypto.randomUUID()}@example.org`
      const token = (await succeed('create-admin', { email })).trimEnd()
      expect(token).toMatch(/^lgw_invite_[0-9A-Za-z]{32}$/)
      const again = (await succeed('create-admin', { email })).trimEnd()
      const { rows } = await sql`select (select count(*) from find_invitation(${token}))::integer as old,
        (select email from find_invitation(${again})) as email`.execute(queriesOf(backend.database))
      expect(rows).toEqual([{ old: 0, email: email.toLowerCase() }])
      const key = (await succeed('create-admin-key', { email, name: 'deploys', expires: '2999-01-01' })).trimEnd()
      const { rows: holders } = await sql`select email, role
        from authenticate_admin_key(encode(sha256(convert_to(${key}, 'UTF8')), 'hex'))`.execute(
        queriesOf(backend.database),
      )
      expect(holders).toEqual([{ email: email.toLowerCase(), role: 'owner' }])
      await succeed('create-admin-key', { email, name: 'reports', permissions: 'read_only' })
      const { rows: keys } = await sql`select name, permissions from admin_keys order by id`.execute(
        queriesOf(backend.database),
      )
      expect(keys).toEqual([
        { name: 'deploys', permissions: 'all' },
        { name: 'reports', permissions: 'read_only' },
      ])
      const { rows: audited } = await sql`select distinct actor, actor_kind from audit_log
        where target = ${'admin_key_1'}`.execute(queriesOf(backend.database))
      expect(audited).toEqual([{ actor: 'postgres', actor_kind: 'operator' }])
      await sql`select create_user('reader@example.org', 'reader')`.execute(queriesOf(backend.database))
      const reader = { email: 'reader@example.org' }
      expectOneLine(await run('create-admin', reader), /exists and is not an administrator: .*-v promote=true/)
      expectOneLine(await run('create-admin', { ...reader, promote: 'perhaps' }), /boolean/)
      expect((await succeed('create-admin', { ...reader, promote: 'true' })).trimEnd()).toMatch(/^lgw_invite_/)
      expectOneLine(await run('create-admin', { email: 'nobody' }), /e-mail address "nobody" is not valid/)
      expectOneLine(
        await run('create-admin-key', { email: 'x@y.org', name: 'k' }),
        /there is no administrator "x@y.org"/,
      )
      expectOneLine(await run('create-admin', {}), /email is missing/)
    })

    test('an error stops a script also without ON_ERROR_STOP', async () => {
      expectOneLine(await run('purge-cache', { project: 'nobody' }, ['-qAt']), /does not exist/)
    })
  })
})
