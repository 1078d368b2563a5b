/** Bodies that would block the event loop, at endpoints outside of the pipeline. The worker parses them and rejects them. */
import { beforeAll, expect, test } from 'vitest'
import { MAX_JSON_SIZE } from '../../src/formats/large-bodies/read-large-body.ts'
import { allowedMethodsOf, TARGETS_BY_PATH } from '../../src/http/paths.ts'
import type { RouteTarget } from '../../src/pipeline/request/request.ts'
import { PASS_THROUGH_OPERATIONS } from '../../src/providers/pass-through-operations.ts'
import { startFakeProvider } from '../fake-provider/server.ts'
import { describeEmbedded } from '../harness/backends.ts'
import { post, readAnswer } from '../harness/client.ts'
import { draw } from '../harness/depth.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'

const ASKED = '"model":"openai/gpt-4o-mini","messages":[{"role":"user","content":"How many tokens?"}],"max_tokens":9'
const fieldsOf = (count: number) => Array.from({ length: count }, (_, i) => `"k${i}":${i}`).join()
const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)

/** Parsing each of them would cost far more than its size suggests. */
const BODIES: Record<string, [body: string, reason: string]> = {
  'too many fields': [`{${ASKED},"x":{${fieldsOf(MAX_JSON_SIZE.fields)}}}`, `more than ${MAX_JSON_SIZE.fields} fields`],
  'too many arrays': [
    `{${ASKED},"x":[${Array(3_500).fill(nested(120)).join()}]}`,
    `more than ${MAX_JSON_SIZE.items} array items`,
  ],
  'too many levels': [`{${ASKED},"metadata":{"x":${nested(128)}}}`, 'more than 128 levels'],
  'too many levels, in many bytes': [`{${ASKED},"metadata":{"x":${nested(400_000)}}}`, 'more than 128 levels'],
}
/** Every endpoint that accepts a JSON body, read from the routing tables. */
const ENDPOINT_CASES = [
  ...Object.keys(TARGETS_BY_PATH).filter(path =>
    allowedMethodsOf(TARGETS_BY_PATH[path] as RouteTarget).includes('POST'),
  ),
  ...Object.keys(PASS_THROUGH_OPERATIONS).map(operation => `/v1/${operation}`),
  '/v1/batches',
].map(path => path.replace('/v1', ''))

describeEmbedded('large bodies at any endpoint', backend => {
  const upstream = duringTests(startFakeProvider)
  const proxy = duringTests(() => startProxy({ stores: backend.open(), environment: upstream.environment }))
  let key: string

  beforeAll(async () => {
    key = await proxy.createKey({ type: 'project' })
  })

  const cases = Object.entries(BODIES).flatMap(([name, [body, reason]]) =>
    ENDPOINT_CASES.map(path => [path, name, body, reason] as const),
  )
  test.each(draw(cases))('%s rejects %s before they are parsed', async (path, _, body, reason) => {
    const answer = await readAnswer(await post(proxy, key, path, body))
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(reason)])
  })

  test('a response of many megabytes is forwarded, and not stored', async () => {
    const body = { model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content: 'Tell me everything.' }] }
    upstream.script({ kind: 'answer', contentChars: 9_000_000 })
    for (let i = 0; i < 2; i++) {
      const answer = await readAnswer(await post(proxy, key, '/chat/completions', body))
      expect([answer.status, answer.cache]).toEqual([200, 'MISS'])
      expect(answer.text.length).toBeGreaterThan(9_000_000)
    }
    upstream.reset()
  })
})
