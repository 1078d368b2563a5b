import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { describeBackends } from '../harness/backends.ts'
import { ask } from '../harness/client.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'

const readme = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8')
/** The questions of README's first try, with the documented cache results. */
const promised = [...readme.matchAll(/^\| `([^`]+)` \| `(HIT-SEMANTIC|MISS)` \|$/gm)].map(
  ([, question = '', result = '']) => [question, result],
)

describeBackends('the first try', backend => {
  const proxy = duringTests(() => startProxy({ stores: backend.open() }))
  let key: string

  beforeAll(async () => {
    key = await proxy.createKey({ type: 'test' })
    await ask(proxy, key, 'What is the capital of France?')
    await proxy.settle()
  })

  test('has rewordings that hit, and one near miss', () => {
    expect(promised.map(([, result]) => result)).toEqual([...Array(5).fill('HIT-SEMANTIC'), 'MISS'])
  })

  test.each(promised)('%j is a %s', async (question = '', result) => {
    expect((await ask(proxy, key, question)).cache).toBe(result)
  })
})
