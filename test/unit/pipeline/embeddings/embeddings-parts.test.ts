import { describe, expect, test } from 'vitest'
import {
  createVectorNamer,
  packVector,
  unpackVector,
  type VectorNameFields,
} from '../../../../src/cache/vectors/pack-vector.ts'
import { decodeStoredVector, encodeStoredVector } from '../../../../src/cache/vectors/vector-store.ts'
import { createYielder } from '../../../../src/event-loop/work-scheduler.ts'
import { InFlightVectors } from '../../../../src/pipeline/coalescing/vector-calls.ts'
import {
  checkInputTokenLimits,
  createInputTokenCounter,
  distributeTokens,
} from '../../../../src/pipeline/endpoints/embeddings/count-inputs.ts'
import { planBatches } from '../../../../src/pipeline/endpoints/embeddings/fetch-batches.ts'
import { readEmbeddingsResponse } from '../../../../src/pipeline/endpoints/embeddings/jobs.ts'
import { writeEmbeddingsResponse } from '../../../../src/pipeline/endpoints/embeddings/write-response.ts'
import { checkResponseSize, readEmbeddingsInput } from '../../../../src/pipeline/request/embeddings-query.ts'

const model = 'openai/text-embedding-3-small'

describe('the size of a response', () => {
  const inputs = (count: number) => Array.from({ length: count }, (_, n) => `input ${n}`)
  const large = 'openai/text-embedding-3-large'

  test.each([
    ['as many inputs as OpenAI accepts, of a model’s usual dimensions', { model, input: inputs(2_048) }],
    ['tokens of one input', { model: large, input: Array.from({ length: 8_000 }, () => 1) }],
    ['large vectors in base64', { model: large, input: inputs(2_048), encoding_format: 'base64' }],
    ['few dimensions', { model: large, input: inputs(2_048), dimensions: 256 }],
    ['exactly the maximum of numbers', { model: large, input: inputs(1_464) }],
  ])('accepts %s', (_, body) => {
    expect(() => checkResponseSize(body)).not.toThrow()
  })

  test.each([
    [{ model: large, input: inputs(1_465) }, 1_465 * 3_072],
    [{ model, input: inputs(2_048), dimensions: 3_072 }, 2_048 * 3_072],
    [{ model, input: inputs(2_048), dimensions: 8_800, encoding_format: 'base64' }, 2_048 * 8_800],
    [{ model, input: inputs(2_048), dimensions: 3_072, user_seed: 2 ** 80 }, 2_048 * 3_072],
  ])('rejects more, and names the numbers', (body, count) => {
    expect(() => checkResponseSize(body)).toThrow(
      expect.objectContaining({
        status: 400,
        code: 'response_too_large',
        param: 'input',
        message: expect.stringContaining(`${count}`),
      }),
    )
  })
})

