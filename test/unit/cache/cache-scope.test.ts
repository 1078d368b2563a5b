import { describe, expect, test } from 'vitest'
import {
  feedbackScopes,
  hashScope,
  scopedHash,
  semanticScope,
  sharingScope,
  verdictScope,
} from '../../../src/cache/cache-scope.ts'
import { normalizePrompt } from '../../../src/cache/text/normalize-prompt.ts'
import type { ResolvedKey } from '../../../src/postgres/admit-requests.ts'

const accountOf = (
  cache_scope: ResolvedKey['cache_scope'],
  key_id = 7,
  key_type: ResolvedKey['key_type'] = 'project',
) => ({ cache_scope, key_id, key_type }) as ResolvedKey
const ALICE = { user: 'alice' }

describe('sharingScope', () => {
  const inUserScope = (body: object, key_id = 7) => sharingScope(accountOf('user', key_id), { ...body })

  test('is one for all requests of a project', () => {
    expect([ALICE, {}].map(body => sharingScope(accountOf('project'), body))).toEqual(['', ''])
  })

  test('is one for each key', () => {
    const ofKeys = [7, 8].flatMap(key => [ALICE, {}].map(body => sharingScope(accountOf('key', key), body)))
    expect(new Set(ofKeys).size).toBe(2)
  })

  test('is one for each end user, whatever the key', () => {
    expect(inUserScope(ALICE)).toBe(inUserScope(ALICE, 8))
    expect(inUserScope(ALICE)).not.toBe(inUserScope({ user: 'Alice' }))
  })

  test('is the key’s if no end user is named, and no end user can name it', () => {
    const unnamed = [
      {},
      { user: '' },
      { user: null },
      { metadata: {} },
      { metadata: 'alice' },
      { safety_identifier: null },
    ]
    expect(new Set(unnamed.map(body => inUserScope(body)))).toEqual(new Set([inUserScope({})]))
    expect(inUserScope({})).not.toBe(inUserScope({}, 8))
    const named = ['7', 7, '["user",7]', '\n["user",7]'].map(user => inUserScope({ user }))
    expect(named).not.toContain(inUserScope({}))
    expect(sharingScope(accountOf('key'), {})).not.toBe(inUserScope({}))
  })

  test('reads the end user from safety_identifier, else user, else metadata.user_id', () => {
    const [a, b, c] = [{ safety_identifier: 'x' }, { user: 'x' }, { metadata: { user_id: 'x' } }]
    expect(new Set([a, b, c].map(body => inUserScope(body))).size).toBe(1)
    expect(inUserScope({ ...a, user: 'y', metadata: { user_id: 'z' } })).toBe(inUserScope(a))
    expect(inUserScope({ safety_identifier: '', ...b, metadata: { user_id: 'z' } })).toBe(inUserScope(b))
  })

  test('separates end users whose names are not text', () => {
    const odd = [{ toString: 1 }, [1], ['1', 2], true, 1, 2, '\ud800', '\ud801', 'a\nb', 'a', 'b']
    expect(new Set(odd.map(user => inUserScope({ user }))).size).toBe(odd.length)
  })
})

describe('wordingScope', () => {
  const asker = (text: string, scope: ResolvedKey['cache_scope'] = 'project', body: object = ALICE) =>
    semanticScope(accountOf(scope), { ...body }, normalizePrompt(text))

  test.each([
    'Who am I, and what is on my account?',
    'who am i',
    'what am I allowed to see?',
    "What's in my cart?",
    'What’s in MY cart?',
    "do you know where I'm living",
    'how much do we owe you?',
    'when will our contract end?',
    'can you tell me my balance?',
    'what did you promise us?',
    'wie heiße ich?',
    '¿Cuánto debo?',
    '私は誰ですか？',
    'Balance:\nlast month',
  ])('keeps “%s” to its end user', text => {
    expect(asker(text)).toBe('["asker","alice"]')
  })

  test.each([
    'What is the capital of France?',
    'can you tell me what the capital of France is?',
    'Please give a list of the planets',
    'explain how photosynthesis works',
    'What is the minimum of the mean?',
  ])('shares “%s”', text => {
    expect(asker(text)).toBe('')
  })

  test('is shared if no end user is named, and covers any question in another scope', () => {
    expect(asker('Who am I?', 'project', {})).toBe('')
    expect(asker('Who am I?', 'user')).toBe(sharingScope(accountOf('user'), ALICE))
    expect(asker('Who am I?', 'key')).toBe(sharingScope(accountOf('key'), ALICE))
  })
})

