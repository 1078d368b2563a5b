/** The most that a request may cost, where its provider runs tools: each call reads a full context more; searches and containers have prices. */
import { expect, test } from 'vitest'
import { USUAL_TOOL_CALLS } from '../../../src/formats/bounds/tool-bounds.ts'
import { largestCost, sizeOfBody } from '../../../src/pipeline/largest-cost.ts'
import type { CatalogueModel } from '../../../src/postgres/list-models.ts'
import type { Provider } from '../../../src/providers/upstream.ts'

const CONTEXT = 100_000
const SEARCH_USD = 0.01
const FILE_SEARCH_USD = 0.0025
const CONTAINER_USD = 0.03
const USUAL_SEARCHES = USUAL_TOOL_CALLS * SEARCH_USD
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
  // Without one, the text alone counts.
  ['responses', { tools: [OWN] }, 0, 0],
  ['responses', { tools: [OWN, SEARCH] }, USUAL_TOOL_CALLS, USUAL_SEARCHES],
  ['responses', { tools: [SEARCH], max_tool_calls: 3 }, 3, 3 * SEARCH_USD],
  // All tools together.
  ['responses', { tools: [SEARCH, CODE], max_tool_calls: 3 }, 3, 3 * SEARCH_USD + CONTAINER_USD],
  ['responses', { tools: [SEARCH, CODE] }, 2 * USUAL_TOOL_CALLS, USUAL_SEARCHES + CONTAINER_USD],
  // However often it is called, a tool has one container.
  ['responses', { tools: [CODE] }, USUAL_TOOL_CALLS, CONTAINER_USD],
  [
    'responses',
    { tools: [{ ...CODE, container: { type: 'auto', memory_limit: '16g' } }] },
    USUAL_TOOL_CALLS,
    16 * CONTAINER_USD,
  ],
  [
    'responses',
    { tools: [{ type: 'shell', environment: { type: 'container_auto', memory_limit: '4g' } }] },
    USUAL_TOOL_CALLS,
    4 * CONTAINER_USD,
  ],
  ['responses', { tools: [{ type: 'shell', environment: { type: 'local' } }] }, 0, 0],
  ['responses', { tools: [{ type: 'file_search' }], max_tool_calls: 4 }, 4, 4 * FILE_SEARCH_USD],
  // Fields of another endpoint limit nothing.
  ['responses', { tools: [{ ...SEARCH, max_uses: 1 }] }, USUAL_TOOL_CALLS, USUAL_SEARCHES],
  ['messages', { tools: [CLAUDES], max_tool_calls: 1 }, USUAL_TOOL_CALLS, USUAL_SEARCHES],
  ['messages', { tools: [{ ...CLAUDES, max_uses: 4 }, FETCH] }, 6, 4 * SEARCH_USD],
  ['messages', { tools: [{ type: 'bash_20250124', name: 'bash' }] }, 0, 0],
  ['chat', { web_search_options: {} }, USUAL_TOOL_CALLS, USUAL_SEARCHES],
  ['chat', { web_search_options: null }, 0, 0],
] as const)('%s %j: %d calls, for %d dollars beside the tokens', (endpoint, fields, calls, toolsUsd) => {
  const limit = endpoint === 'responses' ? { max_output_tokens: 100 } : { max_tokens: 100 }
  const body = { model: 'm', ...limit, ...fields }
  const size = sizeOfBody(endpoint, body, JSON.stringify(body).length)
  const { usd, tokens } = largestCost(size, PROVIDER, catalogue) ?? {}
  const prompt = (tokens ?? 0) - 100
  if (calls === 0) expect(prompt).toBeLessThanOrEqual(CONTEXT)
  else expect(prompt).toBe(CONTEXT * (1 + calls))
  expect(usd).toBeCloseTo((prompt * 1 + 100 * 10) / 1e6 + toolsUsd, 9)
})