describe('reading an embeddings request', () => {
  test.each([
    ['a text', 'one', ['one']],
    ['texts', ['one', 'two'], ['one', 'two']],
    ['tokens', [1, 2, 3], [[1, 2, 3]]],
    ['lists of tokens', [[1, 2], [3]], [[1, 2], [3]]],
  ])('reads the inputs of %s', (_, input, inputs) => {
    expect(readEmbeddingsInput({ model, input })?.inputs).toEqual(inputs)
  })

  test.each([
    ['texts mixed with tokens', { input: ['one', [1]] }],
    ['images', { input: [{ type: 'image_url', image_url: 'x' }] }],
    ['fractional tokens', { input: [1.5] }],
    ['an encoding that OpenAI does not define', { input: 'one', encoding_format: 'ubinary' }],
    ['an integer that would be rounded', { input: 'one', seed: 2 ** 80 }],
  ])('caches %s as a whole', (_, fields) => {
    expect(readEmbeddingsInput({ model, ...fields })).toBeNull()
  })

  test('treats an omitted encoding as numbers', () => {
    expect(readEmbeddingsInput({ model, input: 'one' })?.form).toBe('float')
    expect(readEmbeddingsInput({ model, input: 'one', encoding_format: null })?.form).toBe('float')
    expect(readEmbeddingsInput({ model, input: 'one', encoding_format: 'base64' })?.form).toBe('base64')
  })

  test('keeps both encodings apart beside unknown fields', () => {
    expect(readEmbeddingsInput({ model, input: 'one', encoding_format: 'base64' })?.otherFields).toEqual({})
    expect(readEmbeddingsInput({ model, input: 'one', output_dtype: 'int8' })?.otherFields).toEqual({
      output_dtype: 'int8',
      encoding_format: 'float',
    })
  })

  test.each([
    ['an empty text in a list', 'input', ['one', ''], "Invalid 'input[1]': input cannot be an empty string."],
    ['an empty text alone', 'input', '', "Invalid 'input': input cannot be an empty string."],
    ['no tokens', 'input', [[1], []], "Invalid 'input[1]': input cannot be an empty array."],
    ['no inputs', 'input', [], "Invalid 'input': input cannot be an empty array."],
  ])('rejects %s', (_, param, input, message) => {
    expect(() => readEmbeddingsInput({ model, input })).toThrow(
      expect.objectContaining({ status: 400, param, message }),
    )
  })

  test('accepts 2,048 inputs and rejects one more', () => {
    const texts = Array.from({ length: 2_049 }, (_, at) => `text ${at}`)
    expect(readEmbeddingsInput({ model, input: texts.slice(1) })?.inputs.length).toBe(2_048)
    expect(() => readEmbeddingsInput({ model, input: texts })).toThrow(
      expect.objectContaining({ code: 'array_above_max_length', param: 'input' }),
    )
  })
})

describe('names of vectors', () => {
  const space: VectorNameFields = {
    namespace: '',
    version: '',
    route: 'openrouter',
    model,
    dimensions: null,
    otherFields: {},
  }
  const name = (input: string | number[], changes: Partial<VectorNameFields> = {}) =>
    createVectorNamer({ ...space, ...changes })(input)

  test('are equal for equal vectors, whatever key they are recorded under', () => {
    expect(name('one')).toBe(name('one'))
    expect(name('one', { otherFields: { metadata: { a: 1 } } })).toBe(name('one'))
  })

  test('differ wherever the vector may', () => {
    const names = [
      name('one'),
      name('One'),
      name('one '),
      name('1,2'),
      name([1, 2]),
      name([12]),
      name('\ud800'),
      name('\ud801'),
      name('\ufffd'),
      name('one', { namespace: 'a' }),
      name('one', { version: 'a@1' }),
      name('one', { route: 'openai' }),
      name('one', { model: 'openai/text-embedding-3-large' }),
      name('one', { dimensions: 512 }),
      name('one', { headers: [['openai-beta', 'a']] }),
      name('one', { otherFields: { input_type: 'query' } }),
      name('one', { otherFields: JSON.parse('{"__proto__":1}') }),
    ]
    expect(new Set(names).size).toBe(names.length)
  })
})

describe('sharing tokens between inputs', () => {
  test('uses the proxy’s own count if the upstream counts alike', () => {
    expect(distributeTokens(6, [1, 2, 3])).toEqual([1, 2, 3])
  })

  test.each([
    [10, [1, 2, 3]],
    [5, [1, 2, 3]],
    [7, [0, 0, 0]],
    [0, [4, 4]],
    [299_999, [1, 8_192, 77, 12]],
  ])('adds up to %d', (total, counts) => {
    const shares = distributeTokens(total, counts)
    expect(shares.reduce((sum, share) => sum + share, 0)).toBe(total)
    expect(shares.every(Number.isInteger)).toBe(true)
  })

  test('is proportional', () => {
    expect(distributeTokens(12, [1, 2, 3])).toEqual([2, 4, 6])
  })
})

