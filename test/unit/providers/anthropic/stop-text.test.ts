import { describe, expect, test } from 'vitest'
import { createStopSequenceFilter } from '../../../../src/formats/stop-sequence-filter.ts'
import { createAnthropicResponseContext } from '../../../../src/providers/anthropic/response/response-context.ts'
import { translateResponse } from '../../../../src/providers/anthropic/response/translate-upstream-response.ts'

function stop(sequences: string[], ...pieces: string[]) {
  const stopper = createStopSequenceFilter(sequences)
  const passed = pieces.map(piece => stopper.push(piece)).join('')
  return [passed + stopper.end(), stopper.stoppedBy !== null]
}

describe('a text ends', () => {
  test.each<[string, string[], string[], [string, boolean]]>([
    ['before a sequence', ['\n'], ['a b\nc'], ['a b', true]],
    ['before the first of several', ['\n\n', '\t'], ['a\tb\n\nc'], ['a', true]],
    ['where a sequence is split between pieces', ['\n\n'], ['a\n', '\nb', 'c'], ['a', true]],
    ['at its own end, with the beginning of a sequence', ['\n\n'], ['a\n', 'b\n'], ['a\nb\n', false]],
    ['unchanged without a sequence', [], ['a\n', 'b'], ['a\nb', false]],
  ])('%s', (_name, sequences, pieces, expected) => expect(stop(sequences, ...pieces)).toEqual(expected))
})

test('ends a response at a stop text that Anthropic does not support, and omits what followed', () => {
  const message = {
    id: 'm',
    type: 'message',
    role: 'assistant',
    model: 'claude',
    content: [
      { type: 'text', text: 'one line\nand another' },
      { type: 'tool_use', id: 't', name: 'f', input: {} },
    ],
    stop_reason: 'tool_use',
    usage: { input_tokens: 1, output_tokens: 9 },
  }
  const answer = translateResponse(message as never, createAnthropicResponseContext({ stop: ['\n', 'END'] }, 0))
  expect(answer).toMatchObject({
    choices: [{ finish_reason: 'stop', message: { content: 'one line' } }],
    usage: { completion_tokens: 9 },
  })
  expect(JSON.stringify(answer)).not.toContain('tool_calls')
})
