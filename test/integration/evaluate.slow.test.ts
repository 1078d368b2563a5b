import { fileURLToPath } from 'node:url'
import { afterAll, expect, inject, test } from 'vitest'
import { normalizePrompt } from '../../src/cache/text/normalize-prompt.ts'
import { verifyPair } from '../../src/cache/verify/verify.ts'
import type { Database } from '../../src/postgres/database.ts'
import { openEmbeddedDatabase } from '../../src/postgres/embedded/embedded.ts'
import { describeOnce } from '../harness/backends.ts'
import { createTestProject } from '../harness/cached-responses.ts'
import { createTemporaryDirectory } from '../harness/temporary-directory.ts'

const script = fileURLToPath(new URL('../../scripts/evaluate/evaluate.ts', import.meta.url))

async function evaluate(options: readonly string[], environment: Record<string, string> = {}) {
  const child = Bun.spawn([process.execPath, script, ...options], {
    env: { PATH: process.env.PATH, ...environment },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [printed, errors, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  return { printed, errors, code }
}

/** The numbers of a line: same served, same, different served, different. */
function counts(printed: string, name: string): number[] {
  const line = printed.split('\n').find(each => each.trim().startsWith(`${name} `)) ?? ''
  return [...line.matchAll(/(\d+) of (\d+)/g)].flatMap(([, served, of]) => [Number(served), Number(of)])
}

test('prints which labelled pairs are served, and what is wrong with a call', async () => {
  const file = `${createTemporaryDirectory()}/pairs.jsonl`
  const reworded = { a: 'How can I bake good bread?', b: 'What is a good way to bake good bread?' }
  const pairs = [
    { a: 'What is the capital of Peru?', b: "What's the capital of Peru?", label: 1, similarity: 0.9 },
    { ...reworded, label: 1, similarity: 0.96 },
    { a: 'How do I lock my old phone?', b: 'How do I unlock my old phone?', label: 0, similarity: 0.99 },
  ]
  await Bun.write(file, pairs.map(pair => JSON.stringify(pair)).join('\n'))
  const recorded = await evaluate(['--embedder', 'recorded', file])
  expect(recorded).toMatchObject({ errors: '', code: 0 })
  expect(counts(recorded.printed, 'proved')).toEqual([1, 2, 0, 1])
  const { score } = verifyPair(normalizePrompt(reworded.a), normalizePrompt(reworded.b), 'careful')
  for (const threshold of [0.8, 0.85, 0.9, 0.92, 0.95, 0.97, 0.99])
    expect(counts(recorded.printed, `verified, careful ${threshold}`)).toEqual([score > threshold ? 2 : 1, 2, 0, 1])
  expect(counts(recorded.printed, 'threshold 0.95')).toEqual([2, 2, 1, 1])
  expect((await evaluate([file])).code).toBe(0)
  expect((await evaluate(['--embedder', 'none', file])).errors).toContain('--embedder must be one of')
})

test('prints a table for a directory, for each embedder', async () => {
  const folder = createTemporaryDirectory()
  await Bun.write(
    `${folder}/own.csv`,
    "a,b,label,similarity\nWhat is the capital of Peru?,What's the capital of Peru?,1,0.9\n",
  )
  const shown = await evaluate(['--board', folder, '--embedder', 'builtin', '--embedder', 'recorded', '--stream', '2'])
  expect(shown).toMatchObject({ errors: '', code: 0 })
  expect(shown.printed).toMatch(/own\.csv, builtin: 1 pairs, 1 same.*own\.csv, recorded: 1 pairs, 1 same/s)
  expect(shown.printed).toContain('1 hits, 0 wrong (0)')
  expect((await evaluate(['--board', folder, '--stream', 'many'])).errors).toContain('--stream must be a whole number')
  await Bun.write(`${folder}/own.csv`, 'a,b,label\nx,y,2\n')
  const refused = await evaluate(['--board', folder])
  expect(refused.code).not.toBe(0)
  expect(refused.errors).toContain(`${folder}/own.csv:2: a pair needs two texts`)
})

describeOnce('evaluate --project', backend => {
  let embedded: Database | undefined
  afterAll(() => embedded?.close())

  async function open(): Promise<{ database: Database; url: string }> {
    const { database, databaseUrl } = await backend.open()
    if (databaseUrl !== null) return { database, url: databaseUrl }
    const template = new Blob([await Bun.file(inject('embeddedTemplate')).bytes()])
    const opened = await openEmbeddedDatabase({ directory: null, psql: { port: 0, password: 'test' }, template })
    embedded = opened
    return { database: opened, url: `postgres://postgres:test@127.0.0.1:${opened.psqlPort}/postgres` }
  }

  test('prints what a project’s own verdicts say about each threshold', async () => {
    const { database, url } = await open()
    const [project, other] = [await createTestProject(database, 'acme'), await createTestProject(database, 'other')]
    const store = (
      owner: number,
      pair: number,
      verdict: string,
      source: string,
      similarity: number,
      kind = '',
      other = 'b',
    ) =>
      database.runScript(`select store_verdict(${owner}, sha256('c'), sha256('a${pair}'), sha256('${other}${pair}'),
        '${source}', '${verdict}', now() + interval '1 hour', ${similarity}, nullif('${kind}', ''), null)`)
    await store(project, 1, 'same', 'person', 0.97)
    await store(project, 2, 'different', 'person', 0.96)
    await store(project, 3, 'same', 'judge', 0.93, 'words')
    await store(project, 4, 'same', 'review', 0.99, 'words')
    // A person's verdict outweighs the judge's.
    await store(project, 5, 'same', 'judge', 0.98, 'words')
    await store(project, 5, 'different', 'person', 0.98, 'words')
    // Other texts may also have a similarity of 1. Equal normalized texts have one hash.
    await store(project, 6, 'same', 'person', 1)
    await store(project, 7, 'same', 'person', 1, '', 'a')
    await store(other, 1, 'different', 'person', 0.99)
    const { printed, code, errors } = await evaluate(['--project', 'acme'], { DATABASE_URL: url })
    expect({ code, errors }).toEqual({ code: 0, errors: '' })
    expect(counts(printed, 'proved')).toEqual([1, 5, 0, 2])
    expect(counts(printed, 'verified, balanced 0.95')).toEqual([4, 5, 1, 2])
    expect(counts(printed, 'verified, balanced 0.97')).toEqual([3, 5, 0, 2])
    expect(counts(printed, 'threshold 0.9')).toEqual([5, 5, 2, 2])
    const unknown = await evaluate(['--project', 'nobody'], { DATABASE_URL: url })
    expect(unknown.code).not.toBe(0)
    expect(unknown.errors).toContain('nobody')
  })
})
