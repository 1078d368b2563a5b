/**
 * The upper bound of a request's cost where its provider runs tools. Each tool call reads another full context, and searches and containers
 * have prices.
 */
import { expect, test } from 'vitest'
import { maxCost, maxPriceOf, requestSizeOfBody } from '../../../../src/pipeline/spending/max-cost.ts'
import { DEFAULT_TOOL_CALLS } from '../../../../src/pipeline/spending/max-tokens.ts'
import type { CatalogueModel } from '../../../../src/postgres/list-models.ts'
import type { Provider } from '../../../../src/providers/upstream.ts'

const CONTEXT = 100_000
const SEARCH_USD = 0.01
const FILE_SEARCH_USD = 0.0025
const CONTAINER_USD = 0.03
const USUAL_SEARCHES = DEFAULT_TOOL_CALLS * SEARCH_USD
const MODEL = {
  kind: 'chat',
  contextTokens: CONTEXT,
  maxOutputTokens: 1_000,
  inputUsdPerMillion: 1,
  outputUsdPerMillion: 10,
  conditionalPrices: [],
  unitPrices: { search: SEARCH_USD, file_search: FILE_SEARCH_USD, container: CONTAINER_USD },
} as unknown as CatalogueModel
const PROVIDER = { name: 'p', pricedAs: 'p' } as unknown as Provider
const catalogue = { find: () => MODEL }

const SEARCH = { type: 'web_search' }
const CODE = { type: 'code_interpreter' }
const CLAUDES = { type: 'web_search_20250305', name: 'web_search' }
const FETCH = { type: 'web_fetch_20250910', name: 'web_fetch', max_uses: 2 }
const OWN = { type: 'function', name: 'f', parameters: {} }

test.each([
  // Without a tool that the provider runs, only the text counts.
  ['responses', { tools: [OWN] }, 0, 0],
  ['responses', { tools: [OWN, SEARCH] }, DEFAULT_TOOL_CALLS, USUAL_SEARCHES],
  ['responses', { tools: [SEARCH], max_tool_calls: 3 }, 3, 3 * SEARCH_USD],
  // The limit applies to all tools together.
  ['responses', { tools: [SEARCH, CODE], max_tool_calls: 3 }, 3, 3 * SEARCH_USD + CONTAINER_USD],
  ['responses', { tools: [SEARCH, CODE] }, 2 * DEFAULT_TOOL_CALLS, USUAL_SEARCHES + CONTAINER_USD],
  // A tool has one container, however often it is called.
  ['responses', { tools: [CODE] }, DEFAULT_TOOL_CALLS, CONTAINER_USD],
  [
    'responses',
    { tools: [{ ...CODE, container: { type: 'auto', memory_limit: '16g' } }] },
    DEFAULT_TOOL_CALLS,
    16 * CONTAINER_USD,
  ],
  [
    'responses',
    { tools: [{ type: 'shell', environment: { type: 'container_auto', memory_limit: '4g' } }] },
    DEFAULT_TOOL_CALLS,
    4 * CONTAINER_USD,
  ],
  ['responses', { tools: [{ type: 'shell', environment: { type: 'local' } }] }, 0, 0],
  ['responses', { tools: [{ type: 'file_search' }], max_tool_calls: 4 }, 4, 4 * FILE_SEARCH_USD],
  // Fields of another endpoint limit nothing.
  ['responses', { tools: [{ ...SEARCH, max_uses: 1 }] }, DEFAULT_TOOL_CALLS, USUAL_SEARCHES],
  ['messages', { tools: [CLAUDES], max_tool_calls: 1 }, DEFAULT_TOOL_CALLS, USUAL_SEARCHES],
  ['messages', { tools: [{ ...CLAUDES, max_uses: 4 }, FETCH] }, 6, 4 * SEARCH_USD],
  ['messages', { tools: [{ type: 'bash_20250124', name: 'bash' }] }, 0, 0],
  ['chat', { web_search_options: {} }, DEFAULT_TOOL_CALLS, USUAL_SEARCHES],
  ['chat', { web_search_options: null }, 0, 0],
] as const)('%s %j: %d calls, for %d dollars beside the tokens', (endpoint, fields, calls, toolsUsd) => {
  const limit = endpoint === 'responses' ? { max_output_tokens: 100 } : { max_tokens: 100 }
  const body = { model: 'm', ...limit, ...fields }
  const size = requestSizeOfBody(endpoint, body, JSON.stringify(body).length)
  const { usd, tokens } = maxCost(size, PROVIDER, catalogue) ?? {}
  const prompt = (tokens ?? 0) - 100
  if (calls === 0) expect(prompt).toBeLessThanOrEqual(CONTEXT)
  else expect(prompt).toBe(CONTEXT * (1 + calls))
  expect(usd).toBeCloseTo((prompt * 1 + 100 * 10) / 1e6 + toolsUsd, 9)
})

const usd = (body: object, model: object = {}, bytes = JSON.stringify(body).length) => {
  const priced = { find: () => ({ ...MODEL, ...model }) as unknown as CatalogueModel }
  const { usd = null } = maxCost(requestSizeOfBody('chat', { model: 'm', ...body }, bytes), PROVIDER, priced) ?? {}
  return usd
}
/** `most` is the cost in US dollars of a prompt of 1,000 bytes and a response of 100 tokens, at prices per million tokens. */
const BYTES = 1_000
const LIMITED = { max_tokens: 100 }
const most = (input: number, output: number) => (1_000 * input + 100 * output) / 1e6

