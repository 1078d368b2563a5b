import { OpenAIEmbeddings } from '@langchain/openai'
import { OpenAIEmbedding } from '@llamaindex/openai'
import OpenAI from 'openai'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import type { RecordedRequest } from '../fake-provider/recording.ts'
import { startFakeProvider } from '../fake-provider/server.ts'
import { describeOnce } from '../harness/backends.ts'
import { duringTests } from '../harness/during-tests.ts'
import { startProxy, type TestProxy } from '../harness/proxy.ts'

const model = 'openai/text-embedding-3-small'

interface Connection {
  baseURL: string
  apiKey: string
}

type Form = 'float' | 'base64' | 'default'

interface Wish {
  form: Form
  dimensions: number | undefined
}

/** Embeds texts with a client. */
type Embed = (connection: Connection, texts: string[], wish: Wish) => Promise<number[][]>

const clients: Record<string, { embed: Embed; forms: Form[] }> = {
  'the openai package': {
    forms: ['default', 'float', 'base64'],
    async embed(connection, texts, { form, dimensions }) {
      const client = new OpenAI({ ...connection, maxRetries: 0 })
      const answer = await client.embeddings.create({
        model,
        input: texts,
        ...(form === 'default' ? {} : { encoding_format: form }),
        ...(dimensions === undefined ? {} : { dimensions }),
      })
      return answer.data.map(({ embedding }) => readEmbedding(embedding))
    },
  },
  'LangChain’s OpenAIEmbeddings': {
    forms: ['default', 'float', 'base64'],
    async embed({ baseURL, apiKey }, texts, { form, dimensions }) {
      const embeddings = new OpenAIEmbeddings({
        model,
        apiKey,
        maxRetries: 0,
        configuration: { baseURL },
        ...(form === 'default' ? {} : { encodingFormat: form }),
        ...(dimensions === undefined ? {} : { dimensions }),
      })
      return (await embeddings.embedDocuments(texts)).map(readEmbedding)
    },
  },
  'LlamaIndex’s OpenAIEmbedding': {
    // The package leaves the format to the openai package.
    forms: ['default'],
    embed({ baseURL, apiKey }, texts, { dimensions }) {
      const embedding = new OpenAIEmbedding({
        model,
        apiKey,
        baseURL,
        maxRetries: 0,
        embedBatchSize: 100,
        ...(dimensions === undefined ? {} : { dimensions }),
      })
      return embedding.getTextEmbeddingsBatch(texts)
    },
  },
}

/** If base64 is requested explicitly, the openai package and its dependents return the base64 string, contrary to their types. */
function readEmbedding(embedding: unknown): number[] {
  if (typeof embedding !== 'string') return embedding as number[]
  const bytes = new Uint8Array(Buffer.from(embedding, 'base64'))
  return Array.from(new Float32Array(bytes.buffer))
}

function inputOf({ body }: RecordedRequest): unknown {
  return (body as { input: unknown }).input
}

// Storage does not depend on the client. The tests of the endpoint check vectors on each database.
describeOnce('embedding clients', backend => {
  const upstream = duringTests(startFakeProvider)
  let proxy: TestProxy
  let direct: Connection
  let proxied: Connection

  beforeEach(async () => {
    await proxy?.stop()
    upstream.reset()
    direct = { baseURL: upstream.baseUrl, apiKey: 'k' }
    proxy = await startProxy({ stores: backend.open(), environment: upstream.environment })
    proxied = { baseURL: proxy.baseUrl, apiKey: await proxy.createKey({ type: 'project' }) }
  })
  afterAll(() => proxy.stop())

  const texts = ['What is a vector?', 'Où est la gare ?', '東京タワーはどこですか', 'x'.repeat(5_000), '🙂']

  for (const [name, { embed, forms }] of Object.entries(clients)) {
    describe(name, () => {
      for (const form of forms) {
        test.each([undefined, 512])(
          `get the upstream’s own vectors, cold, half-warm and warm: ${form}, dimensions %s`,
          async dimensions => {
            const wish = { form, dimensions }
            const expected = await embed(direct, texts, wish)
            expect(expected.map(vector => vector.length)).toEqual(texts.map(() => dimensions ?? 1_536))
            upstream.reset()

            expect(await embed(proxied, texts.slice(0, 2), wish)).toEqual(expected.slice(0, 2))
            expect(upstream.requests.map(inputOf)).toEqual([texts.slice(0, 2)])
            expect(await embed(proxied, texts, wish)).toEqual(expected)
            expect(upstream.requests.map(inputOf)).toEqual([texts.slice(0, 2), texts.slice(2)])
            expect(await embed(proxied, texts, wish)).toEqual(expected)
            expect(await embed(proxied, texts.toReversed(), wish)).toEqual(expected.toReversed())
            expect(upstream.requests).toHaveLength(2)
          },
        )
      }
    })
  }

  test('get each other’s vectors, in whichever encoding they were first requested', async () => {
    const wish = { form: 'default' as const, dimensions: undefined }
    const expected = await clients['the openai package']?.embed(direct, texts, wish)
    upstream.reset()
    for (const { embed, forms } of Object.values(clients)) {
      for (const form of forms) expect(await embed(proxied, texts, { ...wish, form })).toEqual(expected)
    }
    expect(upstream.requests).toHaveLength(1)
  })
})
