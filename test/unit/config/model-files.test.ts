import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findModelFolderProblem } from '../../../src/config/model-files.ts'
import { createTemporaryDirectory } from '../../harness/temporary-directory.ts'

const root = createTemporaryDirectory()

async function folderWith(name: string, files: readonly string[]): Promise<string> {
  const folder = join(root, name)
  await mkdir(folder, { recursive: true })
  for (const file of files) await writeFile(join(folder, file), '')
  return folder
}

test('names the missing files of a model directory', async () => {
  expect(findModelFolderProblem(join(root, 'nowhere'))).toBe('is not a folder')
  expect(findModelFolderProblem(await folderWith('empty', []))).toBe('holds no .onnx file')
  expect(findModelFolderProblem(await folderWith('weights', ['model.onnx']))).toBe('holds no tokenizer.json')
  expect(findModelFolderProblem(await folderWith('whole', ['model.onnx', 'tokenizer.json']))).toBeNull()
  expect(findModelFolderProblem(join(root, 'whole', 'model.onnx'))).toBe('is not a folder')
})
