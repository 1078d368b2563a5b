import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { completenessOf } from '../../../../src/formats/chat/completeness.ts'
import { parseJsonObject } from '../../../../src/formats/json/canonical.ts'
import { assembleBytes } from '../../../fake-provider/assemble-bytes.ts'
import { CORPUS, type CorpusEntry, plainText } from '../../../fake-provider/corpus.ts'

const encoder = new TextEncoder()

function optionsOf(entry: CorpusEntry) {
  return { clientSetOutputLimit: entry.clientSetOutputLimit === true }
}

function readStream(entry: CorpusEntry, bytes: Uint8Array, cuts: number[]) {
  const { body, completeness, error, usage, sawDone } = assembleBytes(bytes, cuts, optionsOf(entry))
  return { body, completeness, error, usage, sawDone }
}

describe('the corpus of responses', () => {
  test('contains at least 40 responses with distinct names', () => {
    expect(CORPUS.length).toBeGreaterThanOrEqual(40)
    expect(new Set(CORPUS.map(entry => entry.name)).size).toBe(CORPUS.length)
  })

  test.each(CORPUS.filter(entry => entry.stream !== undefined))('$name: the stream', entry => {
    const bytes = encoder.encode(entry.stream)
    const whole = readStream(entry, bytes, [])
    expect(whole).toEqual({
      body: entry.body,
      completeness: entry.completeness,
      error: entry.error ?? null,
      usage: entry.body.usage ?? null,
      sawDone: entry.stream?.includes('[DONE]'),
    })
    // `Bun.deepEquals` compares the results, because an expectation for each cut would take longer than the reading.
    const isDifferent = (cut: number) => !Bun.deepEquals(readStream(entry, bytes, [cut]), whole)
    expect(Array.from({ length: bytes.length }, (_, cut) => cut).filter(isDifferent)).toEqual([])
    const everyByte = Array.from({ length: bytes.length }, (_, at) => at)
    expect(readStream(entry, bytes, everyByte)).toEqual(whole)
    fc.assert(
      fc.property(fc.array(fc.nat()), cuts => {
        expect(readStream(entry, bytes, cuts)).toEqual(whole)
      }),
    )
  })

  test.each(CORPUS.filter(entry => plainText(entry) !== null))('$name: the plain response', entry => {
    const body = parseJsonObject(plainText(entry) ?? '')
    expect(completenessOf(body, optionsOf(entry))).toBe(entry.plainCompleteness ?? entry.completeness)
  })
})
