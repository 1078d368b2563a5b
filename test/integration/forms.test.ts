/** Forms that an upstream could read differently from the proxy: rejected before a provider is called. */
import { beforeAll, describe, expect, test } from 'vitest'
import { startFakeProvider } from '../fake-provider/server.ts'
import { describeEmbedded } from '../harness/backends.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy } from '../harness/proxy.ts'

const part = (disposition: string, value: string) =>
  `--b\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n${value}\r\n`
const form = (...parts: string[]) => `${parts.join('')}${part('name="file"; filename="a.wav"', 'RIFF')}--b--\r\n`
const MODEL = part('name="model"', 'openai/whisper-1')
const LONG = ' '.repeat(9_000)

describeEmbedded('forms', backend => {
  const upstream = duringTests(() => startFakeProvider({ flavour: 'aggregator' }))
  const proxy = duringTests(() => startProxy({ stores: backend.open(), environment: upstream.environment }))
  let key: string

  beforeAll(async () => {
    key = await proxy.createKey({ type: 'project' })
  })

  const post = (body: string) =>
    fetch(`${proxy.baseUrl}/audio/transcriptions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'multipart/form-data; boundary=b' },
      body,
    })

  describe('rejected', () => {
    test.each<[string, string[]]>([
      ['two models', [MODEL, part('name="model"', 'openai/other')]],
      ['a model too long to be read, and another', [part('name="model"', `openai/other${LONG}`), MODEL]],
      ['a model as a file', [MODEL, part('name="model"; filename="m"', 'openai/other')]],
      ['a model in a list', [MODEL, part('name="model[]"', 'openai/other')]],
      ['a model with a space', [MODEL, part('name="model "', 'openai/other')]],
      ['a model by an extended name', [MODEL, part(`name="x"; name*=UTF-8''model`, 'openai/other')]],
      ['a file’s id too long to be read', [MODEL, part('name="image[file_id]"', `file-1${LONG}`)]],
      ['a file’s id as a file', [MODEL, part('name="image[file_id]"; filename="i"', 'file-1')]],
    ])('%s', async (_, parts) => {
      upstream.requests.length = 0
      expect([(await post(form(...parts))).status, upstream.requests]).toEqual([400, []])
    })
  })

  test('forwarded: one model, and fields of any length', async () => {
    expect((await post(form(MODEL, part('name="prompt"', `Names.${LONG}`)))).status).toBe(200)
  })
})