test('reserves for the highest of all prices that may apply to a request', () => {
  expect(usd(LIMITED, {}, BYTES)).toBeCloseTo(most(1, 10), 9)
  const tier = { tier: 'priority', abovePromptTokens: 0, inputUsdPerMillion: 2, outputUsdPerMillion: 20 }
  const long = { ...tier, tier: 'standard', abovePromptTokens: 900 }
  const conditional = (row: object) => ({ conditionalPrices: [row] })
  expect(usd(LIMITED, conditional(tier), BYTES)).toBeCloseTo(most(2, 20), 9)
  expect(usd({ ...LIMITED, service_tier: 'default' }, conditional(tier), BYTES)).toBeCloseTo(most(1, 10), 9)
  expect(usd(LIMITED, conditional(long), BYTES)).toBeCloseTo(most(2, 20), 9)
  expect(usd(LIMITED, conditional({ ...long, abovePromptTokens: 1_001 }), BYTES)).toBeCloseTo(most(1, 10), 9)
  expect(usd(LIMITED, { cacheWriteUsdPerMillion: 3 }, BYTES)).toBeCloseTo(most(3, 10), 9)
  expect(usd(LIMITED, { cacheWriteHourUsdPerMillion: 4 }, BYTES)).toBeCloseTo(most(4, 10), 9)
  expect(usd(LIMITED, { unitPrices: { audio_input: 5 } }, BYTES)).toBeCloseTo(most(5, 10), 9)
  expect(usd(LIMITED, { unitPrices: { image_input: 6 } }, BYTES)).toBeCloseTo(most(6, 10), 9)
  expect(usd(LIMITED, { unitPrices: { audio_output: 70 } }, BYTES)).toBeCloseTo(most(1, 70), 9)
  expect(usd(LIMITED, { unitPrices: { request: 0.5 } }, BYTES)).toBeCloseTo(most(1, 10) + 0.5, 9)
})

test('reserves for what makes a response longer or a prompt larger', () => {
  expect(usd({ ...LIMITED, n: 3 }, {}, BYTES)).toBeCloseTo(most(1, 30), 9)
  expect(usd({ max_tokens: 50, max_completion_tokens: 100 }, {}, BYTES)).toBeCloseTo(most(1, 10), 9)
  expect(usd({}, {}, BYTES)).toBeCloseTo((1_000 + 1_000 * 10) / 1e6, 9)
  // Providers add tokens of their own to a prompt with tools.
  expect(usd({ ...LIMITED, tools: [OWN] }, {}, BYTES)).toBeCloseTo((2_000 + 100 * 10) / 1e6, 9)
  // An image that is given by its URL may fill the context.
  const messages = [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://example.com/' } }] }]
  expect(usd({ ...LIMITED, messages })).toBeCloseTo((CONTEXT + 100 * 10) / 1e6, 9)
})

test('of several models the most expensive counts, and each must have a known price', () => {
  const size = requestSizeOfBody('chat', { model: 'cheap', models: ['dear'], ...LIMITED }, BYTES)
  const priced = (known: Record<string, object>) => ({
    find: (_: string, model: string) => known[model] && ({ ...MODEL, ...known[model] } as unknown as CatalogueModel),
  })
  expect(maxCost(size, PROVIDER, priced({ cheap: {}, dear: { inputUsdPerMillion: 9 } }))?.usd).toBeCloseTo(
    most(9, 10),
    9,
  )
  expect(maxCost(size, PROVIDER, priced({ cheap: {} }))?.usd).toBeNull()
  expect(maxCost(size, PROVIDER, priced({ dear: {} }))?.usd).toBeNull()
  expect(maxCost(size, { ...PROVIDER, pricedAs: null }, priced({}))).toBeNull()
})

test('reserves what another host may charge for a model, and nothing beyond what is sent', () => {
  const known: Record<string, object> = {
    cheap: {},
    dear: { contextTokens: 10, inputUsdPerMillion: 9, outputUsdPerMillion: 90 },
  }
  const catalogue = {
    find: (_: string, model: string) =>
      ({ ...MODEL, unitPrices: { request: 0.5 }, ...known[model] }) as unknown as CatalogueModel,
  }
  const limiting = { ...PROVIDER, pricedAs: 'aggregator', enforcesMaxPrice: true }
  const size = requestSizeOfBody('chat', { model: 'cheap', models: ['dear'], provider: {}, ...LIMITED }, BYTES)
  const usdOf = (more: object, provider: Provider = limiting) => maxCost({ ...size, ...more }, provider, catalogue)
  // The cheap model reads more tokens. The bound uses the maximum prices that the request sets for both models.
  expect(maxPriceOf(() => size, limiting, catalogue)).toEqual({ prompt: 9, completion: 90, request: 0.5 })
  expect(usdOf({})?.usd).toBeCloseTo(most(9, 90) + 0.5, 9)
  // A pass-through request sets no maximum prices, and other aggregators do not enforce them.
  expect(usdOf({ isPassThrough: true })).toEqual({ usd: null, tokens: null, unknown: 'provider' })
  expect(usdOf({}, { ...limiting, enforcesMaxPrice: false })?.unknown).toBe('provider')
  // The highest request fee of the models counts.
  known.dear = { ...known.dear, unitPrices: { request: 0.7 } }
  expect(usdOf({})?.usd).toBeCloseTo(most(9, 90) + 0.7, 9)
})
