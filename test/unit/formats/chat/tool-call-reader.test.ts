import { describe, expect, test } from 'vitest'
import { PartReader, type PartWriter } from '../../../../src/formats/chat/part-reader.ts'
import { BufferedProviderExtras } from '../../../../src/formats/chat/provider-extras.ts'
import { ToolCallReader } from '../../../../src/formats/chat/tool-call-reader.ts'
import type { JsonObject } from '../../../../src/formats/json/canonical.ts'

interface WrittenCall {
  id: string
  name: string
  text: string
}

/** A writer that writes one call after another, as the writers of the other formats do. */
function createWriter(calls: WrittenCall[]) {
  return {
    createCallId: () => `own_${calls.length}`,
    startCall: (id: string, name: string) => void calls.push({ id, name, text: '' }),
    addArguments(fragment: string) {
      const last = calls.at(-1)
      if (last) last.text += fragment
    },
  }
}

function readAll(fragments: readonly JsonObject[]) {
  const calls: WrittenCall[] = []
  const reader = new ToolCallReader(createWriter(calls), new BufferedProviderExtras())
  /** The written length of each call's arguments after each fragment. */
  const progress = fragments.map(fragment => {
    reader.read(fragment)
    return calls.map(({ text }) => text.length)
  })
  reader.end()
  return { calls, progress, hasOmittedFragments: reader.hasOmittedFragments }
}

const begin = (index: number | undefined, id: string, name: string, text = '') => ({
  ...(index === undefined ? {} : { index }),
  id,
  function: { name, arguments: text },
})
const more = (index: number | undefined, text: string) => ({
  ...(index === undefined ? {} : { index }),
  function: { arguments: text },
})

describe('reading streamed tool calls', () => {
  test('writes a call as it arrives', () => {
    const { calls, progress } = readAll([begin(0, 'a', 'f'), more(0, '{"x"'), more(0, ':1}')])
    expect(calls).toEqual([{ id: 'a', name: 'f', text: '{"x":1}' }])
    expect(progress).toEqual([[0], [4], [7]])
  })

  test('writes interleaved calls one after another', () => {
    const { calls, progress, hasOmittedFragments } = readAll([
      begin(0, 'a', 'f', '{"x"'),
      begin(1, 'b', 'g', '{"y"'),
      more(0, ':1}'),
      more(1, ':2}'),
    ])
    expect(calls).toEqual([
      { id: 'a', name: 'f', text: '{"x":1}' },
      { id: 'b', name: 'g', text: '{"y":2}' },
    ])
    expect(progress).toEqual([[4], [4], [7, 4], [7, 7]])
    expect(hasOmittedFragments).toBe(false)
  })

  test('keeps the order of three calls of which the second is complete first', () => {
    const { calls } = readAll([
      begin(0, 'a', 'f', '{'),
      begin(1, 'b', 'g', '{}'),
      begin(2, 'c', 'h', '{'),
      more(0, '}'),
      more(2, '}'),
    ])
    expect(calls.map(({ id, text }) => [id, text])).toEqual([
      ['a', '{}'],
      ['b', '{}'],
      ['c', '{}'],
    ])
  })

  test('distinguishes calls by their ids if they have no numbers', () => {
    const { calls } = readAll([
      begin(undefined, 'a', 'f', '{'),
      begin(undefined, 'b', 'g', '{'),
      { id: 'a', function: { arguments: '}' } },
      { id: 'b', function: { arguments: '"y":2}' } },
    ])
    expect(calls).toEqual([
      { id: 'a', name: 'f', text: '{}' },
      { id: 'b', name: 'g', text: '{"y":2}' },
    ])
  })

  test('creates an id for a call without one, or with the id of another call', () => {
    const { calls } = readAll([begin(0, 'a', 'f', '{}'), begin(1, 'a', 'g', '{}'), begin(2, '', 'h', '{}')])
    expect(calls).toEqual([
      { id: 'a', name: 'f', text: '{}' },
      { id: 'own_1', name: 'g', text: '{}' },
      { id: 'own_2', name: 'h', text: '{}' },
    ])
  })

  test('waits for a name that arrives after the id', () => {
    const { calls, progress } = readAll([
      begin(0, 'a', ''),
      { index: 0, function: { name: 'f', arguments: '{' } },
      more(0, '}'),
    ])
    expect(calls).toEqual([{ id: 'a', name: 'f', text: '{}' }])
    expect(progress).toEqual([[], [1], [2]])
  })

  test('waits for a name that arrives after the arguments, also if another call has started', () => {
    const { calls } = readAll([
      begin(0, 'a', '', '{}'),
      begin(1, 'b', 'g', '{}'),
      { index: 0, function: { name: 'f' } },
    ])
    expect(calls).toEqual([
      { id: 'a', name: 'f', text: '{}' },
      { id: 'b', name: 'g', text: '{}' },
    ])
  })

  test('loses no call that never gets a name, or is never complete', () => {
    const { calls } = readAll([begin(0, 'a', '', '{}'), begin(1, 'b', 'g', '{"y"'), begin(2, 'c', 'h', '{}')])
    expect(calls).toEqual([
      { id: 'a', name: '', text: '{}' },
      { id: 'b', name: 'g', text: '{"y"' },
      { id: 'c', name: 'h', text: '{}' },
    ])
  })

  test('writes arguments that are an object as text', () => {
    const { calls } = readAll([{ index: 0, id: 'a', function: { name: 'f', arguments: { x: { y: 1 } } } }])
    expect(calls).toEqual([{ id: 'a', name: 'f', text: '{"x":{"y":1}}' }])
  })

  test('writes the input of a custom tool as JSON, at the end', () => {
    const { calls, progress } = readAll([
      { index: 0, id: 'a', custom: { name: 'f', input: 'say "hi"' } },
      { index: 0, custom: { input: '\n}' } },
    ])
    expect(calls).toEqual([{ id: 'a', name: 'f', text: JSON.stringify({ input: 'say "hi"\n}' }) }])
    expect(progress).toEqual([[], []])
  })

  test.each([
    ['}', true],
    [' ', false],
    ['', false],
  ])('detects that %j arrives for a call that something else has followed: %j', (text, isLost) => {
    const reader = new ToolCallReader(createWriter([]), new BufferedProviderExtras())
    reader.read(begin(0, 'a', 'f', '{'))
    reader.end()
    reader.read(more(0, text))
    expect(reader.hasOmittedFragments).toBe(isLost)
  })
})

