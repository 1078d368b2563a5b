import { expect, test } from 'vitest'
import {
  checkAllowedModels,
  createModelRouter,
  isModelAllowed,
  type RoutingContext,
} from '../../../src/providers/model-router.ts'
import { SEEDED_VENDORS } from '../../harness/vendors.ts'

test.each([
  [null, 'anything', true],
  [['gpt-4o'], 'gpt-4o', true],
  [['gpt-4o'], 'gpt-4o-mini', false],
  [['gpt-4o*'], 'gpt-4o', true],
  [['gpt-4o*'], 'gpt-4o-mini', true],
  [['gpt-4o*'], 'openai/gpt-4o', false],
  [['openai/*', 'claude-*'], 'claude-haiku-4-5', true],
  [['*-mini'], 'gpt-4o-mini', true],
  [['*-mini'], 'gpt-4o-mini-2024-07-18', false],
  [['*/claude-*:free'], 'anthropic/claude-haiku-4.5:free', true],
  [['*/claude-*:free'], 'anthropic/claude-haiku-4.5', false],
  [['a*a'], 'a', false],
  [['a*a'], 'aa', true],
  [['a*b*c'], 'acb', false],
  [['*'], '', true],
  [['gpt.4o'], 'gpt-4o', false],
  [['GPT-4o'], 'gpt-4o', false],
] as const)('%j: %s', (allowed_models, model, expected) => {
  const patterns = allowed_models && [...allowed_models]
  expect(isModelAllowed(model, { allowed_models: patterns ?? [], key_allowed_models: null })).toBe(expected)
  expect(isModelAllowed(model, { allowed_models: [], key_allowed_models: patterns })).toBe(expected)
})

test('names the first model that is not allowed, and the allowed ones', () => {
  const account = { allowed_models: Array.from({ length: 12 }, (_, i) => `m${i}`), key_allowed_models: null }
  expect(checkAllowedModels(['m1', 'm11'], account)).toBeNull()
  const refusal = checkAllowedModels(['m1', 'x', 'y'], account)
  expect(refusal).toMatchObject({ status: 403, code: 'model_not_allowed', param: 'model' })
  expect(refusal?.message).toContain('"x" is not allowed in this project: its setting allowed_models is m0, m1,')
  expect(refusal?.message).toContain('m9, … .'.replace(' .', '.'))
})

test('neither calls nor lists a model that is not allowed, wherever a request names it', () => {
  const models = ['openai/a', 'openai/b'].map(model => ({ model }))
  const router = createModelRouter({
    catalogue: {
      vendors: SEEDED_VENDORS,
      find: () => undefined,
      aggregatorNameOf: () => undefined,
      nativeNameOf: () => undefined,
      directProvidersOf: () => [],
      modelsOf: () => models as never,
      recordExceededLimit: () => {},
      close: () => {},
    },
    sandbox: { name: 'sandbox' } as never,
    aggregatorFor: null,
    modelNames: { list: null, forwardsUnlistedNames: false, refresh: () => undefined },
    directProviderFor: () => ({}) as never,
  })
  const account = {
    key_type: 'test',
    allowed_models: ['openai/a'],
    key_allowed_models: null,
  } as unknown as RoutingContext
  expect(router.resolve('openai/a', account)).toMatchObject({ name: 'sandbox' })
  expect(router.resolve('openai/a', account, ['openai/b'])).toMatchObject({ code: 'model_not_allowed' })
  expect(router.listModels(account)).toEqual([{ model: 'openai/a' }])
})
