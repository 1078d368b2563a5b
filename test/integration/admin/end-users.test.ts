import { beforeAll, beforeEach, expect, test } from 'vitest'
import { callFunction } from '../../../src/postgres/call.ts'
import { END_USER_TABLES } from '../../../src/postgres/seeds.generated.ts'
import { describeBackends, describeOnce, describeReal } from '../../harness/backends.ts'
import { post } from '../../harness/client.ts'
import { startUpstreams, storeKey, TEST_ENCRYPTION_KEY } from '../../harness/direct-upstreams.ts'
import { duringTests } from '../../harness/during-tests.ts'
import { startProxy } from '../../harness/proxy.ts'
import { waitUntil } from '../../harness/wait-until.ts'
import { addUser, issueAdminKey, send } from './people.ts'

type Body = Record<string, unknown>

const QUESTION = 'Explain how photosynthesis works in the leaves of green plants, with photographs'
const OTHER_WORDS = 'Explain how photosynthesis works in the leaves of green plants, with a photograph'
const MATCHING = { semantic_threshold: '0', log_content: 'sealed' }
const CHAT = { model: 'gpt-4o-mini' }
const messages = (content: string) => [{ role: 'user', content }]
const helping = (user: string, content: string) => [
  { role: 'system', content: `You help ${user}.` },
  ...messages(content),
]
const KINDS = [...new Set(END_USER_TABLES.map(({ kind }) => kind))]

/** Two names that are longer than what is recorded and differ in the last character only. */
const LONG = { one: `${'x'.repeat(300)}1`, other: `${'x'.repeat(300)}2` }

