/** Assembles a recorded event stream as the proxy does: the bytes are cut at any position. */

import { type AssembledChat, createChatAssembler } from '../../src/formats/chat/assemble-chat.ts'
import type { ExpectedOutput } from '../../src/formats/expected-output.ts'
import { createSseParser } from '../../src/formats/sse/sse.ts'

/** `cuts` are byte positions in any order. Without cuts, all bytes are read at once. */
export function assembleBytes(bytes: Uint8Array, cuts: readonly number[] = [], wanted?: ExpectedOutput): AssembledChat {
  const assembler = createChatAssembler(wanted)
  const parser = createSseParser(({ data, event }) => assembler.push(data, event))
  for (const part of cutBytes(bytes, cuts)) parser.push(part)
  parser.end()
  return assembler.finish()
}

export function cutBytes(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const ends = [...cuts.map(cut => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length]
  return ends.map((end, position) => bytes.subarray(ends[position - 1] ?? 0, end))
}