describe('planning batches', () => {
  const inputs = Array.from({ length: 250 }, (_, at) => at)

  test('sends OpenAI all inputs at once', () => {
    expect(planBatches(inputs, model).map(batch => batch.length)).toEqual([250])
  })

  test('sends at most what an upstream accepts, in even batches and in order', () => {
    expect(planBatches(inputs, 'google/gemini-embedding-001').map(batch => batch.length)).toEqual([84, 84, 82])
    expect(planBatches(inputs, 'cohere/embed-v4.0').every(batch => batch.length <= 96)).toBe(true)
    expect(planBatches(inputs, 'cohere/embed-v4.0').flat()).toEqual(inputs)
  })
})

describe('checking token limits', () => {
  const check = (inputs: (string | number[])[], knownTokens = 0, asked = model) =>
    checkInputTokenLimits(asked, inputs, knownTokens, createInputTokenCounter(asked, 1, createYielder()))
  const tokens = (count: number) => Array.from({ length: count }, () => 1)
  const words = (count: number) => Array.from({ length: count }, () => 'word').join(' ')

  test('accepts 8,192 tokens and rejects one more, as text and as tokens', async () => {
    await check([words(8_192), tokens(8_192)])
    const refusal = {
      status: 400,
      param: 'input',
      message: expect.stringContaining('maximum context length is 8192 tokens'),
    }
    await expect(check([words(8_193)])).rejects.toMatchObject(refusal)
    await expect(check(['short', tokens(8_193)])).rejects.toMatchObject(refusal)
  })

  test('accepts 300,000 tokens in total and rejects one more, including cached inputs', async () => {
    const most = Array.from({ length: 37 }, () => tokens(8_000))
    await check([...most, tokens(4_000)])
    const refusal = {
      status: 400,
      type: 'max_tokens_per_request',
      message: 'Requested 300001 tokens, max 300000 tokens per request',
    }
    await expect(check([...most, tokens(4_001)])).rejects.toMatchObject(refusal)
    await expect(check(most, 4_001)).rejects.toMatchObject(refusal)
  })

  test('leaves the limits of other vendors to them', async () => {
    await check([tokens(20_000)], 0, 'qwen/qwen3-embedding-4b')
  })
})

describe('reading an embeddings response', () => {
  const read = (body: unknown, inputs: number) => readEmbeddingsResponse(JSON.stringify(body), inputs)
  const base64 = (...numbers: number[]) => Buffer.from(Float32Array.from(numbers).buffer).toString('base64')
  const datum = (index: number, embedding: unknown) => ({ object: 'embedding', index, embedding })
  const numbersOf = (packed: readonly Uint8Array[]) => packed.map(vector => Array.from(unpackVector(vector)))

  test('reads numbers and base64, in the order of the inputs', async () => {
    const answer = await read({ data: [datum(1, base64(0.5, -1)), datum(0, [0.1, 1 / 3])], model: 'm', usage: 1 }, 2)
    expect(answer && numbersOf(answer.packed)).toEqual([
      [0.1, 1 / 3],
      [0.5, -1],
    ])
    expect(answer).toMatchObject({ form: null, isInOrder: false, model: 'm', usage: 1 })
  })

  test('uses the order if there is no index', async () => {
    const answer = await read({ data: [{ embedding: [1] }, { embedding: [2] }] }, 2)
    expect(answer && numbersOf(answer.packed)).toEqual([[1], [2]])
    expect(answer).toMatchObject({ form: 'float', isInOrder: true, model: null })
  })

  test('is not confused by strings that look like vectors', async () => {
    const text = '"embedding":[1,2]'
    const answer = await read({ note: text, data: [{ note: text, embedding: [3, 4] }] }, 1)
    expect(answer && numbersOf(answer.packed)).toEqual([[3, 4]])
  })

  test.each([
    ['too few vectors', { data: [datum(0, [1])] }],
    ['a duplicate index', { data: [datum(0, [1]), datum(0, [2])] }],
    ['an index out of range', { data: [datum(0, [1]), datum(2, [2])] }],
    ['a null in a vector', { data: [datum(0, [1]), datum(1, [null])] }],
    ['an index instead of a vector', { data: [datum(0, [1]), datum(1, ['0'])] }],
    ['nested lists', { data: [datum(0, [1]), datum(1, [[0]])] }],
    ['an empty vector', { data: [datum(0, [1]), datum(1, [])] }],
    ['bytes that are not floats', { data: [datum(0, [1]), datum(1, 'AAA=')] }],
    ['an error', { error: { message: 'no' } }],
    ['a list instead of an object', []],
  ])('rejects %s', async (_, body) => {
    expect(await read(body, 2)).toBeNull()
  })
})