describeBackends('an end user', backend => {
  const upstreams = duringTests(startUpstreams)
  const proxy = duringTests(() =>
    startProxy({
      dashboard: true,
      stores: backend.open(),
      environment: { ...upstreams.environment, ENCRYPTION_KEY: TEST_ENCRYPTION_KEY, UPSTREAM_MAX_RETRIES: '0' },
    }),
  )
  let adminKey: string
  let name: string
  let project: string
  let key: string

  beforeAll(async () => {
    await addUser(proxy, 'root@example.org', 'owner')
    adminKey = await issueAdminKey(proxy, 'root@example.org')
  })
  beforeEach(async () => {
    name = `p-${crypto.randomUUID().slice(0, 8)}`
    key = await open(name)
    project = `proj_${(await proxy.query<{ id: number }>(`select find_project('${name}') as id`))[0]?.id}`
  })

  async function open(project: string): Promise<string> {
    const opened = await proxy.createKey({ project, type: 'project', settings: MATCHING })
    for (const vendor of ['openai', 'anthropic'] as const) await storeKey(proxy.stores, project, vendor, `sk-${vendor}`)
    return opened
  }

  async function ask(path: string, body: Body, by = key): Promise<string | null> {
    const answer = await post(proxy, by, path, body)
    const text = await answer.text()
    expect(answer.status, text).toBe(200)
    await proxy.settle()
    return answer.headers.get('x-proxy-cache')
  }
  const say = (words: string, fields: Body, by = key) =>
    ask('/chat/completions', { ...CHAT, messages: messages(words), ...fields }, by)

  let nextSeed = 1
  /** Creates a row of each kind for the end user. */
  async function use(user: string, by = key, of = name): Promise<void> {
    const about = `${user} ${QUESTION}`
    await say('', { user, messages: helping(user, QUESTION) }, by)
    await say('', { user, messages: helping(user, OTHER_WORDS) }, by)
    // Of other contexts, so that neither is a near miss.
    const alone = () => ({ seed: nextSeed++ })
    await say(`${user} and a tag`, { ...alone(), metadata: { user_id: user.slice(0, 60), team: 'search' } }, by)
    await say(`${user} and another`, { ...alone(), metadata: { user_id: user.slice(0, 60) } }, by)
    await ask('/embeddings', { model: 'text-embedding-3-small', input: about, user }, by)
    await ask(
      '/responses',
      { model: 'claude-haiku-4-5', instructions: `Question ${nextSeed++}`, input: about, user },
      by,
    )
    const form = new FormData()
    const line = { custom_id: '1', method: 'POST', url: '/v1/chat/completions', body: { ...CHAT, messages: [] } }
    form.set('purpose', 'batch')
    form.set('file', new File([JSON.stringify(line)], 'in.jsonl'))
    const headers = { authorization: `Bearer ${by}` }
    const uploaded = await fetch(`${proxy.baseUrl}/files`, { method: 'POST', body: form, headers })
    const file = (await uploaded.json()) as { id: string }
    const batch = { input_file_id: file.id, endpoint: '/v1/chat/completions', completion_window: '24h' }
    await ask('/batches', { ...batch, metadata: { user_id: user } }, by)
    await proxy.query(`
      select record_feedback(h.project_id, h.request_id, 'right') from semantic_hits h
      where h.project_id = find_project('${of}') and h.end_user = name_end_user(${quote(user)})`)
    await proxy.query(`
      insert into judge_queue (project_id, context_hash, one_hash, other_hash, asked_hash, entry_hash, is_review, context, asked, similarity, end_user, not_before)
      select find_project('${of}'), sha256(convert_to(${quote(user)}, 'UTF8')), sha256('a'), sha256('b'), sha256('a'), sha256('e'), false, '{}', 'asked', 0.9, name_end_user(${quote(user)}), now() + interval '1 hour'
      on conflict do nothing`)
    const turn = `json_build_array(json_build_object('project_id', k.project_id, 'key_id', k.id, 'made_by', 'a/b', 'extras', '{}',
      'name', encode(sha256(convert_to(${quote(user)}, 'UTF8')), 'hex'), 'digest', repeat('b', 64), 'end_user', name_end_user(${quote(user)})))`
    await proxy.query(`select store_turns(${turn}) from api_keys k where k.project_id = find_project('${of}')`)
  }
  /** Waits until all pending usage is summed up. */
  const rollUp = () =>
    waitUntil('all usage is summed up', async () => {
      await proxy.query('select roll_up_usage()')
      return (await proxy.query('select from usage_pending')).length === 0
    })
  const quote = (text: string) => `'${text.replaceAll("'", "''")}'`

  const headers = () => ({ authorization: `Bearer ${adminKey}` })
  const at = (below: string) => `/v1/organization/projects/${project}/end_users/${below}`
  /** The number of rows of each kind for the end user. */
  async function counted(user: string): Promise<Record<string, number>> {
    const { json, status } = await send(proxy, 'GET', at(`data?${new URLSearchParams({ end_user: user })}`), {
      headers: headers(),
    })
    expect(status).toBe(200)
    return Object.fromEntries(json.data.map(({ id, items }: { id: string; items: number }) => [id, items]))
  }
  async function forget(user: string, dry_run = false) {
    const body = { end_user: user, dry_run }
    const { json, status } = await send(proxy, 'POST', at('forget'), { body, headers: headers() })
    expect(status).toBe(200)
    return json
  }
  async function exported(user: string, format = 'json') {
    const query = new URLSearchParams({ end_user: user, format })
    return send(proxy, 'GET', at(`export?${query}`), { headers: headers() })
  }

  test('is counted, exported and deleted, with all stored data', async () => {
    const stranger = await open(`${name}-other`)
    await use('alice', stranger, `${name}-other`)
    await use('alice2')
    await use('alice')
    // Several requests may have the same client-supplied id.
    await proxy.query(`update semantic_hits set request_id = 'same' where end_user = 'alice'`)
    await rollUp()
    const elsewhere = () =>
      proxy.query(`select kind, count(*)::integer as items from end_user_items
        where project_id = find_project('${name}-other') and end_user = 'alice' group by kind order by kind`)
    const theirs = await elsewhere()
    expect(theirs).toHaveLength(KINDS.length)
    const before = await counted('alice')
    expect(Object.keys(before)).toEqual(KINDS)
    expect(before).toMatchObject({ object: 1, question: 1, record: 7, response: 1, vector: 1, tag: 13 })
    const others = await counted('alice2')

    const { json: items, text } = await exported('alice')
    const kinds = items.map(({ kind }: { kind: string }) => kind)
    expect(Object.fromEntries(KINDS.map(kind => [kind, kinds.filter((each: string) => each === kind).length]))).toEqual(
      before,
    )
    expect(text).not.toContain('alice2')
    const find = (kind: string) => items.filter((item: { kind: string }) => item.kind === kind)
    expect(find('answer').map(({ question }: { question: string }) => question)).toContain(QUESTION)
    expect(find('content')[0]).toMatchObject({
      question: expect.stringContaining(QUESTION),
      answer: expect.stringContaining('choices'),
    })
    expect(find('match')[0].question).toBe(OTHER_WORDS)
    expect(find('record')[0].record).toMatchObject({ end_user: 'alice', endpoint: 'chat' })
    expect((await exported('alice', 'csv')).text.split('\r\n')[0]).toBe(
      'object,id,kind,name,created_at,api_key_id,bytes,question,answer,record',
    )

    expect(await forget('alice', true)).toMatchObject({ dry_run: true, has_more: false })
    expect(await counted('alice')).toEqual(before)
    const forgotten = await forget('alice')
    expect(forgotten).toMatchObject({ dry_run: false, has_more: false })
    expect(forgotten.data.map(({ id, items }: { id: string; items: number }) => [id, items])).toEqual(
      Object.entries(before),
    )
    expect(await counted('alice')).toEqual({})
    expect((await exported('alice')).json).toEqual([])
    expect(await counted('alice2')).toEqual(others)
    expect(await elsewhere()).toEqual(theirs)
    expect(await say('', { messages: helping('alice2', QUESTION) })).toBe('HIT')
    expect(await say('', { messages: helping('alice', QUESTION) }, stranger)).toBe('HIT')
    expect(await say('', { messages: helping('alice', QUESTION) })).toBe('MISS')
  })

  test('is exported decrypted if responses are stored sealed', async () => {
    await proxy.query(`select set_setting('${name}', 'seal_answers', 'on')`)
    await use('alice')
    const [stored] = await proxy.query<{ response: string }>(
      `select response from cache_entries where project_id = find_project('${name}') limit 1`,
    )
    expect(stored?.response.startsWith('\u0001')).toBe(true)
    const { json: items, text } = await exported('alice')
    expect(items.length).toBeGreaterThan(0)
    expect(text).not.toContain('\\u0001')
    const answers = items.filter(({ kind }: { kind: string }) => kind === 'answer')
    expect(answers.map(({ answer }: { answer: string }) => typeof JSON.parse(answer))).toEqual(
      answers.map(() => 'object'),
    )
  })

  test('is found by a long name, without others that begin alike', async () => {
    await use(LONG.one)
    await use(LONG.other)
    await rollUp()
    const [one, other] = [await counted(LONG.one), await counted(LONG.other)]
    expect(Object.keys(one)).toEqual(KINDS.filter(kind => kind !== 'tag'))
    expect(await counted(LONG.one.slice(0, 128))).toEqual({})
    await forget(LONG.one)
    expect([await counted(LONG.one), await counted(LONG.other)]).toEqual([{}, other])
  })

  test('leaves no name behind', async () => {
    const user = `kim-${crypto.randomUUID()}`
    await use(user)
    await proxy.query(`update usage_records set error_message = 'said to ${user}', upstream_message = 'as did ${user}'
      where end_user = '${user}'`)
    // The user has both pending usage and summed usage.
    await proxy.query('select roll_up_usage()')
    await say(`${user} once more`, { metadata: { user_id: user }, prompt_cache_key: `chat of ${user}` })
    await say('Hello again', { user: 'kim', metadata: { user_id: user }, prompt_cache_key: `chat of ${user}` })
    // A reservation of a process that ended before it settled it.
    await proxy.query(`select set_budget('${name}', 'usd', 100, 'month')`)
    await proxy.query(`
      insert into budget_reservations (id, budget_id, begins, amount, project_id, key_id, request_id, endpoint, model, tags, expires_at)
      select gen_random_uuid(), p.budget_id, p.begins, 0, b.project_id, 1, 'r', 'chat', 'm', '{"user_id": "${user}"}', now() + interval '1 hour'
      from budget_periods p join budgets b on b.id = p.budget_id where b.project_id = find_project('${name}')`)
    await exported(user)
    const tables = await proxy.query<{ name: string }>(`
      select c.relname as name from pg_class c
      where c.relnamespace = 'model_proxy'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition`)
    /** The tables that contain the name in any column, as text or as bytes. */
    const findTables = async () => {
      const found = tables.map(async ({ name }) => {
        const has = (text: string) => `position('${text}' in t::text) > 0`
        const rows = await proxy.query(
          `select from ${name} t where ${has(user)} or ${has(Buffer.from(user).toString('hex'))} limit 1`,
        )
        return rows.length > 0 ? [name] : []
      })
      return (await Promise.all(found)).flat()
    }
    // The proxy sums up pending usage by itself, so that table may be empty.
    const listed = END_USER_TABLES.map(({ table_name }) => table_name).filter(table => table !== 'usage_pending')
    expect(await findTables()).toEqual(expect.arrayContaining(listed))
    await forget(user)
    expect(await findTables()).toEqual([])
  })

  test('deletion keeps recorded costs', async () => {
    await use('alice')
    await use('bob')
    await use('alice')
    // The user's amounts are added to this sum, whose tags do not name a user.
    await say('something else', { user: 'bob', metadata: { team: 'search' } })
    const id = project.slice(5)
    const spent = async () => {
      await rollUp()
      const [row] = await proxy.query<{ all: string }>(`
        select json_build_array(
          (select json_agg(s order by s::text) from usage_sums s where s.project_id = ${id}),
          (select json_agg(l order by l::text) from latency_counts l where l.project_id = ${id}),
          (select array[count(*), sum(r.cost_usd), sum(r.prompt_tokens), sum(r.tokens_saved), sum(r.saved_usd)] from usage_records r where r.project_id = ${id}),
          (select json_agg(array[u.requests, u.cost_usd, u.tokens_saved] order by u.model, u.cache_result)
            from usage_in_range(array[${id}], now() - interval '1 hour', now() + interval '1 minute', 'all', 'UTC', 'projects') u),
          (select array[sum(t.requests), sum(t.cost_usd), sum(t.hits)] from usage_sums_by_tag t where t.project_id = ${id} and t.tags @> '{"team": "search"}'),
          (select json_agg(m) from monthly_counters m where m.project_id = ${id}),
          (select json_agg(b.spent) from budget_periods b join budgets o on o.id = b.budget_id where o.project_id = ${id})
        )::text as all`)
      return row?.all
    }
    await proxy.query(`select set_budget('${name}', 'usd', 100, 'month')`)
    const before = await spent()
    await forget('alice')
    expect(await spent()).toBe(before)
    // A budget that is created now begins with the same amount as one that was created before.
    const spentBy = async (per: string) => {
      const [set] = await proxy.query<{ id: number }>(`select set_budget('${name}', 'usd', 100, '${per}') as id`)
      return proxy.query(`select spent from budget_periods where budget_id = ${set?.id}`)
    }
    expect(await spentBy('day')).toEqual(await spentBy('month'))
  })

  test('deletion keeps tags of others, and other tags of the end user’s requests', async () => {
    await say('one', { user: 'search', metadata: { team: 'search' } })
    await say('two', { user: 'alice', metadata: { team: 'search', user_id: 'somebody' } })
    await say('three', { user: 'bob', metadata: { team: 'search', user_id: 'carol' } })
    await rollUp()
    for (const user of ['search', 'alice', 'carol']) await forget(user)
    const tags = await proxy.query<{ tags: object }>(
      `select tags from usage_sums_by_tag where project_id = ${project.slice(5)} and grain = 'hour' order by tags ? 'user_id'`,
    )
    expect(tags).toEqual([{ tags: { team: 'search' } }, { tags: { team: 'search', user_id: 'somebody' } }])
    const sumsOf = (which: string) =>
      proxy.query(`select grain, at, tags, endpoint, model, sum(requests)::integer as requests, sum(cost_usd)::text as cost
        from usage_sums_by_tag where ${which} group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5`)
    expect(await sumsOf('project_id = 0')).toEqual(await sumsOf('project_id > 0'))
    const valuesOf = (which: string) =>
      proxy.query<{ name: string }>(`select grain, name, key_type, requests::integer, cost_usd::text
        from (
          select grain, name, key_type, sum(requests) as requests, sum(cost_usd) as cost_usd from usage_sums_by_name where kind = 'tag' and ${which} group by 1, 2, 3
        ) v order by 1, 2, 3`)
    expect(await valuesOf('project_id = 0')).toEqual(await valuesOf('project_id > 0'))
    const left = await valuesOf(`project_id = ${project.slice(5)} and grain = 'hour'`)
    expect(left.map(({ name }) => name)).toEqual(['team=search', 'user_id=somebody'])
    const records = await proxy.query(
      `select tags, end_user from usage_records where project_id = ${project.slice(5)} order by tags ? 'user_id', end_user nulls first`,
    )
    expect(records).toEqual([
      { tags: { team: 'search' }, end_user: null },
      { tags: { team: 'search' }, end_user: 'bob' },
      { tags: { team: 'search', user_id: 'somebody' }, end_user: null },
    ])
  })

  test('is named in no audit', async () => {
    await use('Zaphod')
    await exported('Zaphod')
    await forget('Zaphod', true)
    await forget('Zaphod')
    const { json } = await send(proxy, 'GET', `/v1/organization/audit_logs?project_ids=${project}`, {
      headers: headers(),
    })
    const events = json.data.filter(({ type }: { type: string }) => type.startsWith('end_user.'))
    expect(events.map(({ type }: { type: string }) => type)).toEqual(['end_user.forgotten', 'end_user.exported'])
    expect(JSON.stringify(events)).toMatch(/"record":\d/)
    expect(JSON.stringify(json)).not.toContain('Zaphod')
    expect(JSON.stringify(json)).not.toContain(
      new Bun.CryptoHasher('sha256').update('Zaphod').digest('hex').slice(0, 32),
    )
  })

  test('is not restored by requests in flight', async () => {
    upstreams.openai.reset()
    upstreams.openai.script({ kind: 'answer', content: 'later', firstByteDelayMs: 500 })
    const slow = post(proxy, key, '/chat/completions', { ...CHAT, messages: messages(QUESTION), user: 'alice' })
    await waitUntil('the request reaches the provider', () => upstreams.openai.requests.length === 1)
    await forget('alice')
    await (await slow).text()
    await proxy.settle()
    expect((await counted('alice')).answer).toBeUndefined()
    expect(await say(QUESTION, {})).toBe('MISS')
    upstreams.openai.reset()
  })

  test('is not restored by writes during the deletion', async () => {
    const embed = () => ask('/embeddings', { model: 'text-embedding-3-small', input: 'Berlin', user: 'alice' })
    await say(QUESTION, { user: 'alice' })
    await embed()
    await callFunction(proxy.stores.database, 'forget_end_user', { project: name, of_user: 'alice', dry_run: false })
    expect([await say(QUESTION, {}), await embed()]).toEqual(['HIT', 'HIT'])
    for (const of_kind of ['answer', 'vector'])
      await callFunction(proxy.stores.database, 'forget_end_user_items', { project: name, of_user: 'alice', of_kind })
    expect([await say(QUESTION, {}), await embed()]).toEqual(['MISS', 'MISS'])
  })

  test('is deleted part by part', async () => {
    for (let n = 0; n < 5; n++) await say(`number ${n}`, { user: 'alice' })
    await ask('/embeddings', { model: 'text-embedding-3-small', input: ['a', 'b', 'c', 'd', 'e'], user: 'alice' })
    await proxy.query(`insert into stored_responses (project_id, key_id, id, response, expires_at, end_user)
      select project_id, id, 'resp_' || n, '{}', now(), 'alice' from api_keys, generate_series(1, 5) n where project_id = ${project.slice(5)}`)
    await proxy.query(`
      select record_semantic_hits(json_agg(json_build_object('project_id', ${project.slice(5)}, 'request_id', 'r' || n, 'end_user', 'alice',
        'asked_hash', sha256('a'), 'entry_hash', sha256('e'), 'reason', 'proved', 'similarity', 1, 'is_shadow', false, 'prompt_tokens', 1,
        'completion_tokens', 1, 'saved_usd', 1)))
      from generate_series(1, 5) n`)
    const part = (of_kind: string) =>
      callFunction(proxy.stores.database, 'forget_end_user_items', {
        project: name,
        of_user: 'alice',
        of_kind,
        max_rows: 2,
      })
    for (const kind of ['answer', 'content', 'match', 'record', 'response', 'vector']) {
      const parts: number[] = []
      while (parts.at(-1) !== 0) parts.push(await part(kind))
      // Embeddings have records and contents too.
      const whole = kind === 'record' || kind === 'content' ? [2, 2, 2, 0] : [2, 2, 1, 0]
      expect([kind, ...parts]).toEqual([kind, ...whole])
    }
    while ((await part('sum')) > 0);
    expect(await counted('alice')).toEqual({})
    await expect(part('nothing')).rejects.toThrow('there is no kind')
    await expect(callFunction(proxy.stores.database, 'find_end_user', { project: name, of_user: '' })).rejects.toThrow(
      'empty',
    )
  })
})

