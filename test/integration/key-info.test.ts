/** Data that a key can read about itself, in the formats of OpenRouter and LiteLLM. */
import { beforeEach, describe, expect, test } from 'vitest'
import { describeBackends } from '../harness/backends.ts'
import { question } from '../harness/chat.ts'
import { ask, get, readAnswer } from '../harness/client.ts'
import { startUpstreams, storeKey } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'

const PAGES = ['/key', '/auth/key', '/credits', '/model/info']

describeBackends('the information about a key', backend => {
  const upstreams = duringTests(startUpstreams)
  const proxy = duringTests(() => startProxy({ stores: backend.open(), environment: upstreams.environment }))
  let project: string
  let key: string

  beforeEach(async () => {
    project = `t-${crypto.randomUUID()}`
    key = await proxy.createKey({ project, type: 'project' })
  })

  const read = async (path: string, as = key) => (await readAnswer(await get(proxy, path, as))).json.data
  const idOf = async (of: string) =>
    (await proxy.query<{ id: number }>(`select find_key('${of}')::integer as id`))[0]?.id ?? 0

  /** Sends requests and returns their exact cost. Usage and budgets contain it once records are written. */
  async function spend(as = key, times = 1): Promise<number> {
    let usd = 0
    for (let i = 0; i < times; i++) {
      const answer = await ask(proxy, as, question(`What is spent? ${crypto.randomUUID()}`, { max_tokens: 50 }))
      usd += Number(answer.headers.get('x-proxy-cost-usd'))
    }
    await proxy.settle()
    return usd
  }

  test('has its recorded spending, apart from other keys, projects and test keys', async () => {
    const other = await proxy.createKey({ project, type: 'project' })
    const stranger = await proxy.createKey({ project: `${project}-2`, type: 'project' })
    const tried = await proxy.createKey({ project, type: 'test' })
    const mine = await spend(key, 3)
    const theirs = await spend(other)
    await spend(stranger)
    await spend(tried)
    expect(mine).toBeGreaterThan(0)
    const info = await read('/key')
    expect(info).toMatchObject({
      label: `${key.slice(0, 17)}…`,
      ...{ limit: null, limit_remaining: null, limit_reset: null, is_free_tier: false, expires_at: null },
      rate_limit: { interval: '1m', requests: expect.any(Number), note: expect.any(String) },
      // The @openrouter/sdk package rejects a response without one of these.
      ...{ free_model_daily_requests: { limit: 0, remaining: 0, used: 0 }, allowed_data_regions: [] },
      ...{ creator_user_id: null, organization_id: null, workspace_id: null, include_byok_in_limit: true },
    })
    for (const field of ['usage', 'usage_daily', 'usage_weekly', 'usage_monthly'])
      expect([field, info[field]]).toEqual([field, expect.closeTo(mine, 9)])
    expect(await read('/auth/key')).toEqual(info)
    expect(await read('/credits')).toEqual({
      total_usage: expect.closeTo(mine + theirs, 9),
      // There is no limit.
      total_credits: Number.MAX_SAFE_INTEGER,
    })
    expect(await read('/key', tried)).toMatchObject({ usage: 0, is_free_tier: true })
  })

  describe('the remaining amount', () => {
    const setBudget = (amount: number, per: string, more = '') =>
      proxy.query(`select set_budget('${project}', 'usd', ${amount}, '${per}'${more})`)

    test('of the narrowest budget that all its requests count against', async () => {
      const other = await proxy.createKey({ project, type: 'project' })
      await setBudget(5, 'month')
      await setBudget(0.5, 'week', `, of_key => ${await idOf(key)}`)
      // These budgets limit other keys, or only some requests.
      await setBudget(0.01, 'day', `, of_key => ${await idOf(other)}`)
      await setBudget(0.02, 'day', `, of_model => 'gpt-4o'`)
      await proxy.query(`select set_budget('${project}', 'tokens', 100000, 'day')`)
      const usd = await spend()
      expect(await read('/key')).toMatchObject({
        ...{ limit: 0.5, limit_reset: 'weekly', usage: expect.closeTo(usd, 9) },
        limit_remaining: expect.closeTo(0.5 - usd, 9),
      })
      const { total_credits, total_usage } = await read('/credits')
      expect(total_usage).toBeCloseTo(usd, 9)
      expect(total_credits - total_usage).toBeCloseTo(0.5 - usd, 9)
      expect(await read('/key', other)).toMatchObject({ limit: 0.01, limit_remaining: 0.01, limit_reset: 'daily' })
    })

    test.each([
      ['day', 'daily'],
      ['month', 'monthly'],
      ['total', null],
    ])('a budget of a %s', async (per, limit_reset) => {
      await setBudget(0, per)
      expect(await read('/key')).toMatchObject({ limit: 0, limit_remaining: 0, limit_reset })
      expect(await read('/credits')).toEqual({ total_credits: 0, total_usage: 0 })
    })

    test('the organization’s budget counts, but its amount is not shown', async () => {
      await proxy.query(`insert into budgets (unit, amount, per) values ('usd', 3, 'month')`)
      await proxy.query(`update projects set has_budgets = true`)
      try {
        const { limit, limit_remaining } = await read('/key')
        expect(limit).toBeNull()
        expect(limit_remaining).toBeLessThanOrEqual(3)
      } finally {
        await proxy.query('delete from budgets where project_id is null')
      }
    })
  })

  test('a rotated key’s former value has the information of its key', async () => {
    await spend()
    const [rotated] = await proxy.query<{ key: string }>(
      `select rotate_key(${await idOf(key)}, interval '1 hour') as key`,
    )
    const successor = rotated?.key ?? ''
    await spend(successor)
    const [former, present] = [await read('/key', key), await read('/key', successor)]
    expect(former.usage).toBe(present.usage)
    expect(former.usage).toBeGreaterThan(0)
  })

  test.each(PAGES)('%s requires a valid key, is free, and is read alone', async path => {
    const root = new URL(proxy.baseUrl).origin
    expect((await get(proxy, path, 'lgw_proj_nobody')).status).toBe(401)
    expect((await get(proxy, path)).status).toBe(401)
    for (const at of [`${root}/api/v1${path}`, `${root}${path}`]) {
      const response = await fetch(at, { headers: { 'x-api-key': key } })
      expect([at, response.status]).toEqual([at, 200])
    }
    expect((await fetch(`${proxy.baseUrl}${path}`, { method: 'HEAD', headers: { 'api-key': key } })).status).toBe(200)
    const posted = await fetch(`${proxy.baseUrl}${path}`, { method: 'POST', headers: { 'api-key': key } })
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET'])
    await proxy.query(`select deactivate_key('${key}')`)
    expect((await get(proxy, path, key)).status).toBe(403)
    const counted = await proxy.query(
      `select 1 from monthly_counters c join projects p on p.id = c.project_id where p.name = '${project}'`,
    )
    expect(counted).toEqual([])
  })

  describe('models in LiteLLM’s format', () => {
    interface Info {
      model_name: string
      litellm_params: { model: string }
      model_info: Record<string, unknown>
    }
    const infos = (path = '/model/info', as = key): Promise<Info[]> => read(path, as)

    test('are those of the list, with limits, prices and abilities', async () => {
      await storeKey(proxy.stores, project, 'openai', 'sk-own')
      const listed = (await read('/models')) as { id: string }[]
      const models = await infos()
      expect(models.map(({ model_name }) => model_name)).toEqual(listed.map(({ id }) => id))
      expect(models.find(({ model_name }) => model_name === 'gpt-4o-mini')).toEqual({
        model_name: 'gpt-4o-mini',
        litellm_params: { model: 'gpt-4o-mini' },
        model_info: expect.objectContaining({
          ...{ id: 'gpt-4o-mini', mode: 'chat', litellm_provider: 'openai', db_model: false },
          ...{ max_input_tokens: 128_000, max_output_tokens: 16_384, max_tokens: 16_384 },
          ...{ input_cost_per_token: 1.5e-7, output_cost_per_token: 6e-7, cache_read_input_token_cost: 7.5e-8 },
          ...{ supports_function_calling: true, supports_vision: true, supports_audio_input: false },
        }),
      })
      const byName = new Map(models.map(({ model_name, model_info }) => [model_name, model_info]))
      expect(byName.get('whisper-1')).toMatchObject({ mode: 'audio_transcription', input_cost_per_second: 0.0001 })
      expect(byName.get('whisper-1')).not.toHaveProperty('input_cost_per_token')
      expect(byName.get('tts-1')).toMatchObject({ mode: 'audio_speech', input_cost_per_character: 1.5e-5 })
      expect(byName.get('text-embedding-3-small')).toMatchObject({ mode: 'embedding', output_cost_per_token: 0 })
    })

    test('are only those that the key may use, including aliases, or a single one', async () => {
      const narrowed = await proxy.createKey({
        project: `${project}-n`,
        type: 'project',
        settings: { aliases: 'fast=openai/gpt-4o-mini', allowed_models: 'fast,openai/gpt-4o' },
      })
      const models = await infos('/model/info', narrowed)
      expect(models.map(({ model_name }) => model_name)).toEqual(['fast', 'openai/gpt-4o'])
      expect(models[0]).toMatchObject({ litellm_params: { model: 'openai/gpt-4o-mini' }, model_info: { id: 'fast' } })
      const [one, ...more] = await infos('/model/info?litellm_model_id=openai%2Fgpt-4o', narrowed)
      expect([one?.model_name, more]).toEqual(['openai/gpt-4o', []])
      expect((await get(proxy, '/model/info?litellm_model_id=openai/o3', narrowed)).status).toBe(404)
    })
  })
})
