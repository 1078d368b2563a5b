import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  createCodeFenceRemover,
  removeCodeFence,
} from '../../../../src/providers/anthropic/response/remove-code-fence.ts'

describe('removing a code fence', () => {
  test.each([
    ['{"a":1}', '{"a":1}'],
    ['```json\n{"a":1}\n```', '{"a":1}'],
    ['```\n{"a":1}\n```\n', '{"a":1}'],
    [' \n```JSON  \r\n{"a":"``"}\n```  ', '{"a":"``"}'],
    ['```json\n{"a":1}', '{"a":1}'],
    ['```js\n{"a":1}\n```', '```js\n{"a":1}\n```'],
    ['``', '``'],
    ['  ', '  '],
    ['', ''],
    ['{"a":"```"}', '{"a":"```"}'],
    ['```json\n{"a":"```"}\n```', '{"a":"```"}'],
    ['```json\n```', ''],
    ['```json\n{}````', '{}`'],
    ['```json\n{}\n``` ```', '{}\n```'],
    [`\n\`\`\`${' '.repeat(200)}\n{}`, `\n\`\`\`${' '.repeat(200)}\n{}`],
  ])('%j', (text, bare) => expect(removeCodeFence(text)).toBe(bare))

  test('returns the same however the text is cut', () => {
    const piece = fc.constantFrom('```', '`', 'json', 'JSON', '\n', '\r\n', ' ', '{"a":1}', 'x', '```json\n', '\n```')
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), fc.array(fc.nat()), (pieces, cuts) => {
        const text = pieces.join('')
        const ends = [...cuts.map(cut => cut % (text.length + 1)).toSorted((a, b) => a - b), text.length]
        const unfencer = createCodeFenceRemover()
        const passed = ends.map((end, at) => unfencer.push(text.slice(ends[at - 1] ?? 0, end)))
        expect(passed.join('') + unfencer.end()).toBe(removeCodeFence(text))
      }),
    )
  })

  test('holds back only what may be a fence', () => {
    const unfencer = createCodeFenceRemover()
    expect(unfencer.push('```json\n{"a":')).toBe('{"a":')
    expect(unfencer.push('1}\n')).toBe('1}')
    expect(unfencer.push('`')).toBe('')
    expect(unfencer.push('x')).toBe('\n`x')
  })
})