/** Reads the deltas of a stream, and returns the parts in the order in which they are written. */
function readDeltas(...deltas: JsonObject[]) {
  const written: string[] = []
  const writer: PartWriter = {
    createCallId: () => '',
    begin: () => {},
    addReasoning: text => void written.push(`thought ${text}`),
    addText: text => void written.push(`text ${text}`),
    addRefusal: text => void written.push(`refusal ${text}`),
    startCall: (_, name) => void written.push(`call ${name}`),
    addArguments: fragment => void written.push(fragment),
    addAnnotations: () => false,
    addImage: () => false,
  }
  const reader = new PartReader(writer)
  for (const delta of deltas) reader.read({ choices: [{ index: 0, delta }] })
  reader.end()
  return { written, omitted: [...reader.omitted] }
}

describe('reading streamed parts', () => {
  test.each([
    ['text', { content: 'Hi' }, 'text Hi'],
    ['a text part', { content: [{ type: 'text', text: 'Hi' }] }, 'text Hi'],
    ['reasoning', { reasoning_content: 'Hm' }, 'thought Hm'],
    ['a thinking part', { content: [{ type: 'thinking', thinking: 'Hm' }] }, 'thought Hm'],
    ['a refusal', { refusal: 'No' }, 'refusal No'],
  ])('writes %s between the fragments of a call behind that call', (_, delta, part) => {
    const { written, omitted } = readDeltas({ tool_calls: [begin(0, 'a', 'f', '{"x"')] }, delta, {
      tool_calls: [more(0, ':1}')],
    })
    expect(written).toEqual(['call f', '{"x"', ':1}', part])
    expect(omitted).toEqual([])
  })

  test('writes text behind a complete call at once, and the next call behind the text', () => {
    const { written } = readDeltas(
      { tool_calls: [begin(0, 'a', 'f', '{}')] },
      { content: 'Hi' },
      { tool_calls: [begin(1, 'b', 'g', '{}')] },
    )
    expect(written).toEqual(['call f', '{}', 'text Hi', 'call g', '{}'])
  })

  test('reads a legacy function call once, with or without its current form', () => {
    const called = { name: 'f', arguments: '{}' }
    expect(readDeltas({ function_call: called }).written).toEqual(['call f', '{}'])
    const both = { tool_calls: [{ index: 0, id: 'a', function: called }], function_call: called }
    expect(readDeltas(both).written).toEqual(['call f', '{}'])
    const { tool_calls, function_call } = both
    expect(readDeltas({ tool_calls }, { function_call }).written).toEqual(['call f', '{}'])
  })

  test('names parts that the writer does not support', () => {
    const { written, omitted } = readDeltas(
      { content: [{ type: 'video_url', video_url: {} }] },
      { images: [{ type: 'image_url', image_url: { url: 'data:x' } }] },
      { annotations: [{ type: 'url_citation' }] },
      { audio: { data: 'x', transcript: 'Hi' } },
    )
    expect(written).toEqual(['text Hi'])
    expect(omitted).toEqual(['video_url', 'images', 'annotations', 'audio'])
  })
})
