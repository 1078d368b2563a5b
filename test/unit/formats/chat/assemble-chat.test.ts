import { describe, expect, test } from 'vitest'
import { createChatAssembler } from '../../../../src/formats/chat/assemble-chat.ts'

function assemble(chunks: (object | string)[]) {
  const assembler = createChatAssembler()
  for (const chunk of chunks) assembler.push(typeof chunk === 'string' ? chunk : JSON.stringify(chunk))
  return assembler.finish()
}

function delta(fields: object, choice: object = {}) {
  return { object: 'chat.completion.chunk', choices: [{ index: 0, delta: fields, finish_reason: null, ...choice }] }
}

const ENDED = delta({}, { finish_reason: 'stop' })

/** Returns the message that these deltas add up to. */
function messageOf(...deltas: object[]): unknown {
  const { body } = assemble(deltas.map(fields => delta(fields)))
  return (body.choices as { message: unknown }[])[0]?.message
}

describe('createAssembler', () => {
  test('appends fragments, whatever their field is called', () => {
    expect(messageOf({ thinkingBlocks: 'a' }, { thinkingBlocks: 'b', content: 'c' }, { content: 'd' })).toEqual({
      thinkingBlocks: 'ab',
      content: 'cd',
    })
  })

  test('keeps a name or a type once, repeated or not', () => {
    expect(
      messageOf({ role: 'assistant', item_id: 'i', kind: 'k' }, { role: 'assistant', item_id: 'i', kind: '' }),
    ).toEqual({
      role: 'assistant',
      item_id: 'i',
      kind: 'k',
    })
  })

  test('ignores null and the empty string', () => {
    expect(messageOf({ content: 'a', list: [1], part: { x: 'y' } }, { content: null, list: null, part: '' })).toEqual({
      content: 'a',
      list: [1],
      part: { x: 'y' },
    })
    expect(messageOf({ content: null }, { content: '' }, { refusal: null })).toEqual({ content: null, refusal: null })
  })

  test('replaces numbers and booleans, merges objects, appends arrays', () => {
    expect(
      messageOf({ n: 1, b: false, o: { s: 'a', k: 1 }, l: [1] }, { n: 2, b: true, o: { s: 'b', j: 2 }, l: [2] }),
    ).toEqual({
      n: 2,
      b: true,
      o: { s: 'ab', k: 1, j: 2 },
      l: [1, 2],
    })
  })

  test('merges numbered items of the same type, and appends those of another type', () => {
    const parts = [
      { index: 0, type: 'a', text: '1' },
      { index: 1, type: 'a', text: '2' },
      { index: 0, type: 'b', text: '3' },
      { index: 0, type: 'b', text: '4' },
      { index: 1, type: 'a', text: '5' },
    ]
    expect(messageOf(...parts.map(part => ({ parts: [part] })))).toEqual({
      parts: [
        { index: 0, type: 'a', text: '1' },
        { index: 1, type: 'a', text: '25' },
        { index: 0, type: 'b', text: '34' },
      ],
    })
  })

  test.each<[unknown, unknown]>([
    ['text', ['x']],
    ['text', { x: 1 }],
    ['text', 7],
    ['text', true],
    [['x'], { x: 1 }],
  ])('reports a field that changes its type from %j to %j', (first, second) => {
    const chunks = [delta({ content: 'Hi.', field: first }), delta({ field: second })]
    expect(assemble([...chunks, ENDED, '[DONE]']).completeness).toBe('inconsistent_chunks')
  })

  test('reports tool calls that are not a list', () => {
    const chunks = [delta({ tool_calls: 'x' }), delta({ tool_calls: [] })]
    expect(assemble([...chunks, ENDED, '[DONE]']).completeness).toBe('inconsistent_chunks')
  })

  test('reports a cut response as a failure, although a field changed its type before', () => {
    const chunks = [delta({ content: 'Hi.', field: 'text' }), delta({ field: 7 })]
    for (const end of [[], ['[DONE]']]) expect(assemble([...chunks, ...end]).completeness).toBe('unfinished_choice')
  })

  test('numbers an aggregator’s calls by their order if all have the number 0', () => {
    const call = (id: string) => ({ index: 0, id, type: 'function', function: { name: 'f', arguments: '{}' } })
    const { body } = assemble([
      delta({ tool_calls: [call('a')] }, { native_finish_reason: null }),
      delta({ tool_calls: [call('b')] }, { native_finish_reason: 'STOP' }),
    ])
    const numbered = { tool_calls: [call('a'), { ...call('b'), index: 1 }] }
    expect(body).toMatchObject({ choices: [{ message: numbered }] })
  })

  test('ignores a message that repeats the deltas', () => {
    const { body } = assemble([delta({ content: 'Par' }), delta({ content: 'is' }, { message: { content: 'Par' } })])
    expect(body).toMatchObject({ choices: [{ message: { content: 'Paris' } }] })
  })

  test('keeps usage when later chunks repeat it', () => {
    expect(
      assemble([
        { choices: [], usage: { a: 1 } },
        { choices: [], usage: null },
      ]).usage,
    ).toEqual({ a: 1 })
  })

  test('does not modify any prototype', () => {
    const evil =
      '{"choices":[{"index":0,"delta":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}}]}'
    assemble([evil, evil])
    expect({}).not.toHaveProperty('polluted')
  })

  test('returns what is known of a cut stream, including usage', () => {
    const { body, usage, completeness } = assemble([
      delta({ content: 'Hal' }),
      { ...delta({}), usage: { prompt_tokens: 4 } },
    ])
    expect(body).toMatchObject({ choices: [{ message: { content: 'Hal' } }], usage: { prompt_tokens: 4 } })
    expect(usage).toEqual({ prompt_tokens: 4 })
    expect(completeness).toBe('unfinished_choice')
  })

  test('distinguishes a stream without choices from one that was closed early', () => {
    expect(assemble([]).completeness).toBe('missing_end')
    expect(assemble([{ choices: [] }]).completeness).toBe('missing_end')
    expect(assemble(['[DONE]']).completeness).toBe('not_a_response')
  })

  test('accepts a finished response without [DONE]', () => {
    expect(assemble([delta({ content: 'Hi.' }), ENDED])).toMatchObject({ completeness: 'whole', sawDone: false })
  })

  test('survives any value as a chunk, and reports it as malformed', () => {
    for (const data of ['{', '7', '[7]', '"text"', 'not json']) {
      expect(assemble([data, delta({ content: 'Hi.' }), ENDED, '[DONE]']).completeness).toBe('malformed_chunk')
    }
    for (const chunk of [
      {},
      { choices: 'x' },
      { choices: [null, 7] },
      delta({ tool_calls: [null] }),
      { choices: [{ delta: 'x' }] },
    ]) {
      expect(assemble([chunk, '[DONE]']).completeness).not.toBe('whole')
    }
  })

  test.each(['', ' ', 'null', '[]', '{}'])('skips %j, and reads [DONE] between blanks', data => {
    expect(assemble([data, delta({ content: 'x' }, { finish_reason: 'stop' }), ' [DONE]']).completeness).toBe('whole')
  })

  test('keeps the first of several errors', () => {
    expect(assemble([{ error: { code: 1 } }, { error: { code: 2 } }, '[DONE]'])).toMatchObject({
      error: { code: 1 },
      completeness: 'error_in_stream',
    })
  })

  test('does not read `error: null` as an error', () => {
    const chunk = { ...delta({ content: 'x' }, { finish_reason: 'stop', error: null }), error: null }
    expect(assemble([chunk, '[DONE]'])).toMatchObject({ error: null, completeness: 'whole' })
  })
})