test('scopedHash returns another name in each scope, and the same name for the same hash', () => {
  const [one, other] = ['ab'.repeat(32), 'cd'.repeat(32)]
  const names = ['', 'a', 'b'].flatMap(scope => [one, other].map(hash => scopedHash(scope, hash)))
  expect(new Set(names).size).toBe(6)
  expect(names.every(name => /^[0-9a-f]{64}$/.test(name))).toBe(true)
})

const SCOPES = ['project', 'key', 'user'] as const

test('test keys share only with test keys', () => {
  for (const scope of SCOPES) {
    for (const body of [ALICE, {}]) {
      const [project, sandbox] = (['project', 'test'] as const).map(type => accountOf(scope, 7, type))
      if (!project || !sandbox) throw new Error('There must be two accounts')
      expect(sharingScope(sandbox, body)).not.toBe(sharingScope(project, body))
      const own = normalizePrompt('Who am I?')
      expect(semanticScope(sandbox, body, own)).not.toBe(semanticScope(project, body, own))
      const judged = new Set(feedbackScopes(project, body, ''))
      expect(feedbackScopes(sandbox, body, '').filter(hash => judged.has(hash))).toEqual([])
    }
  }
})

describe('judgeableScopes', () => {
  const ofHit = (resolvedKey: ResolvedKey, body: object, namespace = '', text = 'What is the capital of France?') =>
    hashScope(verdictScope(semanticScope(resolvedKey, { ...body }, normalizePrompt(text)), namespace))
  const mayJudge = (judge: ResolvedKey, said: object, hit: string, namespace = '') =>
    feedbackScopes(judge, { ...said }, namespace).includes(hit)

  test.each(SCOPES)('contains the scope of each hit of the same caller: %s', scope => {
    for (const type of ['project', 'test'] as const) {
      for (const body of [ALICE, {}]) {
        for (const namespace of ['', 'a']) {
          for (const text of ['Who am I?', 'What is the capital of France?']) {
            const account = accountOf(scope, 7, type)
            expect(mayJudge(account, body, ofHit(account, body, namespace, text), namespace)).toBe(true)
          }
        }
      }
    }
  })

  test('does not contain scopes of other callers', () => {
    const [project, key, user] = SCOPES.map(scope => accountOf(scope))
    const [otherKey, otherUser] = [accountOf('key', 8), accountOf('user', 8)]
    if (!project || !key || !user) throw new Error('There must be three accounts')
    expect(mayJudge(otherKey, {}, ofHit(key, {}))).toBe(false)
    expect(mayJudge(otherUser, {}, ofHit(user, {}))).toBe(false)
    expect(mayJudge(user, { user: 'bob' }, ofHit(user, ALICE))).toBe(false)
    expect(mayJudge(user, {}, ofHit(user, ALICE))).toBe(false)
    expect(mayJudge(otherUser, ALICE, ofHit(user, ALICE))).toBe(true)
    expect(mayJudge(project, {}, ofHit(project, ALICE, '', 'Who am I?'))).toBe(false)
    expect(mayJudge(project, {}, ofHit(project, ALICE))).toBe(true)
    expect(mayJudge(project, {}, ofHit(project, {}, 'a'))).toBe(false)
    expect(mayJudge(project, {}, ofHit(project, {}), 'a')).toBe(false)
  })
})
