import { beforeAll, expect, test } from 'vitest'
import { createEmbedder, EMBEDDER_DESCRIPTIONS } from '../../../../src/cache/embedders/create-embedder.ts'
import { createLog } from '../../../../src/telemetry/log.ts'
import { createTemporaryDirectory } from '../../../harness/temporary-directory.ts'
import { writeTinyModel } from '../../../harness/tiny-model.ts'

const path = createTemporaryDirectory()
const log = createLog('silent')

beforeAll(async () => {
  await writeTinyModel(path, { words: [] })
  await Bun.write(`${path}/model.onnx`, 'no model')
})

test('a model that does not load stops the start', async () => {
  const created = createEmbedder({ kind: 'local', path }, log)
  await expect(created).rejects.toThrow(/^Cannot start:\n {2}EMBEDDINGS_PATH must be .* Example: EMBEDDER=builtin$/)
})

test.each(['builtin', 'local', 'api'] as const)(
  'with %s, the startup log says what another embedder would add',
  kind => {
    const others = ['builtin', 'local', 'api'].filter(other => other !== kind)
    expect(others.some(other => EMBEDDER_DESCRIPTIONS[kind].includes(`EMBEDDER=${other}`))).toBe(true)
  },
)
