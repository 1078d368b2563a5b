/** Determines from the request and the model if a response shows all output that is charged. */
import { expect, test } from 'vitest'
import type { JsonObject } from '../../../../src/formats/json/canonical.ts'
import { isAllOutputVisible } from '../../../../src/pipeline/spending/hidden-output.ts'
import { requestSizeOfBody } from '../../../../src/pipeline/spending/max-cost.ts'
import type { CatalogueModel } from '../../../../src/postgres/list-models.ts'
import type { Provider } from '../../../../src/providers/upstream.ts'

const messages = [{ role: 'user', content: 'Why?' }]

interface Case {
  model: string
  /** The model's name in the catalogue, if it is another one. */
  listedAs?: string
  endpoint?: string
  kind?: string
  capabilities?: string[]
  [field: string]: unknown
}

function isSeen(
  { model, listedAs = model, endpoint = 'chat', kind = 'openai', capabilities = ['reasoning'], ...more }: Case,
  answer?: JsonObject,
) {
  const body = { model, ...(endpoint === 'responses' ? { input: 'Why?' } : { messages }), ...more }
  const known = {
    provider: kind,
    model: listedAs,
    kind: 'chat',
    capabilities,
    unitPrices: {},
  } as unknown as CatalogueModel
  return isAllOutputVisible(
    {
      ...{ endpoint, model, body },
      size: () => requestSizeOfBody(endpoint, body, 100, { isLenient: true }),
      provider: { name: kind, kind, pricedAs: kind } as unknown as Provider,
      catalogue: { find: () => known },
    },
    answer ?? null,
  )
}

test('an aggregator’s model without stated abilities has those of its vendor’s model', () => {
  const body = { model: 'openai/gpt-4o', messages }
  const entry = (provider: string, model: string, capabilities: string[]) =>
    ({ provider, model, kind: 'chat', capabilities, unitPrices: {} }) as unknown as CatalogueModel
  const call = {
    ...{ endpoint: 'chat', model: body.model, body },
    size: () => requestSizeOfBody('chat', body, 100, { isLenient: true }),
    provider: { name: 'a', kind: 'aggregator', pricedAs: 'aggregator' } as unknown as Provider,
  }
  const find = (provider: string) =>
    provider === 'openai' ? entry('openai', 'gpt-4o', ['tools']) : entry('aggregator', 'openai/gpt-4o', [])
  expect(isAllOutputVisible({ ...call, catalogue: { find } })).toBe(true)
  const alone = (provider: string) => (provider === 'openai' ? undefined : find(provider))
  expect(isAllOutputVisible({ ...call, catalogue: { find: alone } })).toBe(false)
})

const claude = { endpoint: 'messages', kind: 'anthropic' }
const aggregated = { kind: 'aggregator' }

test.each<[string, Case]>([
  ['a model without reasoning', { model: 'gpt-4o', capabilities: ['tools'] }],
  ['effort `none`', { model: 'gpt-5.5', reasoning_effort: 'none' }],
  ['effort `none` at Responses', { model: 'gpt-5.1', endpoint: 'responses', reasoning: { effort: 'none' } }],
  ['Claude without a thinking field', { model: 'claude-sonnet-4-6', ...claude }],
  ['Claude with thinking disabled', { model: 'claude-sonnet-5', ...claude, thinking: { type: 'disabled' } }],
  ['Claude at chat with effort `none`', { model: 'claude-sonnet-5', kind: 'anthropic', reasoning_effort: 'none' }],
  ['Claude at an aggregator', { model: 'anthropic/claude-sonnet-4.5', ...aggregated }],
  ['reasoning turned off', { model: 'openai/gpt-5.2', ...aggregated, reasoning: { enabled: false } }],
  ['reasoning with effort `none`', { model: 'z-ai/glm-4.6', ...aggregated, reasoning: { effort: 'none' } }],
])('%s: all charged output is visible', (_, given) => {
  expect(isSeen(given)).toBe(true)
})

