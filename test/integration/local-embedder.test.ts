import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeOnce } from '../harness/backends.ts'
import { ask } from '../harness/client.ts'
import { startProxy, type TestProxy } from '../harness/proxy.ts'
import { temporaryFolder } from '../harness/temporary-folder.ts'
import { writeTinyModel } from '../harness/tiny-model.ts'

const OWN_MODEL = fileURLToPath(new URL('../../vendor/all-minilm-l6-v2/model.onnx', import.meta.url))
const tiny = temporaryFolder()

describeOnce('a local embedder', backend => {
  let proxy: TestProxy
  let key: string

  beforeAll(async () => {
    await writeTinyModel(tiny, { words: ['refund', 'order', 'how', 'to', 'the'] })
  })
  afterAll(() => proxy?.stop())

  async function start(environment: Record<string, string>): Promise<void> {
    await proxy?.stop()
    proxy = await startProxy({ stores: await backend.open(), environment: { EMBEDDER: 'local', ...environment } })
    key = await proxy.createKey()
  }

  test.runIf(existsSync(OWN_MODEL))(
    'finds a question in other words, and not another question',
    { timeout: 120_000 },
    async () => {
      await start({})
      expect((await ask(proxy, key, 'How do I choose the colour of a wall?')).cache).toBe('MISS')
      await proxy.settle()
      const reworded = await ask(proxy, key, 'How do I choose the color of a wall?')
      expect(reworded.cache).toBe('HIT-SEMANTIC')
      expect(Number(reworded.headers.get('x-proxy-cache-similarity'))).toBeGreaterThan(0.95)
      expect((await ask(proxy, key, 'How do I choose the height of a wall?')).cache).toBe('MISS')
    },
  )

  test('keeps its vectors in a space of their own, of the folder that is named', async () => {
    await start({ EMBEDDINGS_PATH: tiny })
    await ask(proxy, key, 'How to refund the order?')
    await proxy.settle()
    const spaces = await proxy.query<{ model: string; dimensions: number }>(
      `select model, dimensions from embedding_spaces join cache_prompts on space_id = embedding_spaces.id`,
    )
    expect(spaces).toEqual([{ model: expect.stringMatching(/^local-[0-9a-f]{16}-9-gist-\d+$/), dimensions: 9 }])
  })

  test('answers what it cannot embed', async () => {
    await start({ EMBEDDINGS_PATH: tiny })
    for (const text of ['words unknown to it', 'how '.repeat(300), 'how '.repeat(100_000)]) {
      expect(await ask(proxy, key, text)).toMatchObject({ status: 200, cache: 'MISS' })
      expect(await ask(proxy, key, text)).toMatchObject({ status: 200, cache: 'HIT' })
    }
  })

  test('that does not load stops the start, and says which variable to mend', async () => {
    const broken = temporaryFolder()
    await writeTinyModel(broken, { words: [] })
    await Bun.write(`${broken}/model.onnx`, 'no model')
    await expect(start({ EMBEDDINGS_PATH: broken })).rejects.toThrow(
      /EMBEDDINGS_PATH must be .* Example: EMBEDDER=builtin/,
    )
  })
})