describe('writing an embeddings response', () => {
  const read = async (body: Uint8Array | ReadableStream<Uint8Array>) =>
    (await new Response(body).json()) as { data: { embedding: unknown }[]; model: string }

  test('writes what the client can read, negative zeros included', async () => {
    const vectors = [
      [0.1, 0, 3],
      [1e-7, 2 ** 60, 5],
    ]
    const packed = vectors.flatMap(vector => packVector(vector) ?? [])
    const body = writeEmbeddingsResponse({ packed, form: 'float', model: 'a "model"', promptTokens: 5 })
    expect(body).toBeInstanceOf(Uint8Array)
    expect(await read(body)).toEqual({
      object: 'list',
      data: vectors.map((embedding, index) => ({ object: 'embedding', index, embedding })),
      model: 'a "model"',
      usage: { prompt_tokens: 5, total_tokens: 5 },
    })
  })

  test.each(['float', 'base64'] as const)('writes a long response in pieces: %s', async form => {
    const vectors = Array.from({ length: 200 }, (_, at) =>
      Float32Array.from({ length: 1_536 }, (_, i) => Math.sin(at + i)),
    )
    const packed = vectors.flatMap(vector => packVector(vector) ?? [])
    const body = writeEmbeddingsResponse({ packed, form, model: 'modèle', promptTokens: 5 })
    expect(body).toBeInstanceOf(ReadableStream)
    const { data, model: answeredAs } = await read(body)
    expect(answeredAs).toBe('modèle')
    expect(data.map(({ embedding }) => embedding)).toEqual(
      vectors.map(vector => (form === 'float' ? Array.from(vector) : Buffer.from(vector.buffer).toString('base64'))),
    )
  })
})

describe('stored vectors', () => {
  test('return with their metadata', () => {
    const stored = {
      packed: Uint8Array.of(1, 2, 3),
      promptTokens: 7,
      responseModel: 'modèle',
      createdAtMs: 1_760_000_000_123,
    }
    const decoded = decodeStoredVector(encodeStoredVector(stored))
    expect(decoded && { ...decoded, packed: Uint8Array.from(decoded.packed) }).toEqual(stored)
  })

  test('are not read from bytes of another format', () => {
    expect(decodeStoredVector(Buffer.from('{"other":"form, and long enough"}'))).toBeNull()
    expect(decodeStoredVector(new Uint8Array(0))).toBeNull()
  })
})

describe('VectorCalls', () => {
  const vector = { packed: Uint8Array.of(1), promptTokens: 1, responseModel: 'm' }

  test('let requests wait for a vector that one of them fetches, within one group', async () => {
    const calls = new InFlightVectors()
    const first = calls.join('a', ['x', 'y'])
    const second = calls.join('a', ['y', 'z'])
    expect([...first.toFetch]).toEqual(['x', 'y'])
    expect([...second.toFetch]).toEqual(['z'])
    expect([...calls.join('b', ['y']).toFetch]).toEqual(['y'])
    first.settle('y', vector)
    expect(await second.inFlight.get('y')).toEqual(vector)
    expect([...calls.join('a', ['y']).toFetch]).toEqual(['y'])
  })

  test('report a failure, and only the owner of a call can settle it', async () => {
    const calls = new InFlightVectors()
    const first = calls.join('a', ['x'])
    const second = calls.join('a', ['x'])
    second.settle('x', vector)
    first.settle('x', null)
    expect(await second.inFlight.get('x')).toBeNull()
  })
})
