import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as onnx from 'onnxruntime-node'
import { describe, expect, test } from 'vitest'
import { toIntegerModel } from '../../../../../src/cache/embedders/local/integer-model.ts'
import { fieldsOf, GRAPH, MODEL, NODE, readText } from '../../../../../src/cache/embedders/local/onnx-file.ts'
import { temporaryFolder } from '../../../../harness/temporary-folder.ts'
import { writeTinyModel } from '../../../../harness/tiny-model.ts'

const included = fileURLToPath(new URL('../../../../../vendor/all-minilm-l6-v2/model.onnx', import.meta.url))

/** How many nodes of each type the model has. */
function countTypes(model: Uint8Array): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const graph of fieldsOf(model)) {
    if (graph.number !== MODEL.graph) continue
    for (const node of fieldsOf(graph.bytes)) {
      const type = node.number === GRAPH.node && [...fieldsOf(node.bytes)].find(({ number }) => number === NODE.type)
      if (type) counts[readText(type)] = (counts[readText(type)] ?? 0) + 1
    }
  }
  return counts
}

async function run(session: onnx.InferenceSession, ids: number[]): Promise<Float32Array> {
  const values = [ids, ids.map(() => 1), ids.map(() => 0)].map(list => BigInt64Array.from(list, BigInt))
  const tensors = values.map(list => new onnx.Tensor('int64', list, [1, ids.length]))
  const names = ['input_ids', 'attention_mask', 'token_type_ids']
  const feeds = names.flatMap((name, at) => (session.inputNames.includes(name) ? [[name, tensors[at]]] : []))
  const output = (await session.run(Object.fromEntries(feeds)))[session.outputNames[0] ?? '']
  return output?.data as Float32Array
}

describe.runIf(existsSync(included))('the included model', () => {
  test('computes with integers, and nearly the same', { timeout: 60_000 }, async () => {
    const before = countTypes(readFileSync(included))
    const rewritten = toIntegerModel(readFileSync(included)) ?? new Uint8Array()
    const after = countTypes(rewritten)
    // Six layers of six: two factors that are computed, and no weights, stay as they were.
    expect(after.DynamicQuantizeMatMul).toBe(36)
    expect((before.MatMul ?? 0) - (after.MatMul ?? 0)).toBe(36)
    const [floats, integers] = await Promise.all([
      onnx.InferenceSession.create(included),
      onnx.InferenceSession.create(rewritten),
    ])
    // "how do i cancel my subscription"
    const ids = [101, 2129, 2079, 1045, 17542, 2026, 15002, 102]
    const [one, other] = [await run(floats, ids), await run(integers, ids)]
    expect(one).toHaveLength(8 * 384)
    const product = one.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0)
    expect(product / (Math.hypot(...one) * Math.hypot(...other))).toBeGreaterThan(0.98)
  })

  test('needs to be rewritten once', () => {
    const rewritten = toIntegerModel(readFileSync(included))
    expect(rewritten && toIntegerModel(rewritten)).toBeNull()
  })
})

test('a model without integer weights stays as it is', async () => {
  const folder = temporaryFolder()
  for (const weights of ['fp32', 'int8'] as const) {
    await writeTinyModel(folder, { words: ['red'], weights })
    expect(toIntegerModel(readFileSync(join(folder, 'model.onnx')))).toBeNull()
  }
})

test('what is no model is refused', () => {
  expect(() => toIntegerModel(new TextEncoder().encode('no model at all'))).toThrow('not an ONNX file')
})
