/**
 * Long input is processed by the worker and does not block the event loop, for text from any source. The test checks the worker's jobs,
 * because blocking times depend on the machine. `event-loop/measure.ts` measures those.
 */
import { beforeAll, expect, test } from 'vitest'
import { workerPool } from '../../src/event-loop/worker-pool.ts'
import type { AnswerScenario } from '../fake-provider/scenario.ts'
import { startFakeProvider } from '../fake-provider/server.ts'
import { describeEmbedded } from '../harness/backends.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'

interface LongInput {
  path: string
  body: Record<string, unknown>
  key?: 'test'
  scenario?: Omit<AnswerScenario, 'kind'>
  status?: number
  /** The names of the jobs, once for each call. */
  jobs: string[]
}

const LONG = 300_000
const MODEL = 'openai/gpt-4o-mini'
const say = (content: string, more: Record<string, unknown> = {}) => ({
  model: MODEL,
  messages: [{ role: 'user', content }],
  ...more,
})
const write = (input: string, more: Record<string, unknown> = {}) => ({ model: MODEL, input, ...more })
const text = (chars: number) => 'long '.repeat(chars / 5)
const fields = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 1]))
const answer = { contentChars: LONG }

const CALL = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } }
const loop = (model: string) => ({
  model,
  messages: [
    { role: 'user', content: text(LONG) },
    { role: 'assistant', content: null, tool_calls: [CALL] },
    { role: 'tool', tool_call_id: 'call_1', content: 'Blue.' },
  ],
})

const INPUTS: Record<string, LongInput> = {
  'a long body': { path: '/chat/completions', body: say(text(LONG)), jobs: ['readLargeBody'] },
  'a short body of many fields': {
    path: '/chat/completions',
    body: say('Hello.', { x: fields(4_000) }),
    jobs: ['readLargeBody'],
  },
  'a long body to be translated': {
    path: '/responses',
    body: write(text(LONG)),
    jobs: ['readLargeBody', 'translateRequestJob'],
  },
  'a long body to be translated into chat': {
    path: '/messages',
    body: say(text(LONG), { max_tokens: 9 }),
    jobs: ['readLargeBody', 'translateRequestJob', 'setFieldsJob'],
  },
  'a long loop of calls': {
    path: '/chat/completions',
    body: loop(MODEL),
    jobs: ['readLargeBody', 'listToolTurnsJob'],
  },
  'a long loop of another model’s calls': {
    path: '/chat/completions',
    body: loop('deepseek/deepseek-v3.2'),
    jobs: ['readLargeBody', 'listToolTurnsJob', 'completeTurnsJob'],
  },
  'a long body of Gemini’s API': {
    path: `/v1beta/models/${MODEL}:generateContent`,
    body: { contents: [{ parts: [{ text: text(LONG) }] }], generationConfig: { maxOutputTokens: 9 } },
    jobs: ['translateGeminiBodyJob', 'readLargeBody', 'translateRequestJob', 'setFieldsJob'],
  },
  'many vectors of Gemini’s API': {
    path: '/v1beta/models/openai/text-embedding-3-large:batchEmbedContents',
    body: { requests: Array.from({ length: 40 }, (_, i) => ({ content: { parts: [{ text: `Vector ${i}` }] } })) },
    jobs: ['countTexts', 'readEmbeddingsJob', 'writeGeminiEmbeddingsJob'],
  },
  'a long answer': { path: '/chat/completions', body: say('A.'), scenario: answer, jobs: ['analyzeResponseJob'] },
  'a long answer, replayed': {
    path: '/chat/completions',
    body: say('A.', { stream: true }),
    jobs: ['replayStreamJob'],
  },
  'a long answer to be translated': {
    path: '/responses',
    body: write('B.'),
    scenario: answer,
    jobs: ['translateResponseJob'],
  },
  'a client’s own fields in a long answer': {
    path: '/responses',
    body: write('B.', { metadata: { team: 'search' } }),
    jobs: ['writeEchoedFieldsJob'],
  },
  'tokens of a long prompt': {
    path: '/messages/count_tokens',
    body: say(text(8_000)),
    jobs: ['countRequestTokensJob'],
  },
  'many vectors': {
    path: '/embeddings',
    body: write('', {
      model: 'openai/text-embedding-3-large',
      input: Array.from({ length: 40 }, (_, i) => `Text ${i}`),
    }),
    jobs: ['readEmbeddingsJob', 'countTexts'],
  },
  'a long prompt of a test key': {
    path: '/chat/completions',
    key: 'test',
    body: say(text(8_000)),
    jobs: ['respondInSandboxJob'],
  },
  'a long body of a test key': {
    path: '/chat/completions',
    key: 'test',
    body: say(text(LONG)),
    jobs: ['readLargeBody', 'respondInSandboxJob'],
  },
  'texts of a test key': {
    path: '/completions',
    key: 'test',
    body: { model: MODEL, prompt: text(4_000) },
    jobs: ['respondInSandboxJob'],
  },
  'documents of a test key': {
    path: '/rerank',
    key: 'test',
    body: { model: MODEL, query: 'long', documents: Array(30).fill(text(LONG)) },
    jobs: ['readLargeBody', 'respondInSandboxJob', 'readPassThroughResponseJob'],
  },
  'texts of a test key to be moderated': {
    path: '/moderations',
    key: 'test',
    body: { input: Array(3).fill(text(LONG)) },
    jobs: ['readLargeBody', 'respondInSandboxJob'],
  },
  // Loading a vocabulary takes far longer than most requests.
  'tokens of any prompt': { path: '/messages/count_tokens', body: say('Hi.'), jobs: ['countRequestTokensJob'] },
  'tokens of any question of a test key': {
    path: '/chat/completions',
    key: 'test',
    body: say('Hi.'),
    jobs: ['respondInSandboxJob'],
  },
  'tokens of any call for a test key': {
    path: '/chat/completions',
    key: 'test',
    body: say('Hi.', { tools: [{ type: 'function', function: { name: 'greet' } }], tool_choice: 'required' }),
    jobs: ['respondInSandboxJob'],
  },
  'tokens of any text of a test key': {
    path: '/completions',
    key: 'test',
    body: { model: MODEL, prompt: 'Hi.' },
    jobs: ['respondInSandboxJob'],
  },
  'tokens of any vector of a test key': {
    path: '/embeddings',
    key: 'test',
    body: write('Hi.', { model: 'openai/text-embedding-3-small' }),
    jobs: ['respondInSandboxJob'],
  },
  'tokens of a model without a price that upstream did not count': {
    path: '/chat/completions',
    body: say('C.', { model: 'acme/unheard-of' }),
    scenario: { usage: null },
    jobs: ['countPrompt'],
  },
  'an absurd number of names': {
    path: '/chat/completions',
    body: say('Hello.', { x: fields(30_000) }),
    status: 400,
    jobs: ['readLargeBody'],
  },
}

