import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { LocalEmbedder } from '../../src/cache/embedders/embedder.ts'
import { createPromptEmbedder } from '../../src/cache/prompt-embedder.ts'
import { createVectorStore } from '../../src/cache/vectors/vector-store.ts'
import type { ResolvedKey } from '../../src/postgres/admit-requests.ts'
import { createLog } from '../../src/telemetry/log.ts'
import { describeOnce } from '../harness/backends.ts'
import { ask } from '../harness/client.ts'
import { startProxy, type TestProxy } from '../harness/proxy.ts'
import { createTemporaryDirectory } from '../harness/temporary-directory.ts'
import { writeTinyModel } from '../harness/tiny-model.ts'

const OWN_MODEL = fileURLToPath(new URL('../../vendor/all-minilm-l6-v2/model.onnx', import.meta.url))
const tiny = createTemporaryDirectory()

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

  test.runIf(existsSync(OWN_MODEL))('finds a question in other words, and not another question', async () => {
    await start({})
    expect((await ask(proxy, key, 'How do I choose the colour of a wall?')).cache).toBe('MISS')
    await proxy.settle()
    const reworded = await ask(proxy, key, 'How do I choose the color of a wall?')
    expect(reworded.cache).toBe('HIT-SEMANTIC')
    expect(Number(reworded.headers.get('x-proxy-cache-similarity'))).toBeGreaterThan(0.95)
    expect((await ask(proxy, key, 'How do I choose the height of a wall?')).cache).toBe('MISS')
  })

  test('has its own vector space, named by its directory', async () => {
    await start({ EMBEDDINGS_PATH: tiny })
    await ask(proxy, key, 'How to refund the order?')
    await proxy.settle()
    const spaces = await proxy.query<{ model: string; dimensions: number }>(
      `select model, dimensions from embedding_spaces join cache_prompts on space_id = embedding_spaces.id`,
    )
    expect(spaces).toEqual([{ model: expect.stringMatching(/^local-[0-9a-f]{16}-9-normalized$/), dimensions: 9 }])
  })

  test('serves requests that it cannot embed', async () => {
    await start({ EMBEDDINGS_PATH: tiny })
    for (const text of ['words unknown to it', 'how '.repeat(300), 'how '.repeat(100_000)]) {
      expect(await ask(proxy, key, text)).toMatchObject({ status: 200, cache: 'MISS' })
      expect(await ask(proxy, key, text)).toMatchObject({ status: 200, cache: 'HIT' })
    }
  })

  test('caches vectors only within the sharing scope', async () => {
    const { database, store } = await backend.open()
    const owners: string[] = []
    const embedFor = async (_: string, owner: string) => {
      owners.push(owner)
      return Float32Array.of(1, 0)
    }
    const embedder: LocalEmbedder = {
      space: { model: 'any', dimensions: 2 },
      isFree: false,
      endpoint: null,
      embed: embedFor,
      embedInBackground: embedFor,
      close: async () => {},
    }
    const log = createLog('silent')
    const vectors = createVectorStore({ database, store, log })
    const prompts = await createPromptEmbedder({
      database,
      embedder,
      vectors,
      log,
      nameVector: String,
      onEmbedded() {},
    })
    if (prompts.isFree) throw new Error('It takes time')
    for (const [project_id, sharingScope] of [
      [1, ''],
      [1, 'a'],
      [1, 'b'],
      [2, 'a'],
    ] as const) {
      const asking = { resolvedKey: { project_id } as ResolvedKey, control: { sharingScope }, identity: { body: {} } }
      await prompts.find(asking, 'text')
      await prompts.findLater(asking, 'text')
    }
    expect(new Set(owners).size).toBe(4)
  })

  test('that does not load prevents the start, and the error names the variable', async () => {
    const broken = createTemporaryDirectory()
    await writeTinyModel(broken, { words: [] })
    await Bun.write(`${broken}/model.onnx`, 'no model')
    await expect(start({ EMBEDDINGS_PATH: broken })).rejects.toThrow(
      /EMBEDDINGS_PATH must be .* Example: EMBEDDER=builtin/,
    )
  })
})
