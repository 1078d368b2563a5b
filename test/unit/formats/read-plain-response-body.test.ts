import { describe, expect, test } from 'vitest'
import { createChatAssembler } from '../../../src/formats/chat/assemble-chat.ts'
import { readPlainResponseBody } from '../../../src/formats/read-plain-response-body.ts'

const encoder = new TextEncoder()

function read(text: string) {
  return readPlainResponseBody(encoder.encode(text), () => createChatAssembler())
}

const CHUNK = { id: 'c', choices: [{ index: 0, delta: { content: 'Hi.' }, finish_reason: 'stop' }] }
const BODY = { id: 'c', choices: [{ index: 0, message: { content: 'Hi.' }, finish_reason: 'stop' }] }

describe('reading a plain response body', () => {
  test.each([JSON.stringify(BODY), `\n\n  ${JSON.stringify(BODY)}\n`])('reads a whole object: %j', text => {
    expect(read(text)).toEqual({ body: BODY, stream: null })
  })

  test.each([
    `data: ${JSON.stringify(CHUNK)}\n\ndata: [DONE]\n\n`,
    `\n\ndata: ${JSON.stringify(CHUNK)}\n\n`,
    `: PROCESSING\n\ndata: ${JSON.stringify(CHUNK)}\n\ndata: [DONE]\n\n`,
    `event: message\ndata: ${JSON.stringify(CHUNK)}\n\ndata: [DONE]`,
    `id: 1\ndata: ${JSON.stringify(CHUNK)}\n\n`,
    `retry: 5\ndata: ${JSON.stringify(CHUNK)}\n\n`,
  ])('assembles a stream that was sent instead: %j', text => {
    const { body, stream } = read(text) ?? {}
    expect(body).toMatchObject(BODY)
    expect(stream).toMatchObject({ completeness: 'whole', error: null, body: BODY })
  })

  test('reports the error of a stream, also in its own field', () => {
    for (const text of ['event: error\ndata: {"message":"No."}\n\n', 'error: {"message":"No."}\n\n'])
      expect(read(text)?.stream).toMatchObject({ completeness: 'error_in_stream', error: { message: 'No.' } })
  })

  test.each([
    '',
    '  ',
    '<html>Bad gateway</html>',
    'Bad gateway',
    '[]',
    '"text"',
    'null',
    '7',
    '{"choices":[{',
    'dataset: 1',
  ])('reads nothing in %j', text => {
    expect(read(text)).toBeNull()
  })

  test('reads JSON in the requested format', () => {
    const parse = () => ({ read: 'otherwise' })
    const assembler = () => createChatAssembler()
    expect(readPlainResponseBody(encoder.encode('{}'), assembler, parse)?.body).toEqual({ read: 'otherwise' })
  })
})
