import { describe, expect, test } from 'vitest'
import { readCacheControl } from '../../../src/cache/cache-control.ts'
import { createCacheQuery, type RequestIdentity } from '../../../src/cache/cache-query.ts'
import type { ResolvedKey } from '../../../src/postgres/admit-requests.ts'

const REQUEST_HASH = 'ab'.repeat(32)

/** Returns the shared call name and the exact cache key of a request with these headers. */
function namesOf(headers: Record<string, string>, resolvedKey: Partial<ResolvedKey> = {}) {
  const known = {
    resolvedKey: { project_id: 1, cache_generation: 1, ...resolvedKey } as ResolvedKey,
    control: readCacheControl(new Headers(headers)),
    identity: {} as RequestIdentity,
    model: 'openai/gpt-4o-mini',
  }
  const { sharedCallName, exactKey } = createCacheQuery(known, REQUEST_HASH)
  return { sharedCallName, exactKey }
}

test('requests that would accept different cached responses share an entry but no call', () => {
  const asking = [
    {},
    { 'x-proxy-cache-threshold': '0.96' },
    { 'x-proxy-cache-threshold': '0.99' },
    { 'cache-control': 'max-age=60' },
    { 'cache-control': 'max-age=0' },
    { 'cache-control': 'max-age=60', 'x-proxy-cache-threshold': '0.96' },
  ].map(headers => namesOf(headers))
  expect(new Set(asking.map(({ sharedCallName }) => sharedCallName)).size).toBe(asking.length)
  expect(new Set(asking.map(({ exactKey }) => exactKey)).size).toBe(1)
})

test('names contain nothing that does not affect the cached response', () => {
  expect(namesOf({ 'x-proxy-cache-ttl': '60' })).toEqual(namesOf({}))
})

test('names differ between projects and between cache generations', () => {
  const names = [{}, { project_id: 2 }, { cache_generation: 2 }].map(account => namesOf({}, account))
  expect(new Set(names.map(({ sharedCallName }) => sharedCallName)).size).toBe(3)
  expect(new Set(names.map(({ exactKey }) => exactKey)).size).toBe(3)
})

describe('a question within the template of an application', () => {
  function semanticOf(content: string, fields: object = {}, contexts: string[] = []) {
    const settings = {
      semantic_contexts: contexts,

      semantic_mode: 'on',
      semantic_policy: 'verified',
      semantic_threshold: 0.95,
      cache_scope: 'project',
    }
    const body = { model: 'm', messages: [{ role: 'user', content }], ...fields }
    return createCacheQuery(
      {
        resolvedKey: { project_id: 1, key_type: 'project', ...settings } as ResolvedKey,
        control: { ...readCacheControl(new Headers()), sharingScope: '' },
        identity: {
          namespace: '',
          version: '',
          endpoint: 'chat',
          route: 'sandbox m',
          headers: [],
          body,
          canonicalBody: '',
          source: { text: '', hasInexactNumber: false, isLarge: false },
        },
        model: 'm',
      },
      REQUEST_HASH,
    ).semantic()
  }

  test.each([
    ['You are a bot of the weather today.\nQuestion: How do I boil an egg?\nAnswer briefly.', 'fresh'],
    ['You are a bot of ACME.\nQuestion: What is the weather today?\nAnswer briefly.', 'fresh'],
    ['You are a bot of ACME.\nQuestion: Cancel my order 5512\nAnswer briefly.', 'action'],
  ])('%j is a miss: %s', (content, reason) => {
    expect(semanticOf(content)).toBe(reason)
  })

  test.each([
    ['You are a bot of ACME.\nQuestion: How do I boil an egg?\nAnswer briefly.', ''],
    ['You are a bot of ACME.\nQuestion: How do I boil my egg?\nAnswer briefly.', '["asker","alice"]'],
    ['You are my bot of ACME.\nQuestion: How do I boil an egg?\nAnswer briefly.', '["asker","alice"]'],
    ['You are a bot of ACME.\nQuestion: `egg`\nAnswer briefly.', '["asker","alice"]'],
  ])('%j has the sharing scope %j', (content, sharingScope) => {
    expect(semanticOf(content, { user: 'alice' })).toMatchObject({ sharingScope })
  })

  test('a corrected context has another hash, so that normalized texts are not compared with unchanged ones', () => {
    const content = 'You are a bot of ACME.\nQuestion: How do I boil an egg?\nAnswer briefly.'
    const before = semanticOf(content)
    if (typeof before === 'string') throw new Error(before)
    const after = semanticOf(content, {}, [`${before.instructionsHash}=wording`])
    expect(after).toMatchObject({ instructionsHash: before.instructionsHash, normalizedPrompt: { context: 'work' } })
    expect(after).not.toMatchObject({ contextHash: before.contextHash })
  })
})
