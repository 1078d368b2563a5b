import { expect, test } from 'vitest'
import { extractFeatures } from '../../../src/cache/guards/extract-features.ts'
import { numberKey } from '../../../src/cache/guards/number-key.ts'
import { mayServe } from '../text/corpus/guard-pairs.ts'

const keyOf = (text: string) => numberKey(extractFeatures(text))

test('the same numbers make the same key, however they are written', () => {
  expect(keyOf('Take 5 mg of it, twice in 24 hours')).toBe(keyOf('Twice in twenty-four hours, take five mg'))
  expect(keyOf('Take 5 mg')).not.toBe(keyOf('Take 50 mg'))
  expect(keyOf('Which one is it?')).toBe('')
})

test.each(mayServe)('what the guards let pass is not kept apart: %s / %s', (asked, cached) => {
  expect(keyOf(asked)).toBe(keyOf(cached))
})
