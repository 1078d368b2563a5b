/** The most that a request may cost, where its provider runs tools: each call reads a full context more, each search has its price. */
import { expect, test } from 'vitest'
import { sizeOfRequest } from '../../../src/pipeline/kept-objects/read-batch-line.ts'
import { largestCost, USUAL_TOOL_CALLS } from '../../../src/pipeline/largest-cost.ts'
import type { CatalogueModel } from '../../../src/postgres/list-models.ts'
import type { Provider } from '../../../src/providers/upstream.ts'

const CONTEXT = 100_000
const MODEL = {
  kind: 'chat',
  contextTokens: CONTEXT,
  maxOutputTokens: 1_000,
  inputUsdPerMillion: 1,
  outputUsdPerMillion: 10,
  conditionalPrices: [],
  unitPrices: { search: 0.01 },
} as unknown as CatalogueModel
const PROVIDER = { name: 'p', pricedAs: 'p' } as unknown as Provider
const catalogue = { find: () => MODEL }

const SEARCH = { type: 'web_search' }
const CLAUDES = { type: 'web_search_20250305', name: 'web_search' }
const FETCH = { type: 'web_fetch_20250910', name: 'web_fetch', max_uses: 2 }
const OWN = { type: 'function', name: 'f', parameters: {} }

test.each([
  // Without one, the text alone counts.
  ['responses', { tools: [OWN] }, 0, 0],
  ['responses', { tools: [OWN, SEARCH] }, USUAL_TOOL_CALLS, USUAL_TOOL_CALLS],
  ['responses', { tools: [SEARCH], max_tool_calls: 3 }, 3, 3],
  // All tools together.
  ['responses', { tools: [SEARCH, { type: 'code_interpreter' }], max_tool_calls: 3 }, 3, 3],
  ['responses', { tools: [SEARCH, { type: 'code_interpreter' }] }, 2 * USUAL_TOOL_CALLS, USUAL_TOOL_CALLS],
  ['responses', { tools: [{ type: 'code_interpreter' }] }, USUAL_TOOL_CALLS, 0],
  // Fields of another endpoint limit nothing.
  ['responses', { tools: [{ ...SEARCH, max_uses: 1 }] }, USUAL_TOOL_CALLS, USUAL_TOOL_CALLS],
  ['messages', { tools: [CLAUDES], max_tool_calls: 1 }, USUAL_TOOL_CALLS, USUAL_TOOL_CALLS],
  ['messages', { tools: [{ ...CLAUDES, max_uses: 4 }, FETCH] }, 6, 4],
  ['messages', { tools: [{ type: 'bash_20250124', name: 'bash' }] }, 0, 0],
  ['chat', { web_search_options: {} }, USUAL_TOOL_CALLS, USUAL_TOOL_CALLS],
  ['chat', { web_search_options: null }, 0, 0],
] as const)('%s %j: %d calls, %d searches', (endpoint, fields, calls, searches) => {
  const limit = endpoint === 'responses' ? { max_output_tokens: 100 } : { max_tokens: 100 }
  const body = { model: 'm', ...limit, ...fields }
  const text = JSON.stringify(body)
  // A line of a batch comes from a worker, with what bounds its cost alone.
  const sizes = [sizeOfRequest(endpoint, body, text), { ...sizeOfRequest(endpoint, body, text), body }]
  for (const size of sizes) {
    const { usd, tokens } = largestCost(size, PROVIDER, catalogue) ?? {}
    const prompt = (tokens ?? 0) - 100
    if (calls === 0) expect(prompt).toBeLessThanOrEqual(CONTEXT)
    else expect(prompt).toBe(CONTEXT * (1 + calls))
    expect(usd).toBeCloseTo((prompt * 1 + 100 * 10) / 1e6 + searches * 0.01, 9)
  }
})
