import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readWeightPrecision } from '../../../../src/embedders/local/weight-precision.ts'
import { temporaryFolder } from '../../../harness/temporary-folder.ts'
import { writeTinyModel } from '../../../harness/tiny-model.ts'

const folder = temporaryFolder()

test.each(['fp32', 'int8'] as const)('%s weights are known from the file', async weights => {
  await writeTinyModel(folder, { words: ['one'], weights })
  expect(readWeightPrecision(await readFile(join(folder, 'model.onnx')))).toBe(weights)
})

test('what is no ONNX file is told so, or has no known weights', () => {
  expect(() => readWeightPrecision(new TextEncoder().encode('not a model'))).toThrow('not an ONNX file')
  expect(readWeightPrecision(new Uint8Array())).toBe('mixed')
})
