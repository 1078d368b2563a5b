/** Finds the number format of most of an ONNX model's weights. It is read from the file, because its name may be wrong or silent. */

/** ONNX's type numbers: https://onnx.ai/onnx/api/classes.html#tensorproto */
const TYPE_NAMES: Record<number, string> = {
  1: 'fp32',
  2: 'int8',
  3: 'int8',
  10: 'fp16',
  16: 'bf16',
  21: 'int4',
  22: 'int4',
}
const GRAPH_OF_MODEL = 7
const INITIALIZER_OF_GRAPH = 5
const DIMENSIONS_OF_TENSOR = 1
const TYPE_OF_TENSOR = 2

interface Field {
  number: number
  /** Of a number field. */
  value: number
  /** Of a length-delimited field. */
  bytes: Uint8Array
}

/** Returns `fp32`, `int8` and so on; `mixed` when no known type is found. */
export function readWeightPrecision(model: Uint8Array): string {
  const weights = new Map<string, number>()
  for (const graph of fieldsOf(model)) {
    if (graph.number !== GRAPH_OF_MODEL) continue
    for (const { number, bytes } of fieldsOf(graph.bytes)) {
      if (number !== INITIALIZER_OF_GRAPH) continue
      const { type, count } = readTensor(bytes)
      const name = TYPE_NAMES[type]
      if (name) weights.set(name, (weights.get(name) ?? 0) + count)
    }
  }
  const [most] = [...weights].sort(([, one], [, other]) => other - one)
  return most?.[0] ?? 'mixed'
}

function readTensor(tensor: Uint8Array): { type: number; count: number } {
  let type = 0
  let count = 1
  for (const { number, value, bytes } of fieldsOf(tensor)) {
    if (number === TYPE_OF_TENSOR) type = value
    if (number !== DIMENSIONS_OF_TENSOR) continue
    // Either one value per field, or all packed in one field.
    if (bytes.length === 0) count *= value
    for (let at = 0; at < bytes.length; ) {
      const dimension = readVarint(bytes, at)
      count *= dimension.value
      at = dimension.end
    }
  }
  return { type, count }
}

/** The fields of a protobuf message, in order: https://protobuf.dev/programming-guides/encoding */
function* fieldsOf(message: Uint8Array): Generator<Field> {
  const nothing = message.subarray(0, 0)
  for (let at = 0; at < message.length; ) {
    const tag = readVarint(message, at)
    const number = Math.floor(tag.value / 8)
    switch (tag.value % 8) {
      case 0: {
        const { value, end } = readVarint(message, tag.end)
        yield { number, value, bytes: nothing }
        at = end
        break
      }
      case 1:
        at = tag.end + 8
        break
      case 2: {
        const { value: length, end } = readVarint(message, tag.end)
        yield { number, value: 0, bytes: message.subarray(end, end + length) }
        at = end + length
        break
      }
      case 5:
        at = tag.end + 4
        break
      default:
        throw new Error('The model is not an ONNX file')
    }
  }
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
