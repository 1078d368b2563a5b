import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeBody, readContentCodings } from '../../../src/http/decode-body.ts'
import { createBodyReader } from '../../../src/http/read-body.ts'
import { CODINGS, encodeBody } from '../../harness/encode-body.ts'

const MIB = 1_048_576

async function* inParts(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function gather(parts: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = []
  for await (const part of parts) all.push(part)
  return Buffer.concat(all)
}

const codingsOf = (value: string) => readContentCodings(new Headers({ 'content-encoding': value }))

describe('reading the encodings', () => {
  test.each([
    ['', []],
    ['identity', []],
    ['GZIP', ['gzip']],
    [' x-gzip ', ['x-gzip']],
    ['gzip, zstd', ['gzip', 'zstd']],
    ['identity, br', ['br']],
    ['gzip,,deflate', ['gzip', 'deflate']],
    ['gzip,br,zstd', ['gzip', 'br', 'zstd']],
    ['gzip,br,zstd,gzip', null],
    ['compress', null],
    ['gzip, constructor', null],
    ['gzip;q=1', null],
  ])('reads %j', (value, codings) => {
    expect(codingsOf(value)).toEqual(codings)
  })
})

describe('decoding a body', () => {
  test('returns the bytes that were encoded, however they arrive', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 5_000 }),
        fc.array(fc.constantFrom(...CODINGS), { maxLength: 3 }),
        fc.integer({ min: 1, max: 700 }),
        async (bytes, codings, size) => {
          const encoded = encodeBody(bytes, codings.join())
          const decoded = await gather(decodeBody(inParts(encoded, size), codings, 10_000))
          expect(decoded.equals(bytes)).toBe(true)
        },
      ),
    )
  })

  describe.each(CODINGS)('%s', coding => {
    const decode = (bytes: Uint8Array, mostBytes = MIB) =>
      gather(decodeBody(inParts(bytes, 1_000), [coding], mostBytes))
    const encoded = encodeBody('{"model":"m"}'.repeat(100), coding)

    test.each<[string, Uint8Array]>([
      ['uncompressed text', Buffer.from('{"model":"m"}')],
      ['an empty body', Buffer.alloc(0)],
      ['a truncated body', encoded.subarray(0, -3)],
      ['a body with trailing data', Buffer.concat([encoded, Buffer.from('{"model":"other"}')])],
    ])('rejects %s', async (_, bytes) => {
      await expect(decode(bytes)).rejects.toMatchObject({ status: 400, param: 'Content-Encoding' })
    })

    test('accepts the maximum number of bytes, and no more', async () => {
      const whole = encodeBody(Buffer.alloc(MIB), coding)
      expect(await decode(whole)).toHaveLength(MIB)
      await expect(decode(encodeBody(Buffer.alloc(MIB + 1), coding))).rejects.toMatchObject({ status: 413 })
      await expect(decode(whole, whole.length - 1)).rejects.toMatchObject({ status: 413 })
    })

    test('stops at the limit, without the rest', async () => {
      const bomb = encodeBody(Buffer.alloc(100 * MIB), coding)
      let decodedBytes = 0
      const reading = (async () => {
        for await (const part of decodeBody(inParts(bomb, bomb.length), [coding], MIB)) decodedBytes += part.length
      })()
      await expect(reading).rejects.toMatchObject({ status: 413 })
      expect(decodedBytes).toBeLessThanOrEqual(MIB)
    })

    test('does not wait for the rest of a body that is too large', async () => {
      async function* stalled(): AsyncGenerator<Uint8Array> {
        yield encodeBody(Buffer.alloc(4 * MIB), coding)
        await new Promise(() => {})
      }
      await expect(gather(decodeBody(stalled(), [coding], MIB))).rejects.toMatchObject({ status: 413 })
    })
  })

  test('bounds each step: a short result may be long in between', async () => {
    // Two megabytes of empty deflate blocks.
    const blocks = Buffer.alloc(2 * MIB, Buffer.from([0, 0, 0, 0xff, 0xff]))
    const between = Buffer.concat([Buffer.from([0x78, 0x9c]), blocks])
    for (const [body, codings] of [
      [between, ['deflate']],
      [encodeBody(between, 'gzip'), ['deflate', 'gzip']],
    ] as const) {
      const reading = gather(decodeBody(inParts(body, 65_536), codings, MIB))
      await expect(reading).rejects.toMatchObject({ status: 413 })
    }
  })

  test('throws the error of the source', async () => {
    const gone = new Error('The client has left')
    async function* leaving(): AsyncGenerator<Uint8Array> {
      yield encodeBody(Buffer.alloc(100), 'gzip').subarray(0, 10)
      throw gone
    }
    for (const codings of [['gzip'], ['zstd', 'gzip']])
      await expect(gather(decodeBody(leaving(), codings, MIB))).rejects.toBe(gone)
  })
})

test('never reads a compressed body before its key is checked, because its length is unknown', () => {
  const open = createBodyReader({ maxBodyBytes: MIB, bodyTimeoutMs: 1_000 })
  const opened = (headers: Record<string, string>) =>
    open(new Request('http://proxy/v1', { method: 'POST', body: 'x', headers: { 'content-length': '1', ...headers } }))
  expect(opened({}).isSmall).toBe(true)
  expect(opened({ 'content-encoding': 'identity' }).isSmall).toBe(true)
  expect(opened({ 'content-encoding': 'gzip' }).isSmall).toBe(false)
})
