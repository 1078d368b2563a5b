/** What sound costs that is paid by the second: what its answer reports, else as long as it is; in header, record and budget the same. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { describeBackends } from '../harness/backends.ts'
import { startUpstreams, storeKey, type Upstreams } from '../harness/direct-upstreams.ts'
import { MUXED, type Muxed, makeFlac, makeMp3, makeSound, makeWav } from '../harness/make-sound.ts'
import { startProxy, type TestProxy } from '../harness/proxy.ts'
import { waitUntil } from '../harness/wait-until.ts'

const USD_A_SECOND = 1e-4
const TRANSCRIBE = '/audio/transcriptions'
const TRANSLATE = '/audio/translations'
const SPEECH = 'It is a quiet evening in a small town.'
const CUES = `1\n00:00:01,000 --> 00:00:04,000\n${SPEECH}\n\n2\n00:01:10,000 --> 00:01:12,500\nGood night.\n`
const OGG = await makeSound(MUXED['Opus in Ogg'] as Muxed, 60)
/** Of a kind that nobody here can read. */
const ODD = Buffer.alloc(30_000, 7)

interface Asked {
  path: string
  /** A form's file; null: the sound is named by its address. */
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

describeBackends('sound by the second', backend => {
  let upstreams: Upstreams
  let proxy: TestProxy
  let project: string
  let key: string

  beforeAll(async () => {
    upstreams = await startUpstreams()
    proxy = await startProxy({ stores: await backend.open(), environment: upstreams.environment })
  })
  beforeEach(async () => {
    upstreams.reset()
    project = `h-${crypto.randomUUID()}`
    key = await proxy.createKey({ project, type: 'project' })
    await storeKey(proxy.stores, project, 'openai', 'sk-own')
  })
  afterAll(async () => {
    await proxy.stop()
    await upstreams.stop()
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

  async function recorded() {
    const read = () =>
      proxy.query<{ usd: number; estimated: string | null }>(
        `select cost_usd::float8 as usd, cost_estimated as estimated from usage_records where project_id = find_project('${project}')`,
      )
    await waitUntil('it is recorded', async () => {
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

  /** With a budget, and without. */
  async function expectSeconds(asked: Asked, answered: Answered, seconds: number, isPresumed = false) {
    await proxy.query(`select set_budget('${project}', 'usd', 1000, 'total')`)
    script(answered)
    const answer = await send(asked)
    expect([answer.status, await answer.text()]).toEqual([200, answered.text])
    const { usd, estimated } = await recorded()
    expect([usd / USD_A_SECOND, estimated]).toEqual([expect.closeTo(seconds, 1), isPresumed || null])
    expect(Number(answer.headers.get('x-proxy-cost-usd'))).toBeCloseTo(usd, 9)
    expect(answer.headers.get('x-proxy-cost-unknown')).toBeNull()
    expect(await spent()).toEqual({ spent: expect.closeTo(usd, 9), reserved: 0 })
  }

  describe.each([
    ['a translation', TRANSLATE, undefined, json({ text: SPEECH })],
    ['a transcript as text', TRANSCRIBE, 'text', text(SPEECH)],
    ['subtitles', TRANSCRIBE, 'srt', text(CUES)],
  ])('%s', (_, path, format, answered) => {
    test.each(Object.entries(MUXED))('of %s costs as much as it is long', async (_name, muxed) => {
      const file = await makeSound(muxed, 64, 1)
      await expectSeconds({ path, format, file }, answered, 64)
    })

    test.each([
      ['FLAC', makeFlac(3_600, 1), 3_600],
      ['MP3', makeMp3(60), 60],
      ['WAV', makeWav(60), 60],
      ['much WAV', makeWav(600), 600],
    ])('of %s costs as much as it is long', async (_name, file, seconds) => {
      await expectSeconds({ path, format, file }, answered, seconds)
    })
  })

  test.each([
    ['its usage', json({ text: SPEECH, usage: { type: 'duration', seconds: 7 } }), 7],
    ['its duration', json({ task: 'transcribe', duration: 7.25, text: SPEECH, segments: [] }), 7.25],
    ['its duration as text', json({ duration: '7.25', text: SPEECH }), 7.25],
    ['its usage before its duration', json({ duration: 7.25, usage: { type: 'duration', seconds: 8 }, text: '' }), 8],
    ['neither, but tokens', json({ text: SPEECH, usage: { type: 'tokens', input_tokens: 9, output_tokens: 9 } }), 60],
    ['a duration that cannot be', json({ duration: -1, text: SPEECH }), 60],
  ])('an answer that reports %s is charged so', async (_, answered, seconds) => {
    await expectSeconds({ path: TRANSCRIBE, file: OGG, format: 'verbose_json' }, answered, seconds)
  })

  test.each([
    ['a file that cannot be read', ODD, 'text', text(SPEECH), 30],
    ['one of much speech', ODD, 'text', text(SPEECH.repeat(10)), (SPEECH.length * 10) / 5],
    ['an address, by its subtitles', null, 'srt', text(CUES), 72.5],
    ['an address, by its subtitles of the web', null, 'vtt', text('WEBVTT\n\n01:10.000 --> 01:12.500\nHi\n'), 72.5],
    ['an address, by its text', null, 'text', text(SPEECH), SPEECH.length / 5],
    ['an address, of a translation', null, 'json', json({ text: SPEECH }), SPEECH.length / 5],
    ['an address of silence', null, 'json', json({ text: '' }), (25 * 1_024 * 1_024) / 1_000],
  ])('%s, is presumed', async (_, file, format, answered, seconds) => {
    await expectSeconds({ path: TRANSCRIBE, file, format }, answered, seconds, true)
  })

  test('a model that is paid by the token is charged by no seconds', async () => {
    script(json({ text: SPEECH, usage: { type: 'duration', seconds: 7 } }))
    const model = 'gpt-4o-transcribe'
    const answer = await send({ path: TRANSCRIBE, file: OGG, format: undefined, model })
    const { usd, estimated } = await recorded()
    expect([usd > 0.01, estimated]).toEqual([true, true])
    expect(Number(answer.headers.get('x-proxy-cost-usd'))).toBeCloseTo(usd, 9)
  })

  test('an error in place of an answer costs nothing', async () => {
    script(json({ error: { message: 'It failed.' } }))
    const answer = await send({ path: TRANSLATE, file: OGG, format: undefined })
    expect([Number(answer.headers.get('x-proxy-cost-usd')), (await recorded()).usd]).toEqual([0, 0])
  })

  test('whoever leaves is charged as much as it is long', async () => {
    upstreams.openai.script({ kind: 'answer', content: 'x', firstByteDelayMs: 60_000 })
    const leaving = new AbortController()
    const asked = send({ path: TRANSLATE, file: OGG, format: undefined }, { signal: leaving.signal }).catch(() => null)
    await waitUntil('its provider is asked', () => upstreams.openai.requests.length === 1)
    leaving.abort()
    await asked
    expect(await recorded()).toEqual({ usd: expect.closeTo(60 * USD_A_SECOND, 5), estimated: expect.any(String) })
  })

  test('what is reserved goes by no head: no budget pays for more than it has', async () => {
    await proxy.query(`select set_budget('${project}', 'usd', 200, 'total')`)
    const answer = await send({ path: TRANSLATE, file: makeFlac(60, 1), format: undefined })
    expect([answer.status, upstreams.openai.requests]).toEqual([429, []])
    const unseen = await send({ path: TRANSLATE, file: null, format: undefined })
    expect([unseen.status, upstreams.openai.requests]).toEqual([429, []])
  })
})
