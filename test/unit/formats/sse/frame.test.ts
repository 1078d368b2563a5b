import { describe, expect, test } from 'vitest'
import { type Frame, readFrame } from '../../../../src/formats/sse/frame.ts'

const EMPTY: Frame = { kind: 'empty' }
const MALFORMED: Frame = { kind: 'malformed' }
const chunk = (value: object): Frame => ({ kind: 'chunk', chunk: value as Record<string, unknown> })

describe('readFrame', () => {
  test.each<[string, Frame]>([
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
    expect(readFrame(data)).toEqual(frame)
    expect(readFrame(data, null)).toEqual(frame)
    expect(readFrame(data, 'message')).toEqual(frame)
  })

  test.each<[string, string, Frame]>([
    ['ping', 'ping', EMPTY],
    ['heartbeat', 'still here', EMPTY],
    ['ping', '{"type":"ping"}', chunk({ type: 'ping' })],
    ['content_block_delta', '{"type":"content_bl', MALFORMED],
    ['content_block_delta', ' {"type":"content_bl', MALFORMED],
  ])('tells a keep-alive from a garbled chunk: event %s with %j', (event, data, frame) => {
    expect(readFrame(data, event)).toEqual(frame)
  })

  test.each<[string, unknown]>([
    ['{"error":{"message":"No."}}', { message: 'No.' }],
    ['{"type":"error","error":{"message":"No."}}', { message: 'No.' }],
    ['{"message":"No."}', { message: 'No.' }],
    ['"No."', 'No.'],
    ['No.', 'No.'],
    ['null', 'null'],
  ])('reads the error in an event of that name: %j', (data, error) => {
    expect(readFrame(data, 'error')).toEqual({ kind: 'error', error })
  })

  test('reads no error in an error event that is empty, or closes the stream', () => {
    expect(readFrame('', 'error')).toEqual(EMPTY)
    expect(readFrame('[DONE]', 'error')).toEqual({ kind: 'done' })
  })
})
