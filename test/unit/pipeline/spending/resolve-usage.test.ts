/** The charge for a call: the usage that its provider reports, otherwise an estimate. A response is never free. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { computeResponseCost } from '../../../../src/catalogue/catalogue.ts'
import { chatFormat } from '../../../../src/formats/chat/chat-format.ts'
import type { JsonObject } from '../../../../src/formats/json/canonical.ts'
import { toAnthropicUsage } from '../../../../src/formats/messages/message-usage.ts'
import { messagesFormat } from '../../../../src/formats/messages/messages-format.ts'
import { responsesFormat } from '../../../../src/formats/responses/responses-format.ts'
import { readResponseContext, writeResponseObject } from '../../../../src/formats/responses/write-response.ts'
import { NO_USAGE, type TokenUsage } from '../../../../src/formats/token-usage.ts'
import { estimateUsage, type PricedCall } from '../../../../src/pipeline/spending/estimate-usage.ts'
import { requestSizeOfBody } from '../../../../src/pipeline/spending/max-cost.ts'
import { type CallUsageReport, resolveCallUsage } from '../../../../src/pipeline/spending/resolve-usage.ts'
import type { CatalogueModel } from '../../../../src/postgres/list-models.ts'
import type { Provider } from '../../../../src/providers/upstream.ts'

const PRICED = {
  provider: 'aggregator',
  model: 'm',
  kind: 'chat',
  contextTokens: 100_000,
  maxOutputTokens: 10_000,
  capabilities: ['reasoning'],
  conditionalPrices: [],
  unitPrices: {},
  inputUsdPerMillion: 1,
  cachedInputUsdPerMillion: 0.1,
  cacheWriteUsdPerMillion: null,
  cacheWriteHourUsdPerMillion: null,
  outputUsdPerMillion: 4,
} as unknown as CatalogueModel
const PLAIN = { ...PRICED, capabilities: ['tools'] }
const FREE = { ...PRICED, inputUsdPerMillion: 0, cachedInputUsdPerMillion: null, outputUsdPerMillion: 0 }

const BODY = { model: 'm', messages: [{ role: 'user', content: 'What is the answer to all of it?' }], max_tokens: 500 }

function callTo(model: CatalogueModel, kind = 'aggregator'): PricedCall {
  const size = () => requestSizeOfBody('chat', BODY, JSON.stringify(BODY).length, { isLenient: true })
  const provider = { name: 'p', kind, pricedAs: 'p' } as unknown as Provider
  return { endpoint: 'chat', model: BODY.model, body: BODY, size, provider, catalogue: { find: () => model } }
}

const TEXT = { hasOutput: true, text: 'It is forty-two.', model: 'm' }

async function charge(call: PricedCall, report: Partial<CallUsageReport>) {
  const usage = await resolveCallUsage(call, { ...TEXT, usage: null, ...report }, 1)
  const usd =
    usage === NO_USAGE
      ? 0
      : computeResponseCost(call.catalogue, { pricedAs: 'p' }, { model: 'm', hasOthers: false }, usage)
  return { ...usage, usd }
}

const chargeReported = (call: PricedCall, usage: unknown, report: Partial<CallUsageReport> = {}) =>
  charge(call, { ...report, usage: chatFormat.readUsage(usage, {}) })

test.each([
  ['an aggregator', 'aggregator', 0.5],
  ['a provider that is not known to report one', 'openai', (1_000 + 4 * 100) / 1e6],
])('trusts the reported cost of %s', async (_, kind, expected) => {
  const { usd } = await chargeReported(callTo(PRICED, kind), {
    prompt_tokens: 1_000,
    completion_tokens: 100,
    cost: 0.5,
  })
  expect(usd).toBeCloseTo(expected, 12)
})

test('a cost of 0 is that of a free model, or of no response', async () => {
  const usage = { prompt_tokens: 1_000, completion_tokens: 100, cost: 0 }
  expect(await chargeReported(callTo(FREE), usage)).toMatchObject({ usd: 0, reportedCostUsd: 0 })
  expect((await chargeReported(callTo(PRICED), usage)).usd).toBeCloseTo(0.0014, 12)
  expect((await chargeReported(callTo(PRICED), usage, { hasOutput: false, text: '' })).usd).toBe(0)
})

test('a known cost needs no estimate of tokens', async () => {
  const { usd, estimate, promptTokens, completionTokens } = await chargeReported(callTo(PRICED), { cost: 0.25 })
  expect([usd, estimate, promptTokens > 5, completionTokens > 3]).toEqual([0.25, undefined, true, true])
})

test('for a model that may reason, charges what it showed; the rest, up to the total, is doubtful', async () => {
  const most = await chargeReported(callTo(PRICED), {})
  expect(most.estimate).toMatchObject({ reason: 'not_reported' })
  expect(most.usd).toBeLessThan((100 * 4) / 1e6)
  expect((most.usd ?? 0) + (most.estimate?.doubtfulUsd ?? 0)).toBeGreaterThanOrEqual((500 * 4) / 1e6)
  for (const total of [60, 400]) {
    const { usd, estimate, promptTokens, completionTokens } = await chargeReported(callTo(PRICED), {
      total_tokens: total,
    })
    const { doubtfulUsd = 0, doubtfulTokens = 0 } = estimate ?? {}
    expect(doubtfulUsd).toBeGreaterThan(0)
    // All of the total may be output, and the prompt is counted with a margin.
    expect((usd ?? 0) + doubtfulUsd).toBeGreaterThanOrEqual((total * 4) / 1e6)
    expect((usd ?? 0) + doubtfulUsd).toBeLessThan((total * 4 + 40) / 1e6)
    expect(promptTokens + completionTokens + doubtfulTokens).toBeGreaterThanOrEqual(total)
    expect(promptTokens + completionTokens + doubtfulTokens).toBeLessThan(total + 40)
  }
  const prompt = await chargeReported(callTo(PRICED), { prompt_tokens: 90_000 })
  expect((prompt.usd ?? 0) + (prompt.estimate?.doubtfulUsd ?? 0)).toBeGreaterThanOrEqual((90_000 + 500 * 4) / 1e6)
  expect(prompt.promptTokens).toBe(90_000)
})

test('does not estimate a reported completion; counts its prompt', async () => {
  const { usd, estimate, completionTokens } = await chargeReported(callTo(PRICED), { completion_tokens: 5_000 })
  expect([estimate, completionTokens]).toEqual([undefined, 5_000])
  expect(usd).toBeCloseTo(0.02, 4)
})

test('for a stream that broke off, the reported usage is the minimum', async () => {
  const usage = messagesFormat.readUsage({ input_tokens: 1, cache_creation_input_tokens: 90_000, output_tokens: 1 }, {})
  const cut = { answer: {}, discardedChars: 0 }
  for (const model of [PRICED, PLAIN]) {
    const { usd, promptTokens, completionTokens } = await charge(callTo(model), {
      usage,
      partialResponse: cut,
      text: 'Half',
    })
    expect(usd).toBeGreaterThan(0.09)
    expect(promptTokens).toBe(90_001)
    expect(completionTokens).toBeGreaterThanOrEqual(1)
  }
})

test('a body that is no response costs what was reported, without an estimate', async () => {
  const none = { hasOutput: false, text: '' }
  for (const model of [PRICED, PLAIN]) {
    expect(await charge(callTo(model), none)).toMatchObject({ usd: 0, promptTokens: 0 })
    expect((await chargeReported(callTo(model), { prompt_tokens: 1_000 }, none)).usd).toBeCloseTo(0.001, 12)
    // Output that the provider may have produced without delivering it is estimated.
    expect((await charge(callTo(model), { ...none, canHaveUsedTokens: true })).usd).toBeGreaterThan(0)
  }
})

const count = fc.oneof(
  fc.constantFrom(undefined, null, 0, -1, Number.NaN, '', 'x', '0', '1e9', '-5', true, [], {}, 1e300),
  fc.nat(5_000),
  fc.nat(5_000).map(n => `${n}`),
)
const details = fc.oneof(
  fc.constantFrom(undefined, null, 'x', []),
  fc.record({ cached_tokens: count, reasoning_tokens: count }),
)
const mangled = fc.oneof(
  fc.constantFrom<unknown>(undefined, null, {}, [], '1100', 0, 1_100, 'x'),
  fc.record(
    {
      prompt_tokens: count,
      completion_tokens: count,
      total_tokens: count,
      input_tokens: count,
      output_tokens: count,
      cached_tokens: count,
      cache_read_input_tokens: count,
      prompt_tokens_details: details,
      completion_tokens_details: details,
      cost: count,
      is_byok: fc.constantFrom(true, false, undefined),
      cost_details: fc.record({ upstream_inference_cost: count }),
    },
    { requiredKeys: [] },
  ),
)

function readTranslated(usage: unknown): (TokenUsage | null)[] {
  const chat = typeof usage === 'object' && usage !== null && !Array.isArray(usage) ? (usage as JsonObject) : null
  const parts = { id: 'r', createdSeconds: 1, model: 'm', status: 'completed' as const, output: [], usage: chat }
  const response = writeResponseObject(parts, readResponseContext({}, 'r', ['o']).body)
  return [
    chatFormat.readUsage(usage, {}),
    messagesFormat.readUsage(toAnthropicUsage(chat), {}),
    responsesFormat.readUsage(response.usage, response),
  ]
}

test('no invalid usage makes a response of a priced model free, at any endpoint', async () => {
  await fc.assert(
    fc.asyncProperty(
      mangled,
      fc.constantFrom(PRICED, PLAIN),
      fc.constantFrom('aggregator', 'openai'),
      async (usage, model, kind) => {
        for (const read of readTranslated(usage)) {
          const { usd, promptTokens, completionTokens } = await charge(callTo(model, kind), { usage: read })
          expect(usd).toBeGreaterThan(0)
          expect(Math.min(promptTokens, completionTokens)).toBeGreaterThan(0)
        }
      },
    ),
  )
})

test('charges complete usage unchanged, at any endpoint', async () => {
  const tokens = fc.integer({ min: 1, max: 100_000 })
  const share = fc.double({ min: 0, max: 1, noNaN: true })
  await fc.assert(
    fc.asyncProperty(tokens, tokens, share, share, async (prompt, completion, read, thought) => {
      const cached = Math.floor(prompt * read)
      const usage = {
        ...{ prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion },
        prompt_tokens_details: { cached_tokens: cached },
        completion_tokens_details: { reasoning_tokens: Math.floor(completion * thought) },
      }
      for (const reported of readTranslated(usage)) {
        const charged = await charge(callTo(PRICED), { usage: reported })
        expect(charged.estimate).toBeUndefined()
        expect([charged.promptTokens, charged.cachedPromptTokens, charged.completionTokens]).toEqual([
          prompt,
          cached,
          completion,
        ])
        expect(charged.usd).toBeCloseTo((prompt - cached + cached * 0.1 + completion * 4) / 1e6, 12)
      }
    }),
  )
})

describe('a response that ended early', () => {
  const TIERED = {
    ...PLAIN,
    conditionalPrices: [
      { ...PRICED, tier: 'priority', abovePromptTokens: 0, inputUsdPerMillion: 2, outputUsdPerMillion: 8 },
    ],
  } as unknown as CatalogueModel
  const begun = { partialResponse: {}, text: 'seven '.repeat(50) }

  test('costs its prompt and what arrived, with a small margin', async () => {
    const counted = await charge(callTo(PLAIN), { text: begun.text })
    const { usd, promptTokens, completionTokens, estimate } = await charge(callTo(PLAIN), begun)
    expect(estimate).toEqual({ reason: 'not_reported', doubtfulUsd: 0, doubtfulTokens: 0 })
    expect(promptTokens).toBeGreaterThan(counted.promptTokens)
    expect(completionTokens).toBeGreaterThan(counted.completionTokens)
    expect(usd ?? 0).toBeLessThanOrEqual((counted.usd ?? 0) * 1.5)
  })

  test('costs an estimate if its provider failed, although no part of a stream shows that', async () => {
    const { text } = begun
    const counted = await charge(callTo(PLAIN), { text })
    expect(counted.estimate).toBeUndefined()
    const failed = await charge(callTo(PLAIN), { text, reason: 'provider_failed' })
    expect(failed.estimate).toMatchObject({ reason: 'provider_failed' })
    expect(failed.promptTokens).toBeGreaterThan(counted.promptTokens)
    expect(failed.completionTokens).toBeGreaterThan(counted.completionTokens)
  })

  test('costs what arrived, also for a model that reasons; the rest is doubtful', async () => {
    const thinking = callTo(PRICED)
    for (const reason of ['provider_failed', 'provider_silent', 'client_left'] as const) {
      const { estimate, ...charged } = await charge(thinking, { ...begun, reason })
      const { estimate: _none, ...plain } = await charge(callTo(PLAIN), { ...begun, reason })
      expect(charged).toEqual(plain)
      expect(estimate?.reason).toBe(reason)
      expect((charged.usd ?? 0) + (estimate?.doubtfulUsd ?? 0)).toBeGreaterThanOrEqual((500 * 4) / 1e6)
    }
  })

  test('costs no less than its provider reported by then', async () => {
    const usage = chatFormat.readUsage({ prompt_tokens: 10, completion_tokens: 2, cost: 0.5 }, {})
    expect((await charge(callTo(PLAIN), { ...begun, usage })).usd).toBe(0.5)
    const little = chatFormat.readUsage({ prompt_tokens: 10, completion_tokens: 2, cost: 0.00001 }, {})
    expect((await charge(callTo(PLAIN), { ...begun, usage: little })).usd).toBeGreaterThan((50 * 4) / 1e6)
  })

  test('costs the tier that it names, else the standard one', async () => {
    const { usd } = await charge(callTo(TIERED), begun)
    expect(usd).toBe((await charge(callTo(PLAIN), begun)).usd)
    expect((await charge(callTo(TIERED), { ...begun, tier: 'default' })).usd).toBe(usd)
    expect((await charge(callTo(TIERED), { ...begun, tier: 'priority' })).usd).toBeCloseTo(2 * (usd ?? 0), 12)
  })
})

test.each(['transcription', 'image', 'speech'])(
  'a %s of which nothing arrived is charged nothing: all of it is doubtful',
  kind => {
    const { reportedCostUsd, estimate } = estimateUsage(callTo({ ...PRICED, kind } as CatalogueModel), {
      reason: 'client_left',
    })
    expect(reportedCostUsd).toBe(0)
    expect(estimate?.doubtfulUsd).toBeGreaterThan(0)
  },
)