describe('a discarded text', () => {
  const PIECE = 'word '.repeat(2_000)
  const usage = { prompt_tokens: 3, completion_tokens: 9 }

  /** Discards the text after this many pieces, as the pipeline does, and then reads the chunks in `after`. */
  function giveUpAfter(pieces: number, after: (object | string)[]) {
    const assembler = createChatAssembler()
    for (let n = 0; n < pieces; n++) assembler.push(JSON.stringify(delta({ content: PIECE })))
    assembler.discardText()
    const keptChars = assembler.meter.bufferedChars
    for (const chunk of after) assembler.push(typeof chunk === 'string' ? chunk : JSON.stringify(chunk))
    return { ...assembler.finish(), bufferedChars: keptChars, discardedChars: assembler.meter.discardedChars }
  }

  test('is incomplete; its usage, its end and its length are recorded', () => {
    const ended = giveUpAfter(5, [delta({ content: PIECE }), ENDED, { choices: [], usage }, '[DONE]'])
    expect(ended).toMatchObject({ usage, sawDone: true, completeness: 'too_large', bufferedChars: 0 })
    const [choice] = ended.body.choices as { message: { content: string } }[]
    const kept = choice?.message.content ?? ''
    expect(PIECE.repeat(6).startsWith(kept)).toBe(true)
    expect(kept.length).toBeLessThan(20_000)
    expect(kept.length + ended.discardedChars).toBe(6 * PIECE.length)
  })

  test('is a failure if it was not finished', () => {
    expect(giveUpAfter(5, ['[DONE]'])).toMatchObject({ completeness: 'unfinished_choice' })
  })

  test('is not reported as empty, whatever usage it has', () => {
    const calls = [{ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } }]
    const assembler = createChatAssembler()
    assembler.push(JSON.stringify(delta({ tool_calls: calls })))
    assembler.discardText()
    for (const chunk of [ENDED, { choices: [], usage }]) assembler.push(JSON.stringify(chunk))
    expect(assembler.finish().completeness).toBe('too_large')
  })

  test.each<[string, object]>([
    ['in the stream', { error: { message: 'overloaded' } }],
    ['in a choice', delta({}, { error: { message: 'overloaded' } })],
    ['as its finish reason', delta({}, { finish_reason: 'error' })],
  ])('still reports a failure %s', (_, chunk) => {
    expect(giveUpAfter(1, [chunk, '[DONE]'])).toMatchObject({ completeness: 'error_in_stream' })
  })

  test('cannot be stored because of its own length, not because of long events', () => {
    const push = (chunk: object, times: number) => {
      const assembler = createChatAssembler()
      for (let n = 0; n < times; n++) {
        assembler.push(JSON.stringify(chunk))
        assembler.meter.measure()
      }
      return assembler.meter
    }
    const padded = push({ ...delta({ content: 'a' }), obfuscation: 'x'.repeat(100_000) }, 60)
    expect(padded.isTooLargeToStore).toBe(false)
    expect(padded.bufferedChars).toBeLessThan(padded.pushedChars / 3)
    expect(push(delta({ content: PIECE }), 200).isTooLargeToStore).toBe(false)
    const long = push(delta({ content: PIECE }), 300)
    expect(long.isTooLargeToStore).toBe(true)
    expect(long.bufferedChars).toBeGreaterThan(290 * PIECE.length)
  })
})
