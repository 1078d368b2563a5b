import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { LocalEmbedder } from '../../../../../src/cache/embedders/embedder.ts'
import { createLocalEmbedder } from '../../../../../src/cache/embedders/local/local-embedder.ts'
import { createLog } from '../../../../../src/telemetry/log.ts'
import { createTemporaryDirectory } from '../../../../harness/temporary-directory.ts'
import { writeTinyModel } from '../../../../harness/tiny-model.ts'

const folder = createTemporaryDirectory()
const tiny = join(folder, 'tiny')
const opened: LocalEmbedder[] = []

async function open(path = tiny, options: { timeLimitMs?: number } = {}): Promise<LocalEmbedder> {
  const embedder = await createLocalEmbedder(path, createLog('silent'), options)
  opened.push(embedder)
  return embedder
}

beforeAll(() => writeTinyModel(tiny, { words: ['red', 'green', 'blue', 'query:'] }))
afterEach(() => Promise.all(opened.splice(0).map(embedder => embedder.close())))

function rounded(vector: Float32Array | null): number[] | null {
  return vector && Array.from(vector, value => Math.round(value * 1000) / 1000)
}

/** Ids of the processes that run the model of this directory. */
function processesOf(path: string): number[] {
  const { stdout } = Bun.spawnSync(['ps', '-eo', 'pid=,args='])
  const lines = stdout
    .toString()
    .split('\n')
    .filter(line => line.includes(' --model ') && line.endsWith(path))
  return lines.map(line => Number.parseInt(line, 10))
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await Bun.sleep(50)
}

describe('a vector', () => {
  test('is the mean of the token vectors, with length 1', async () => {
    // The dimensions are: unknown, first token, last token, a, red, green, blue, query.
    const third = Math.round(1000 / Math.sqrt(3)) / 1000
    expect(rounded(await (await open()).embedInBackground('red', 'p'))).toEqual([0, third, third, 0, third, 0, 0, 0])
  })

  test('is the first token’s vector if the model is configured so, or the mean with a prefix', async () => {
    const cls = join(folder, 'bge-tiny')
    await writeTinyModel(cls, { words: ['red'] })
    expect(rounded(await (await open(cls)).embedInBackground('red', 'p'))).toEqual([0, 1, 0, 0, 0])
    const e5 = join(folder, 'e5-tiny')
    await writeTinyModel(e5, { words: ['red', 'query:'] })
    expect(rounded(await (await open(e5)).embedInBackground('red', 'p'))).toEqual([0, 0.5, 0.5, 0, 0.5, 0.5])
  })

  test('is the same in any process and batch, and with int8 weights', async () => {
    const int8 = join(folder, 'int8')
    await writeTinyModel(int8, { words: ['red', 'green', 'blue', 'query:'], weights: 'int8' })
    const [one, other] = [await open(), await open(int8)]
    const alone = await one.embedInBackground('red green', 'p')
    const together = await Promise.all(['blue', 'red green', 'green'].map(text => other.embedInBackground(text, 'p')))
    expect(together[1]).toEqual(alone)
  })

  test('is not created for a text that exceeds the model’s limit', async () => {
    const embedder = await open()
    expect(await embedder.embedInBackground('red mauve', 'p')).toBeNull()
    expect(await embedder.embedInBackground('red '.repeat(254), 'p')).not.toBeNull()
    expect(await embedder.embedInBackground('red '.repeat(255), 'p')).toBeNull()
    expect(await embedder.embedInBackground('red '.repeat(1_000_000), 'p')).toBeNull()
    expect(await embedder.embedInBackground('', 'p')).not.toBeNull()
  })
})

test('the vector space’s name contains weights, tokenizer and pooling', async () => {
  const variants = [
    { words: ['red', 'green'] },
    { words: ['green', 'red'] },
    { words: ['red', 'green'], weights: 'int8' as const },
    { words: ['red', 'green'], files: { '1_Pooling/config.json': { pooling_mode_cls_token: true } } },
  ]
  const names: string[] = []
  for (const [at, variant] of variants.entries()) {
    const path = join(folder, `variant-${at}`)
    await writeTinyModel(path, variant)
    const { space } = await open(path)
    expect(space.dimensions).toBe(6)
    names.push(space.model)
  }
  expect(new Set(names).size).toBe(names.length)
  expect(names[0]).toMatch(/^local-[0-9a-f]{16}-6$/)
  expect((await open(join(folder, 'variant-0'))).space.model).toBe(names[0])
})

