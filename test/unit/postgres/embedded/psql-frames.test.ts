import { describe, expect, test } from 'vitest'
import { createFrameReader, type ProtocolFrame } from '../../../../src/postgres/embedded/psql-frames.ts'

const encryption = Buffer.from('0000000804d2162f', 'hex')
const gssEncryption = Buffer.from('0000000804d21630', 'hex')
const cancel = Buffer.from('0000001004d2162e0000000100000002', 'hex')
const startup = Buffer.from('\0\0\0\x17\0\x03\0\0user\0postgres\0\0', 'latin1')
const query = Buffer.from('Q\0\0\0\x0dselect 1\0', 'latin1')
const sync = Buffer.from('S\0\0\0\x04', 'latin1')

function describeFrame(frame: ProtocolFrame): string {
  return frame.kind === 'message' ? `${frame.type} ${frame.bytes.length}` : frame.kind
}

describe('psql frames', () => {
  const session = Buffer.concat([encryption, gssEncryption, startup, query, sync, query])
  const expected = ['encryption', 'encryption', 'startup', 'Q 14', 'S 5', 'Q 14']

  test.each([1, 2, 3, 5, 7, 11, session.length])('are read whole from chunks of %i bytes', size => {
    const reader = createFrameReader()
    const frames: ProtocolFrame[] = []
    for (let at = 0; at < session.length; at += size) frames.push(...reader.read(session.subarray(at, at + size)))
    expect(frames.map(describeFrame)).toEqual(expected)
    expect(Buffer.concat(frames.flatMap(frame => ('bytes' in frame ? [frame.bytes] : [])))).toEqual(
      Buffer.concat([startup, query, sync, query]),
    )
  })

  test('a cancel request opens its own connection', () => {
    expect(createFrameReader().read(cancel).map(describeFrame)).toEqual(['cancel'])
  })

  test.each([
    ['another version', '0000000800020000'],
    ['a length shorter than itself', '00000003000300000000'],
    ['an implausible length', '7fffffff00030000'],
    ['an HTTP request', Buffer.from('GET / HTTP/1.1\r\n').toString('hex')],
  ])('rejects %s', (_, bytes) => {
    expect(() => createFrameReader().read(Buffer.from(bytes, 'hex'))).toThrow(/invalid|unsupported/)
  })

  test('rejects a message shorter than its own length', () => {
    const reader = createFrameReader()
    reader.read(startup)
    expect(() => reader.read(Buffer.from('5100000003', 'hex'))).toThrow('invalid message length')
  })
})