test.each<[string, Case]>([
  ['a model with unknown capabilities', { model: 'new', capabilities: [] }],
  ['a model that reasons by default', { model: 'gpt-5.5' }],
  ['an effort', { model: 'gpt-5.5', reasoning_effort: 'low' }],
  [
    'an effort together with effort `none`',
    { model: 'openai/gpt-5.5', ...aggregated, reasoning_effort: 'none', reasoning: { effort: 'high' } },
  ],
  ['a model that always reasons', { model: 'o3', reasoning_effort: 'none' }],
  [
    'a model that always reasons, at an aggregator',
    { model: 'openai/gpt-5-mini', ...aggregated, reasoning: { enabled: false } },
  ],
  [
    'effort `none` in a field that the endpoint ignores',
    { model: 'gpt-5.5', endpoint: 'responses', reasoning_effort: 'none' },
  ],
  ['reasoning turned off in a field that the endpoint ignores', { model: 'gpt-5.5', reasoning: { enabled: false } }],
  ['a vendor that may ignore an effort', { model: 'brand-new', kind: 'other', reasoning_effort: 'none' }],
  ['thinking enabled', { model: 'claude-sonnet-4-6', ...claude, thinking: { type: 'enabled', budget_tokens: 2_000 } }],
  ['adaptive thinking', { model: 'claude-opus-4-8', ...claude, thinking: { type: 'adaptive' } }],
  ['Claude that thinks by default', { model: 'claude-sonnet-5', ...claude }],
  ['Claude that thinks between tools', { model: 'claude-sonnet-5-5', ...claude, thinking: { type: 'between_tools' } }],
  ['Claude that always thinks', { model: 'claude-opus-5-5', ...claude, thinking: { type: 'disabled' } }],
  [
    'Claude that thinks because of an effort',
    { model: 'claude-sonnet-4-6', kind: 'anthropic', reasoning_effort: 'low' },
  ],
  [
    'thinking disabled in a translated request',
    { model: 'gpt-5.5', endpoint: 'messages', thinking: { type: 'disabled' } },
  ],
  ['a model variant with reasoning', { model: 'anthropic/claude-sonnet-4.5:thinking', ...aggregated }],
  [
    'a model variant with reasoning that is listed with its base model',
    { model: 'anthropic/claude-sonnet-4.5:thinking', listedAs: 'anthropic/claude-sonnet-4.5', ...aggregated },
  ],
  ['included reasoning', { model: 'anthropic/claude-sonnet-4.5', ...aggregated, include_reasoning: true }],
])('%s: more may be charged than is visible', (_, given) => {
  expect(isSeen(given)).toBe(false)
})

const said = (message: JsonObject) => ({ choices: [{ index: 0, message: { content: 'It', ...message } }] })
const open = { model: 'deepseek/deepseek-v3.2', ...aggregated }

test('reasoning as text is visible, and summaries are not', () => {
  expect(isSeen(open, said({ reasoning_content: 'Let me see' }))).toBe(true)
  expect(isSeen(open, said({ reasoning: 'Let me see', reasoning_details: [{ type: 'reasoning.text' }] }))).toBe(true)
  expect(isSeen(open, said({}))).toBe(false)
  expect(isSeen(open, said({ reasoning: 'See', reasoning_details: [{ type: 'reasoning.summary' }] }))).toBe(false)
  expect(isSeen(open, said({ reasoning_details: [{ type: 'reasoning.encrypted' }] }))).toBe(false)
  for (const model of ['openai/gpt-5.5', 'anthropic/claude-opus-5', 'google/gemini-3-pro', 'x-ai/grok-4'])
    expect(isSeen({ ...open, model }, said({ reasoning: 'A summary' }))).toBe(false)
})

test('a response with reasoning shows that disabling it was ignored', () => {
  const off = { model: 'openai/gpt-5.5', ...aggregated, reasoning: { effort: 'none' } }
  expect([isSeen(off, said({})), isSeen(off, said({ reasoning: 'A summary' }))]).toEqual([true, false])
})
