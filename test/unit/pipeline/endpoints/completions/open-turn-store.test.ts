/** What restored extras add to the cost bound. */
import { expect, test, vi } from 'vitest'
import { describeTurn } from '../../../../../src/formats/chat/tool-turns.ts'
import { openTurnStore } from '../../../../../src/pipeline/endpoints/completions/completion.ts'
import { parseRequest } from '../../../../../src/pipeline/request/parse-request.ts'

const MODEL = {
  kind: 'chat',
  contextTokens: 100_000,
  maxOutputTokens: 1_000,
  inputUsdPerMillion: 2,
  outputUsdPerMillion: 10,
  conditionalPrices: [],
  unitPrices: {},
}
const TURN = {
  role: 'assistant',
  tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } }],
  reasoning_content: 'x'.repeat(1_000),
}

function open(found: object[]) {
  const reserveAddition = vi.fn(async () => {})
  const find = vi.fn(async () => found)
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hello' }] })
  const context = {
    query: parseRequest({ endpoint: 'chat', headers: new Headers() }, body),
    provider: { name: 'p', pricedAs: 'p' },
    recorder: { spending: { reserveAddition } },
    call: { signal: null },
  }
  const services = { storedTurns: { open: () => ({ find, store() {} }) }, catalogue: { find: () => MODEL } }
  const store = openTurnStore(...([context, services] as unknown as Parameters<typeof openTurnStore>))
  return { store, find, reserveAddition }
}

test('the bytes of restored extras are reserved once, whatever the number of attempts', async () => {
  const extras = describeTurn([], TURN)?.extras
  const { store, find, reserveAddition } = open([{ name: 'a', madeBy: 'p/m', extras }])
  await Promise.all([store.find([]), store.find([])])
  await store.find([])
  expect(find).toHaveBeenCalledOnce()
  const tokens = JSON.stringify(extras).length
  expect(tokens).toBeGreaterThan(1_000)
  const bound = { usd: expect.closeTo((tokens * 2) / 1_000_000, 9), tokens }
  expect(reserveAddition).toHaveBeenCalledExactlyOnceWith('m', bound, null)
})

test('nothing is reserved for a turn whose client sent everything', async () => {
  const { store, reserveAddition } = open([{ name: 'a', madeBy: 'p/m', extras: null }])
  await store.find([])
  expect(reserveAddition).not.toHaveBeenCalled()
})
