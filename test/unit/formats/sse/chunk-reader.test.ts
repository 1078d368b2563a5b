import { describe, expect, test } from 'vitest'
import { parseStreamFrame, type StreamFrame } from '../../../../src/formats/sse/chunk-reader.ts'

const EMPTY: StreamFrame = { kind: 'empty' }
const MALFORMED: StreamFrame = { kind: 'malformed' }
const chunk = (value: object): StreamFrame => ({ kind: 'chunk', chunk: value as Record<string, unknown> })

describe('reading a frame', () => {
  test.each<[string, StreamFrame]>([
    ['{"choices":[]}', chunk({ choices: [] })],
    [' {} ', chunk({})],
    ['[DONE]', { kind: 'done' }],
    [' [DONE] ', { kind: 'done' }],
    ['', EMPTY],
    ['  ', EMPTY],
    ['null', EMPTY],
    ['[]', EMPTY],
    ['{"choices":[{"in', MALFORMED],
    ['"text"', MALFORMED],
    ['7', MALFORMED],
    ['true', MALFORMED],
    ['[7]', MALFORMED],
    ['ping', MALFORMED],
    ['<html>', MALFORMED],
    ['[DONE] and more', MALFORMED],
  ])('reads %j', (data, frame) => {
    expect(parseStreamFrame(data)).toEqual(frame)
    expect(parseStreamFrame(data, null)).toEqual(frame)
    expect(parseStreamFrame(data, 'message')).toEqual(frame)
  })

  test.each<[string, string, StreamFrame]>([
    ['ping', 'ping', EMPTY],
    ['heartbeat', 'still here', EMPTY],
    ['ping', '{"type":"ping"}', chunk({ type: 'ping' })],
    ['content_block_delta', '{"type":"content_bl', MALFORMED],
    ['content_block_delta', ' {"type":"content_bl', MALFORMED],
  ])('distinguishes a keep-alive from a malformed chunk: event %s with %j', (event, data, frame) => {
    expect(parseStreamFrame(data, event)).toEqual(frame)
  })

  test.each<[string, unknown]>([
    ['{"error":{"message":"No."}}', { message: 'No.' }],
    ['{"type":"error","error":{"message":"No."}}', { message: 'No.' }],
    ['{"message":"No."}', { message: 'No.' }],
    ['"No."', 'No.'],
    ['No.', 'No.'],
    ['null', 'null'],
  ])('reads the error in an event named error: %j', (data, error) => {
    expect(parseStreamFrame(data, 'error')).toEqual({ kind: 'error', error })
  })

  test('reads no error in an error event that is empty, or ends the stream', () => {
    expect(parseStreamFrame('', 'error')).toEqual(EMPTY)
    expect(parseStreamFrame('[DONE]', 'error')).toEqual({ kind: 'done' })
  })
})
