/** Reads and writes the parts of an ONNX file, a protobuf message: https://onnx.ai/onnx/api/classes.html */

/** Field numbers of ONNX's messages. */
export const MODEL = { graph: 7, operators: 8 }
export const GRAPH = { node: 1, tensor: 5 }
export const NODE = { input: 1, output: 2, type: 4, attribute: 5, domain: 7 }
export const ATTRIBUTE = { integer: 3 }
export const TENSOR = { dimension: 1, type: 2, name: 8, raw: 9 }
export const OPERATORS = { domain: 1, version: 2 }

export interface Field {
  number: number
  /** Of a number field. */
  value: number
  /** Of a length-delimited field. */
  bytes: Uint8Array
  /** The whole field as it is written. */
  written: Uint8Array
}

const NOTHING = new Uint8Array()
const decoder = new TextDecoder()
const encoder = new TextEncoder()

/** The fields of a message, in order: https://protobuf.dev/programming-guides/encoding */
export function* fieldsOf(message: Uint8Array): Generator<Field> {
  for (let at = 0; at < message.length; ) {
    const tag = readVarint(message, at)
    const { value, from, to } = readValue(message, tag.end, tag.value % 8)
    if (to > message.length) throw new Error('The model is not an ONNX file')
    const bytes = from === to ? NOTHING : message.subarray(from, to)
    yield { number: Math.floor(tag.value / 8), value, bytes, written: message.subarray(at, to) }
    at = to
  }
}

/** `from` to `to` are the bytes of a length-delimited field; otherwise there are none. */
function readValue(message: Uint8Array, at: number, wireType: number): { value: number; from: number; to: number } {
  const number = wireType === 0 || wireType === 2 ? readVarint(message, at) : { value: 0, end: at }
  if (wireType === 0) return { value: number.value, from: number.end, to: number.end }
  if (wireType === 2) return { value: 0, from: number.end, to: number.end + number.value }
  if (wireType !== 1 && wireType !== 5) throw new Error('The model is not an ONNX file')
  const to = at + (wireType === 1 ? 8 : 4)
  return { value: 0, from: to, to }
}

function readVarint(bytes: Uint8Array, from: number): { value: number; end: number } {
  let value = 0
  let scale = 1
  for (let at = from; at < bytes.length && at < from + 10; at += 1, scale *= 128) {
    const byte = bytes[at] ?? 0
    value += (byte & 127) * scale
    if (byte < 128) return { value, end: at + 1 }
  }
  throw new Error('The model is not an ONNX file')
}

export function readText({ bytes }: Field): string {
  return decoder.decode(bytes)
}

export function writeNumber(number: number, value: number): Uint8Array {
  return Uint8Array.from([...varint(number * 8), ...varint(value)])
}

export function writeText(number: number, text: string): Uint8Array {
  return Buffer.concat(writeBytes(number, [encoder.encode(text)]))
}

/** In pieces, because weights are large: they are joined once. */
export function writeBytes(number: number, parts: readonly Uint8Array[]): Uint8Array[] {
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  return [Uint8Array.from([...varint(number * 8 + 2), ...varint(length)]), ...parts]
}

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))]
}
