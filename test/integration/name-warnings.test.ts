/** A name that has never matched anything is accepted, with a warning in the response. */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { callFunction } from '../../src/postgres/call.ts'
import { findSimilarNames } from '../../src/providers/similar-names.ts'
import { describeBackends } from '../harness/backends.ts'
import { question } from '../harness/chat.ts'
import { ask } from '../harness/client.ts'
import { startUpstreams, storeKey } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'
import { addUser, issueAdminKey, send } from './admin/people.ts'

const MISSPELT = 'No model is known by the name gpt-4o-mni. Did you mean gpt-4o-mini?'

describeBackends('names that match nothing', backend => {
  const upstreams = duringTests(startUpstreams)
  const proxy = duringTests(() =>
    startProxy({ dashboard: true, stores: backend.open(), environment: upstreams.environment }),
  )
  let project: string
  let id: string
  let authorization: string

  beforeAll(async () => {
    await addUser(proxy, 'root@example.org', 'owner')
    authorization = `Bearer ${await issueAdminKey(proxy, 'root@example.org')}`
  })
  beforeEach(async () => {
    upstreams.reset()
    project = `n-${crypto.randomUUID()}`
    id = `proj_${await callFunction(proxy.stores.database, 'create_project', { project, plan: 'free' })}`
  })

  const to = (method: 'GET' | 'POST', path: string, body?: unknown) =>
    send(proxy, method, `/v1/organization/projects/${id}/${path}`, { body, headers: { authorization } })
  const budget = (more: object) => to('POST', 'budgets', { unit: 'usd', amount: 1, per: 'month', ...more })

  test('a budget of an unknown model is set, with a warning until a request was served by it', async () => {
    const { status, json } = await budget({ model: 'gpt-4o-mni' })
    expect([status, json.warnings]).toEqual([200, [MISSPELT]])
    const listed = async () =>
      (await to('GET', 'budgets')).json.data.map((each: { warnings: string[] }) => each.warnings)
    expect(await listed()).toEqual([[MISSPELT]])
    await proxy.query(`update budget_periods set spent = 1e-9 where budget_id = (select max(id) from budgets)`)
    expect(await listed()).toEqual([[]])
  })

  const warningsOf = async (names: readonly string[], own: readonly string[] = []) => {
    const of_project = Number(id.slice('proj_'.length))
    return callFunction(proxy.stores.database, 'model_name_warnings', {
      of_project,
      names: [...names],
      own_names: [...own],
    })
  }

  test('a model of the catalogue is known by every name that requests may use', async () => {
    const known = ['gpt-4o-mini', 'openai/gpt-4o-mini', 'gpt-4o-mini-2024-07-18', 'openai/gpt-4o-mini:nitro']
    const claude = ['claude-haiku-4-5', 'anthropic/claude-haiku-4.5', 'claude-haiku-4-5-20251001']
    const others = [
      'ft:gpt-4o-mini-2024-07-18:acme::abc',
      'fast',
      'gpt-4o*',
      'openai/*',
      'groq/llama-3*',
      '*mini',
      '*',
      'fa*',
    ]
    expect(await warningsOf([...known, ...claude, ...others], ['fast'])).toEqual([])
  })

  test('warns of each name, vendor and pattern that matches nothing, with the most similar name', async () => {
    expect(
      await warningsOf(['gpt-4o-mni', 'opneai/gpt-4o', 'gtp-4o*', 'gpt_4o*', 'fast', 'ft:gpt-4o-mni:acme::a']),
    ).toEqual([
      MISSPELT,
      'No model is known by the name opneai/gpt-4o. Did you mean openai/gpt-4o?',
      'No known model matches the pattern gtp-4o*.',
      'No known model matches the pattern gpt_4o*.',
      expect.stringMatching(/^No model is known by the name fast\./),
      'No model is known by the name ft:gpt-4o-mni:acme::a. Did you mean gpt-4o-mini?',
    ])
    expect(await warningsOf(['a-model-of-our-own-house'])).toEqual([
      'No model is known by the name a-model-of-our-own-house.',
    ])
  })

  test('a model that served requests of the project is known, but not one of another project, or one that failed', async () => {
    const key = await proxy.createKey({ project, type: 'project' })
    const model = 'acme/house-model'
    const refused = 'No model is known by the name acme/house-model.'
    expect((await warningsOf([model]))[0]).toContain(refused)
    upstreams.aggregator.script({ kind: 'error', status: 404 })
    expect((await ask(proxy, key, question('Once?', { model }))).status).toBe(404)
    await proxy.settle()
    expect((await warningsOf([model]))[0]).toContain(refused)
    await proxy.query('select roll_up_usage()')
    expect((await warningsOf([model]))[0]).toContain(refused)
    upstreams.reset()
    expect((await ask(proxy, key, question('Once more?', { model }))).status).toBe(200)
    await proxy.settle()
    expect(await warningsOf([model, 'house-model', 'acme/house*'])).toEqual([])
    await proxy.query('select roll_up_usage()')
    expect(await warningsOf([model, 'house-model', 'acme/house*'])).toEqual([])
    id = `proj_${await callFunction(proxy.stores.database, 'create_project', { project: `${project}-2`, plan: 'free' })}`
    expect((await warningsOf([model]))[0]).toContain(refused)
  })

  test('settings are changed, with a warning about unknown models', async () => {
    const { status, json } = await to('POST', 'settings', {
      aliases: 'fast=gpt-4o-mni|gpt-4.1,smart=gpt-4.1',
      fallbacks: 'claude-haku-4-5',
      semantic_judge_model: 'openai/gtp-4o-mini',
      allowed_models: 'fast,gpt-4*,gtp-*',
    })
    const warnings = [
      'No model is known by the name claude-haku-4-5. Did you mean claude-haiku-4-5?',
      MISSPELT,
      'No model is known by the name openai/gtp-4o-mini. Did you mean openai/gpt-4o-mini?',
      'No known model matches the pattern gtp-*.',
    ]
    expect([status, json.settings.fallbacks, json.warnings.toSorted()]).toEqual([
      200,
      ['claude-haku-4-5'],
      warnings.toSorted(),
    ])
    const right = { fallbacks: 'claude-haiku-4-5', semantic_judge_model: '', aliases: '', allowed_models: '' }
    expect((await to('POST', 'settings', right)).json.warnings).toEqual([])
    expect((await to('GET', 'settings')).json.warnings).toEqual([])
    // An alias is for clients only, so settings cannot name a model by it.
    const byAlias = { aliases: 'fast=gpt-4o-mini', fallbacks: 'fast', allowed_models: 'fast' }
    expect((await to('POST', 'settings', byAlias)).json.warnings).toEqual([
      expect.stringMatching(/^No model is known by the name fast\./),
    ])
  })

  test('checks the models that a key may use, too', async () => {
    await to('POST', 'settings', { aliases: 'fast=gpt-4o-mini' })
    const { json: key } = await to('POST', 'api_keys', { name: 'k', type: 'project' })
    expect(key.warnings).toEqual([])
    const path = `api_keys/${key.id}`
    const { json: limited } = await to('POST', path, { allowed_models: ['fast', 'gpt-4o-mni', 'gpt-4o*'] })
    expect(limited.warnings).toEqual([MISSPELT])
  })

  test('warns of a budget for a tag that no request had, and names a similar one', async () => {
    const unheard = (tag: string, hint = '') => [`No request with the tag ${tag} has been recorded.${hint}`]
    expect((await budget({ tag: 'team=search' })).json.warnings).toEqual(unheard('team=search'))
    const key = await proxy.createKey({ project, type: 'project' })
    await storeKey(proxy.stores, project, 'openai', 'sk-own')
    const { status } = await ask(proxy, key, question('Once?', { model: 'gpt-4o-mini' }), {
      'x-proxy-tags': 'env=prod, team=search',
    })
    expect(status).toBe(200)
    await proxy.settle()
    // A `total` budget begins with nothing spent.
    expect((await budget({ tag: 'env=prod', per: 'total' })).json.warnings).toEqual([])
    await proxy.query('select roll_up_usage()')
    expect((await budget({ tag: 'env=prod', per: 'total' })).json.warnings).toEqual([])
    expect((await budget({ tag: 'team=serach' })).json.warnings).toEqual(
      unheard('team=serach', ' Did you mean team=search?'),
    )
  })

  test('warns of a budget for a key that is no longer valid', async () => {
    const { json: key } = await to('POST', 'api_keys', { name: 'k', type: 'project' })
    expect((await budget({ api_key_id: key.id })).json.warnings).toEqual([])
    const state = async (set: string) => {
      await proxy.query(`update api_keys set ${set} where id = ${key.id.slice('key_'.length)}`)
      return (await to('GET', 'budgets')).json.data[0].warnings
    }
    const invalid = ['The key of this budget is not valid any more: no request can match.']
    expect(await state(`expires_at = now() - interval '1 second'`)).toEqual(invalid)
    expect(await state('expires_at = null')).toEqual([])
    expect(await state('deactivated_at = now()')).toEqual(invalid)
  })

  test('under a budget, rejects a model without a price by its name', async () => {
    const key = await proxy.createKey({ project, type: 'project' })
    await storeKey(proxy.stores, project, 'openai', 'sk-own')
    await budget({})
    const messageOf = async (model: string) => {
      const { status, json } = await ask(proxy, key, question('Once?', { model }))
      expect([status, json.error.code, json.error.param]).toEqual([400, 'model_not_priced', 'model'])
      return json.error.message
    }
    expect(await messageOf('gpt-4o-mni')).toMatch(
      /^No price is known for gpt-4o-mni\. Did you mean gpt-4o-mini\? A budget in USD/,
    )
    expect(await messageOf('acme/a-model-of-our-own-house')).toMatch(
      /^No price is known for acme\/a-model-of-our-own-house\. A budget in USD/,
    )
  })

  describe('similar names', () => {
    const NAMES = [
      'gpt-4o',
      'gpt-4.1',
      'gpt-4.1-mini',
      'openai/gpt-4o-mini',
      'claude-haiku-4-5',
      'o3',
      'o1',
      'badc',
      'qwen/qwen3-32b',
    ]
    const written = [
      'gtp-4o',
      'gpt4o',
      'GPT-4.1-Mini',
      'gpt-4o-mni',
      'openai/gtp-4o-mini',
      'opneai/gpt-4o-mini',
      'o2',
      'O13',
    ]
    test.each([
      ...written,
      'claude-haku-4.5',
      'qwen3-32',
      'nothing',
      'b',
      '',
      'x'.repeat(101),
      'gpt-4.1-nano',
      'mini',
      'abcd',
    ])('are the same in the database and in the program: %s', async name => {
      const found = await callFunction(proxy.stores.database, 'find_similar_name', { given_name: name, names: NAMES })
      expect(found).toBe(findSimilarNames(name, NAMES)[0] ?? null)
    })
  })
})