describe('the model’s process', () => {
  test('is replaced when it crashes', async () => {
    const embedder = await open()
    const before = await embedder.embedInBackground('red', 'p')
    const [pid] = processesOf(tiny)
    if (pid === undefined) throw new Error('There is no process')
    process.kill(pid, 'SIGKILL')
    await until(() => !processesOf(tiny).includes(pid))
    // The embedder returns null while there is no process. The next process may have started already.
    const green = await embedder.embed('green', 'p')
    if (green !== null) expect(green).toEqual(await embedder.embedInBackground('green', 'other'))
    await until(async () => (await embedder.embed('green', 'p')) !== null)
    expect(await embedder.embedInBackground('red', 'other')).toEqual(before)
  })

  test('survives the signals that the terminal sends to its process group', async () => {
    const embedder = await open()
    for (const pid of processesOf(tiny)) for (const signal of ['SIGINT', 'SIGTERM'] as const) process.kill(pid, signal)
    await Bun.sleep(100)
    expect(await embedder.embedInBackground('red', 'p')).not.toBeNull()
  })

  test('ends on close, and then returns no vectors', async () => {
    const embedder = await open()
    const asked = embedder.embed('green', 'p')
    await embedder.close()
    await until(() => processesOf(tiny).length === 0)
    expect(await asked).toBeOneOf([null, expect.any(Float32Array)])
    expect(await embedder.embed('blue', 'p')).toBeNull()
  })

  test('reports why a model does not load', async () => {
    const broken = join(folder, 'broken')
    await writeTinyModel(broken, { words: ['red'] })
    await Bun.write(join(broken, 'model.onnx'), 'no model')
    await expect(open(broken)).rejects.toThrow(/model/)
    await expect(open(join(folder, 'nowhere'))).rejects.toThrow('is not a folder')
    expect(processesOf(broken)).toEqual([])
  })
})

test('a burst waits only for what the model can process, and rejected texts are embedded later', async () => {
  const words = Array.from({ length: 1_000 }, (_, at) => `w${at}`)
  const path = join(folder, 'burst')
  await writeTinyModel(path, { words })
  const embedder = await open(path)
  const answers = await Promise.all(words.map(word => embedder.embed(word, 'p')))
  expect(answers.filter(Boolean).length).toBeGreaterThan(0)
  expect(answers.filter(Boolean).length).toBeLessThan(400)
  await until(async () =>
    (await Promise.all(words.slice(0, 200).map(word => embedder.embed(word, 'p')))).every(Boolean),
  )
})

test('embeds background texts last', async () => {
  const words = Array.from({ length: 620 }, (_, at) => `w${at}`)
  const path = join(folder, 'later')
  await writeTinyModel(path, { words })
  // The long time limit lets all texts wait for their vectors, even on a slow machine.
  const embedder = await open(path, { timeLimitMs: 120_000 })
  const ended: string[] = []
  const later = words.slice(0, 600).map(async word => {
    const vector = await embedder.embedInBackground(word, 'p')
    if (vector) ended.push('later')
    return vector
  })
  const now = words.slice(600).map(async word => {
    if (await embedder.embed(word, 'p')) ended.push('now')
  })
  await Promise.all([...now, ...later])
  // A few background texts reached the model before the others were queued.
  expect(ended.lastIndexOf('now')).toBeLessThan(60)
  expect(ended.filter(each => each === 'now')).toHaveLength(20)
  expect((await Promise.all(later)).filter(Boolean)).toHaveLength(600)
})

const minilm = fileURLToPath(new URL('../../../../../vendor/all-minilm-l6-v2', import.meta.url))

describe.runIf(existsSync(join(minilm, 'model.onnx')))('the bundled model', () => {
  test('compares meaning, and names the vector space in use', async () => {
    const embedder = await open(minilm)
    expect(embedder.space).toEqual({ model: 'local-e619dd406dd1683a-384', dimensions: 384 })
    const embed = async (text: string) => (await embedder.embedInBackground(text, 'p')) ?? new Float32Array()
    const asked = await embed('how do i get a refund for my order')
    const cosine = (other: Float32Array) => asked.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0)
    expect(cosine(await embed('how can i get a refund for my order'))).toBeGreaterThan(0.95)
    expect(cosine(await embed('what must i do to have my money back for a purchase'))).toBeGreaterThan(0.6)
    expect(cosine(await embed('how do volcanoes erupt'))).toBeLessThan(0.2)
  })
})
