/** Prices of direct providers from a published table: differences are shown for review, and an operator's own price stays. */
import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import { parsePublishedPrices } from '../../src/catalogue/published-prices.ts'
import { callFunction } from '../../src/postgres/call.ts'
import { describeBackends, type Stores } from '../harness/backends.ts'
import { queriesOf } from '../harness/queries.ts'

const model = (input: number, output: number, more: Record<string, number> = {}) => ({
  litellm_provider: 'openai',
  mode: 'chat',
  input_cost_per_token: input / 1e6,
  output_cost_per_token: output / 1e6,
  ...more,
})
const TABLE = {
  'gpt-4.1': model(1.5, 6),
  'gpt-4o': model(99, 99),
  'gpt-5.4': model(2.5, 15, { input_cost_per_token_flex: 1e-6, output_cost_per_token_flex: 7e-6 }),
  'gpt-4.1-mini': model(0.4, 1.6, { input_cost_per_token_flex: 0.2e-6, output_cost_per_token_flex: 0.8e-6 }),
  'gpt-99': model(1, 2),
}

describeBackends('prices from a published table', backend => {
  let stores: Stores
  beforeEach(async () => {
    stores = await backend.open()
    await query(`update models set source = 'operator' where provider = 'openai' and model = 'gpt-4o'`)
    await query(`update model_prices set source = 'operator' where model = 'gpt-5.4' and tier = 'flex'`)
  })
  const query = async (text: string) => (await sql.raw(text).execute(queriesOf(stores.database))).rows
  const sync = (dryRun: boolean) =>
    callFunction(stores.database, 'sync_prices', {
      published: parsePublishedPrices(TABLE, new Map([['openai', 'openai']])),
      source_address: 'a table',
      dry_run: dryRun,
    })
  const pricesNow = () =>
    query(
      `select model, 'own' as tier, input_usd_per_million::float as input, cached_input_usd_per_million::float as cached, source
      from models where provider = 'openai' and model in ('gpt-4.1', 'gpt-4o', 'gpt-99')
      union all
      select model, tier, input_usd_per_million::float, cached_input_usd_per_million::float, source from model_prices
      where model in ('gpt-5.4', 'gpt-4.1-mini') and tier = 'flex' order by 1, 2`,
    )

  test('are printed as differences, and changed only if requested', async () => {
    const before = await pricesNow()
    const changes = await sync(true)
    expect(changes.map(({ change, model: name }) => `${change}: ${name}`)).toEqual([
      'added: openai gpt-4.1-mini, flex',
      'changed: openai gpt-4.1',
      'left alone: openai gpt-4o',
      'left alone: openai gpt-5.4, flex',
      'not listed: openai gpt-99',
    ])
    expect(changes[1]?.details).toBe('input 2 -> 1.5, output 8 -> 6')
    expect(await pricesNow()).toEqual(before)
    expect(await sync(false)).toEqual(changes)
    expect(await pricesNow()).toEqual([
      // Prices that are missing in the table stay.
      { model: 'gpt-4.1', tier: 'own', input: 1.5, cached: 0.5, source: 'a table' },
      { model: 'gpt-4.1-mini', tier: 'flex', input: 0.2, cached: null, source: 'a table' },
      ...before.filter(row => ['gpt-4o', 'gpt-5.4'].includes((row as { model: string }).model)),
    ])
    expect((await sync(true)).map(({ change }) => change)).toEqual(['left alone', 'left alone', 'not listed'])
  })
})