describeEmbedded('long input', backend => {
  const upstream = duringTests(startFakeProvider)
  const proxy = duringTests(() => startProxy({ stores: backend.open(), environment: upstream.environment }))
  let keys: { project: string; test: string }

  beforeAll(async () => {
    keys = { project: await proxy.createKey({ type: 'project' }), test: await proxy.createKey({ type: 'test' }) }
  })

  test.each(Object.entries(INPUTS))(
    '%s is processed by the worker',
    async (_, { path, body, key, scenario, status, jobs }) => {
      if (scenario) upstream.script({ kind: 'answer', ...scenario })
      const before = new Map(workerPool.jobCounts)
      const response = await fetch(proxy.baseUrl + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${keys[key ?? 'project']}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      const responseText = await response.text()
      expect(response.status, responseText.slice(0, 300)).toBe(status ?? 200)
      const given = [...workerPool.jobCounts].flatMap(([name, count]) =>
        Array<string>(count - (before.get(name) ?? 0)).fill(name),
      )
      expect(given.toSorted()).toEqual(jobs.toSorted())
    },
  )

  test('a long request of a batch is processed by the worker', async () => {
    const form = new FormData()
    form.set('purpose', 'batch')
    const body = say(text(LONG), { user: 'file_id' })
    const about = { custom_id: '1', method: 'POST', url: '/v1/chat/completions' }
    const lines = [say('Short.'), body].map(body => JSON.stringify({ ...about, body })).join('\n')
    form.set('file', new Blob([lines]), 'in.jsonl')
    const before = workerPool.jobCounts.get('readBatchLineJob') ?? 0
    const response = await fetch(`${proxy.baseUrl}/files`, {
      method: 'POST',
      headers: { authorization: `Bearer ${keys.project}` },
      body: form,
    })
    expect(response.status, await response.text()).toBe(200)
    expect(workerPool.jobCounts.get('readBatchLineJob')).toBe(before + 1)
  })

  test('short input stays on the event loop', async () => {
    upstream.script({ kind: 'answer' })
    const before = new Map(workerPool.jobCounts)
    for (const [path, body] of [
      ['/chat/completions', say('Short.')],
      ['/responses', write('Short.')],
      ['/messages', say('Short.', { max_tokens: 9 })],
    ] as const) {
      const response = await fetch(proxy.baseUrl + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${keys.project}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      expect(response.status).toBe(200)
      await response.arrayBuffer()
    }
    expect(new Map(workerPool.jobCounts)).toEqual(before)
  })
})
