import { beforeAll, expect, test } from 'vitest'
import { createEmbedder } from '../../../src/embedders/create-embedder.ts'
import { createLog } from '../../../src/telemetry/log.ts'
import { temporaryFolder } from '../../harness/temporary-folder.ts'
import { writeTinyModel } from '../../harness/tiny-model.ts'

const path = temporaryFolder()
const log = createLog('silent')

beforeAll(async () => {
  await writeTinyModel(path, { words: [] })
  await Bun.write(`${path}/model.onnx`, 'no model')
})

test('a model that only happened to be there and does not load is done without', async () => {
  const embedder = await createEmbedder({ kind: 'local', path, isAskedFor: false }, log)
  expect(embedder.space.model).toBe('builtin-lexical-1')
})

test('one that was asked for stops the start', async () => {
  const created = createEmbedder({ kind: 'local', path, isAskedFor: true }, log)
  await expect(created).rejects.toThrow(/^Cannot start:\n {2}EMBEDDINGS_PATH must be .* Example: EMBEDDER=builtin$/)
})
