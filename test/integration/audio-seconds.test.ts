/** Costs of audio that is charged by the second, as reported by the response or else estimated: the same in header, record and budget. */
import { beforeEach, describe, expect, test } from 'vitest'
import { describeBackends } from '../harness/backends.ts'
import { startUpstreams, storeKey } from '../harness/direct-upstreams.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'
import { waitUntil } from '../harness/wait-until.ts'

const USD_A_SECOND = 1e-4
const TRANSCRIBE = '/audio/transcriptions'
const TRANSLATE = '/audio/translations'
const SPEECH = 'It is a quiet evening in a small town.'
const SEGMENTS = [
  { id: 0, start: 1, end: 4.0004, text: ` ${SPEECH}` },
  { id: 1, start: 3_670, end: 3_672.5, text: ' A --> B. ' },
]
/** The verbose format of whisper-1. */
const VERBOSE = {
  task: 'transcribe',
  language: 'english',
  duration: 7.25,
  text: `${SPEECH} A --> B.`,
  segments: SEGMENTS,
}
const FILE = Buffer.alloc(30_000, 7)

interface Asked {
  path: string
  /** The form's file; null if the audio is named by a URL. */
  file: Buffer<ArrayBuffer> | null
  format: string | undefined
  model?: string
}

interface Answered {
  type: string
  text: string
}

const json = (fields: object): Answered => ({ type: 'application/json', text: JSON.stringify(fields) })
const text = (body: string): Answered => ({ type: 'text/plain; charset=utf-8', text: body })

