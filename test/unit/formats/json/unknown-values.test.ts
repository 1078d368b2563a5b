import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { asNumber, asString } from '../../../../src/formats/json/canonical.ts'

const ODD: unknown[] = [{ toString: 1 }, { valueOf: 1 }, ['a'], [1], null, undefined, true, {}]

describe('a client’s value', () => {
  test.each([...ODD, 1])('%j is not text', value => expect(asString(value)).toBe(''))
  test.each([...ODD, '1'])('%j is not a number', value => {
    expect(asNumber(value)).toBeNaN()
    expect(asNumber(value, 7)).toBe(7)
  })
  test('text and numbers are unchanged', () => {
    expect([asString('a'), asNumber(1.5), asNumber(0, 7)]).toEqual(['a', 1.5, 0])
  })
})

/** Directories whose code reads values sent by clients. */
const FOLDERS = ['formats', 'pipeline', 'providers/anthropic', 'providers/sandbox']

test.each(FOLDERS)('nothing in src/%s converts a value to text that may be no text', folder => {
  const root = `${import.meta.dirname}/../../../../src`
  // The JSON modules check the type of each value before they use it.
  const files = [...new Bun.Glob(`${folder}/**/*.ts`).scanSync(root)].filter(file => !file.startsWith('formats/json/'))
  expect(files.length).toBeGreaterThan(0)
  // `constrainedText` and `readString` read texts. A number is written as `${number}`.
  const found = files.filter(file => /(?<![\w.])String\(/.test(readFileSync(`${root}/${file}`, 'utf8')))
  expect(found).toEqual([])
})