describeOnce('the list of tables with data of end users', backend => {
  test('has each column that names end users', async () => {
    const { database } = await backend.open()
    const columns = await database.call<{ table: string; column: string }>(
      `
      select c.relname as table, a.attname as column
      from pg_class c join pg_attribute a on a.attrelid = c.oid
      where c.relnamespace = 'model_proxy'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
        and a.attnum > 0 and not a.attisdropped
        and (a.attname ~ 'end_?user|person|customer|safety_identifier|(^|_)tags?($|_)|^user(_hash|_name|s)?$' or a.attname = 'name' and c.relname ~ 'by_name')`,
      [],
    )
    const found = columns.map(({ table, column }) => `${table}.${column}`)
    // Sums by name have a row of the list for each kind of name.
    const listed = END_USER_TABLES.filter(({ user_column }) => user_column !== 'tag').map(
      ({ table_name, user_column }) => `${table_name}.${user_column}`,
    )
    // The tag of a budget is chosen by members of the project, so it may contain the name.
    expect(found.toSorted()).toEqual([...listed, 'budgets.tag'].toSorted())
  })
})

describeReal('deleting an end user', backend => {
  test('delays no recorder', async () => {
    const stores = await backend.open()
    const proxy = await startProxy({ stores })
    const key = await proxy.createKey({ project: 'acme', type: 'test' })
    const say = (words: string) =>
      post(proxy, key, '/chat/completions', { model: 'openai/gpt-4o-mini', messages: messages(words), user: 'alice' })
    await (await say('one')).text()
    await proxy.settle()
    const { default: postgres } = await import('postgres')
    const forgetting = postgres(stores.databaseUrl ?? '', { max: 1, onnotice: () => {} })
    await forgetting.begin(async transaction => {
      for (const kind of KINDS) await transaction`select model_proxy.forget_end_user_items('acme', 'alice', ${kind})`
      await (await say('two')).text()
      await waitUntil('the request is recorded', async () => {
        const rows = await proxy.query(`select from usage_records where end_user = 'alice'`)
        return rows.length === 2
      })
    })
    await forgetting.end()
    expect(await proxy.query(`select from usage_records where end_user = 'alice'`)).toHaveLength(1)
    await proxy.stop()
  })
})