describeBackends('audio priced by the second', backend => {
  const upstreams = duringTests(startUpstreams)
  const proxy = duringTests(() => startProxy({ stores: backend.open(), environment: upstreams.environment }))
  let project: string
  let key: string

  beforeEach(async () => {
    upstreams.reset()
    project = `h-${crypto.randomUUID()}`
    key = await proxy.createKey({ project, type: 'project' })
    await storeKey(proxy.stores, project, 'openai', 'sk-own')
  })

  function send({ path, file, format, model = 'whisper-1' }: Asked, init: RequestInit = {}): Promise<Response> {
    const fields = { model, ...(format !== undefined && { response_format: format }) }
    const authorization = `Bearer ${key}`
    const form = new FormData()
    for (const [name, value] of Object.entries(fields)) form.set(name, value)
    if (file) form.set('file', new File([file], 'sound'))
    else form.set('url', 'https://example.com/sound')
    return fetch(`${proxy.baseUrl}${path}`, { method: 'POST', headers: { authorization }, body: form, ...init })
  }

  function script({ type, text: body }: Answered): void {
    upstreams.openai.script({ kind: 'raw', status: 200, headers: { 'content-type': type }, parts: [body] })
  }

  const sentForm = () => Buffer.from(upstreams.openai.requests[0]?.bytes ?? []).toString('latin1')

  async function recorded() {
    const read = () =>
      proxy.query<{ usd: number; estimated: string | null }>(
        `select cost_usd::float8 as usd, cost_estimated as estimated from usage_records where project_id = find_project('${project}')`,
      )
    await waitUntil('the request is recorded', async () => {
      await proxy.settle()
      return (await read()).length === 1
    })
    return (await read())[0] ?? { usd: -1, estimated: null }
  }

  async function spent() {
    const [row] = await proxy.query<{ spent: number; reserved: number }>(
      `select spent::float8 as spent, reserved::float8 as reserved from budget_periods c join budgets b on b.id = c.budget_id
      where b.project_id = find_project('${project}')`,
    )
    return row
  }

  /** Sends the request with a budget and without one, and expects these seconds in header, record and budget. */
  async function expectSeconds(asked: Asked, answered: Answered, seconds: number, isPresumed = false) {
    await proxy.query(`select set_budget('${project}', 'usd', 1000, 'total')`)
    script(answered)
    const answer = await send(asked)
    expect([answer.status, await answer.text()]).toEqual([200, answered.text])
    const { usd, estimated } = await recorded()
    expect([usd / USD_A_SECOND, estimated]).toEqual([expect.closeTo(seconds, 1), isPresumed ? 'not_reported' : null])
    expect(Number(answer.headers.get('x-proxy-cost-usd'))).toBeCloseTo(usd, 9)
    expect(answer.headers.get('x-proxy-cost-unknown')).toBeNull()
    expect(await spent()).toEqual({ spent: expect.closeTo(usd, 9), reserved: 0 })
  }

  describe('is requested as verbose JSON, and returned as', () => {
    const usage = { type: 'duration', seconds: 8 }
    test.each([
      [undefined, JSON.stringify({ text: VERBOSE.text, usage }), 'application/json'],
      ['json', JSON.stringify({ text: VERBOSE.text, usage }), 'application/json'],
      ['text', `${VERBOSE.text}\n`, 'text/plain; charset=utf-8'],
      [
        'srt',
        `1\n00:00:01,000 --> 00:00:04,000\n${SPEECH}\n\n2\n01:01:10,000 --> 01:01:12,500\nA -> B.\n\n`,
        'text/plain; charset=utf-8',
      ],
      [
        'vtt',
        `WEBVTT\n\n00:00:01.000 --> 00:00:04.000\n${SPEECH}\n\n01:01:10.000 --> 01:01:12.500\nA -> B.\n\n`,
        'text/plain; charset=utf-8',
      ],
      ['verbose_json', JSON.stringify({ ...VERBOSE, usage }), 'application/json'],
    ])('%s', async (format, given, type) => {
      script(json({ ...VERBOSE, usage }))
      const answer = await send({ path: TRANSCRIBE, file: FILE, format })
      expect([answer.status, answer.headers.get('content-type'), await answer.text()]).toEqual([200, type, given])
      expect(sentForm().match(/name="response_format"\r\n\r\n\w+/g)).toEqual([
        'name="response_format"\r\n\r\nverbose_json',
      ])
      expect((await recorded()).usd).toBeCloseTo(8 * USD_A_SECOND, 9)
    })
  })

  test('a model priced by the token gets the format that its client requested', async () => {
    script(text(SPEECH))
    await send({ path: TRANSCRIBE, file: FILE, format: 'text', model: 'gpt-4o-transcribe' })
    expect(sentForm()).not.toContain('verbose_json')
  })

  test.each([
    ['its usage', json({ text: SPEECH, usage: { type: 'duration', seconds: 7 } }), 7],
    ['its duration', json({ task: 'transcribe', duration: 7.25, text: SPEECH, segments: [] }), 7.25],
    ['its duration as text', json({ duration: '7.25', text: SPEECH }), 7.25],
    ['its usage before its duration', json({ duration: 7.25, usage: { type: 'duration', seconds: 8 }, text: '' }), 8],
  ])('a response that reports %s is charged so', async (_, answered, seconds) => {
    for (const path of [TRANSCRIBE, TRANSLATE]) {
      project = `h-${crypto.randomUUID()}`
      key = await proxy.createKey({ project, type: 'project' })
      await storeKey(proxy.stores, project, 'openai', 'sk-own')
      await expectSeconds({ path, file: FILE, format: 'verbose_json' }, answered, seconds)
    }
  })

  test.each([
    [
      'neither, but tokens',
      FILE,
      json({ text: SPEECH, usage: { type: 'tokens', input_tokens: 9, output_tokens: 9 } }),
      30,
    ],
    ['a duration that cannot be', FILE, json({ duration: -1, text: SPEECH }), 30],
    ['nothing, as text', FILE, text(SPEECH), 30],
    ['nothing, of much speech', FILE, text(SPEECH.repeat(10)), (SPEECH.length * 10) / 5],
    ['nothing, of an address', null, text(SPEECH), SPEECH.length / 5],
    ['where its segments end', FILE, json({ text: SPEECH, segments: [{ end: 72.5 }, { end: 60 }] }), 72.5],
    ['silence, of an address', null, json({ text: '' }), (25 * 1_024 * 1_024) / 1_000],
  ])('a response that reports %s is charged an estimate', async (_, file, answered, seconds) => {
    await expectSeconds({ path: TRANSCRIBE, file, format: 'verbose_json' }, answered, seconds, true)
  })

  test('a model priced by the token is charged for no seconds', async () => {
    script(json({ text: SPEECH, usage: { type: 'duration', seconds: 7 } }))
    const model = 'gpt-4o-transcribe'
    const answer = await send({ path: TRANSCRIBE, file: FILE, format: undefined, model })
    const { usd, estimated } = await recorded()
    expect([usd > 0.01, estimated]).toEqual([true, 'not_reported'])
    expect(Number(answer.headers.get('x-proxy-cost-usd'))).toBeCloseTo(usd, 9)
  })

  test('an error in place of a response costs nothing', async () => {
    script(json({ error: { message: 'It failed.' } }))
    const answer = await send({ path: TRANSLATE, file: FILE, format: undefined })
    expect([Number(answer.headers.get('x-proxy-cost-usd')), (await recorded()).usd]).toEqual([0, 0])
  })

  test('a disconnected client is charged nothing yet: what the file may cost is doubtful', async () => {
    upstreams.openai.script({ kind: 'answer', content: 'x', firstByteDelayMs: 60_000 })
    const leaving = new AbortController()
    const responding = send({ path: TRANSLATE, file: FILE, format: undefined }, { signal: leaving.signal }).catch(
      () => null,
    )
    await waitUntil('the request reaches the provider', () => upstreams.openai.requests.length === 1)
    leaving.abort()
    await responding
    expect(await recorded()).toEqual({ usd: 0, estimated: 'client_left' })
  })

  test('a reservation ignores the file’s header: no budget pays more than it has', async () => {
    // A budget for fewer seconds than the file has bytes, as the upper bound is one second per byte.
    await proxy.query(`select set_budget('${project}', 'usd', 2.9, 'total')`)
    const answer = await send({ path: TRANSLATE, file: FILE, format: undefined })
    expect([answer.status, upstreams.openai.requests]).toEqual([429, []])
    const unseen = await send({ path: TRANSLATE, file: null, format: undefined })
    expect([unseen.status, upstreams.openai.requests]).toEqual([429, []])
  })
})
