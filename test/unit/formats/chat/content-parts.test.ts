import { describe, expect, test } from 'vitest'
import { mergeContent, readContentParts, textOfContent } from '../../../../src/formats/chat/content-parts.ts'

const text = (content: string) => ({ type: 'text', text: content })
const thinking = (...texts: string[]) => ({ type: 'thinking', thinking: texts.map(text) })

describe('reading content', () => {
  test.each<[unknown, object[]]>([
    ['Hi.', [{ kind: 'text', text: 'Hi.' }]],
    [[text('Hi.')], [{ kind: 'text', text: 'Hi.' }]],
    [text('Hi.'), [{ kind: 'text', text: 'Hi.' }]],
    [['Hi.'], [{ kind: 'text', text: 'Hi.' }]],
    [[{ type: 'output_text', text: 'Hi.', annotations: [] }], [{ kind: 'text', text: 'Hi.' }]],
    [[{ type: 'refusal', refusal: 'No.' }], [{ kind: 'text', text: 'No.' }]],
    [[thinking('H', 'm.')], [{ kind: 'reasoning', text: 'Hm.' }]],
    [[{ type: 'thinking', thinking: 'Hm.', signature: 's' }], [{ kind: 'reasoning', text: 'Hm.' }]],
    [[{ type: 'reasoning', reasoning: 'Hm.' }], [{ kind: 'reasoning', text: 'Hm.' }]],
    [[{ type: 'reasoning', summary: [text('Hm.')] }], [{ kind: 'reasoning', text: 'Hm.' }]],
    [[{ type: 'reasoning.text', text: 'Hm.' }], [{ kind: 'reasoning', text: 'Hm.' }]],
    [[{ type: 'image_url', image_url: { url: 'data:x' } }], [{ kind: 'image', url: 'data:x' }]],
    [[{ type: 'image_url', image_url: 'https://x' }], [{ kind: 'image', url: 'https://x' }]],
    [[{ type: 'audio', audio: { data: 'x' } }], [{ kind: 'audio', audio: { data: 'x' } }]],
    [[{ type: 'input_audio', input_audio: { data: 'x' } }], [{ kind: 'audio', audio: { data: 'x' } }]],
    [[{ type: 'video_url', video_url: { url: 'x' } }], [{ kind: 'other', type: 'video_url' }]],
    [[{}], [{ kind: 'other', type: 'unnamed' }]],
    [[7], [{ kind: 'other', type: 'number' }]],
  ])('reads %j', (content, parts) => {
    expect(readContentParts(content)).toEqual(parts)
  })

  test.each([null, undefined, '', [], [text('')], [thinking()], [''], 7, true])('returns no parts for %j', content => {
    expect(readContentParts(content)).toEqual([])
  })

  test('keeps the order of parts', () => {
    expect(readContentParts([text('a'), thinking('b'), text('c')]).map(({ kind }) => kind)).toEqual([
      'text',
      'reasoning',
      'text',
    ])
  })
})

test('textOfContent joins the text of all parts, without reasoning', () => {
  expect(textOfContent([thinking('Hm.'), text('{"a"'), text(': 1}')])).toBe('{"a": 1}')
  expect(textOfContent('Hi.')).toBe('Hi.')
  expect(textOfContent(null)).toBe('')
})

/** Merges the pieces of a stream that begins with these parts. */
function mergeAll(first: unknown[], ...pieces: unknown[]): unknown {
  return pieces.reduce((merged, piece) => mergeContent(merged, piece), structuredClone(first))
}

describe('merging content', () => {
  test.each<[unknown, unknown]>([
    ['Hi', ' there'],
    [undefined, 'Hi'],
    [[text('Hi')], ''],
    [[text('Hi')], null],
    ['Hi', ''],
    [null, [text('Hi')]],
    ['', [text('Hi')]],
    [7, [text('Hi')]],
    [[text('Hi')], 7],
  ])('leaves %j and %j to the rule for other fields', (existing, incoming) => {
    expect(mergeContent(existing, incoming)).toBeNull()
  })

  test('joins pieces of one text, and of one reasoning', () => {
    expect(mergeAll([thinking('H')], [thinking('m.')], [text('Y')], [text('es')])).toEqual([
      thinking('Hm.'),
      text('Yes'),
    ])
  })

  test('joins a string with the parts before it', () => {
    expect(mergeAll([thinking('Hm.')], 'Y', 'es')).toEqual([thinking('Hm.'), text('Yes')])
  })

  test('keeps a string before the parts', () => {
    expect(mergeContent('Hi', [text(' there'), thinking('Hm.')])).toEqual([text('Hi there'), thinking('Hm.')])
  })

  test('does not join parts that have other fields beside their text', () => {
    const cited = { ...text('Yes'), citations: [1] }
    expect(mergeAll([text('a')], [cited], [text('b')])).toEqual([text('a'), cited, text('b')])
    const image = { type: 'image_url', image_url: { url: 'x' } }
    expect(mergeAll([image], [image])).toEqual([image, image])
  })
})
