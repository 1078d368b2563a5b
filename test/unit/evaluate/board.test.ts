import { expect, test } from 'vitest'
import { type BoardOptions, boardLines } from '../../../scripts/evaluate/board/board.ts'
import { createNearest } from '../../../scripts/evaluate/board/nearest.ts'
import { createQuestions } from '../../../scripts/evaluate/board/questions.ts'
import { areaUnderPrecision, levelsOf, widestWithin } from '../../../scripts/evaluate/board/ranking.ts'
import { type Measured, setLines } from '../../../scripts/evaluate/board/table.ts'
import { openCompare } from '../../../scripts/evaluate/compare.ts'
import { pairFiles, readPairs } from '../../../scripts/evaluate/pairs.ts'
import { createTemporaryDirectory } from '../../harness/temporary-directory.ts'

/** The same four pairs in each format, as three sets. */
const formats = {
  'pairs.jsonl': `
{"a":"What is the capital of Peru?","b":"What's the capital of Peru?","label":1,"similarity":0.9,"category":"x"}

{"a":"How can I bake bread?","b":"What is the best way to bake bread?","label":1,"similarity":0.96,"category":"x"}
{"a":"How do I lock my old phone?","b":"How do I unlock my old phone?","label":0,"similarity":0.99,"category":"y"}
{"a":"Who wrote \\"Emma\\",\\nand when?","b":"Where is Mount Kenya?","label":0,"similarity":0.3,"category":"y"}`,
  'qqp.csv': `id,question1,question2,is_duplicate,similarity\r
0,What is the capital of Peru?,What's the capital of Peru?,1,0.9\r
1,"How can I bake bread?",What is the best way to bake bread?,1,0.96\r
2,How do I lock my old phone?,How do I unlock my old phone?,0,0.99\r
3,"Who wrote ""Emma"",
and when?",Where is Mount Kenya?,0,0.3`,
  'mrpc.tsv': `\uFEFFQuality\t#1 ID\t#1 String\t#2 String\tsimilarity
1\t1\tWhat is the capital of Peru?\tWhat's the capital of Peru?\t0.9
1\t2\tHow can I bake bread?\tWhat is the best way to bake bread?\t0.96
0\t3\tHow do I lock my old phone?\tHow do I unlock my old phone?\t0.99
0\t4\t"Emma" was written by whom?\t"Where is Mount Kenya?\t0.3
`,
}

async function board(files: Record<string, string>, embedder: string, options: Partial<BoardOptions> = {}) {
  const folder = createTemporaryDirectory()
  for (const [name, text] of Object.entries(files)) await Bun.write(`${folder}/${name}`, text)
  const opened = await openCompare(embedder)
  const lines = boardLines(folder, [opened], { threshold: 0.95, streamed: 100, tell: () => {}, ...options })
  return (await Array.fromAsync(lines)).flatMap(line => line.split('\n'))
}

/** Returns the cells of a method's line in the table of a set. */
function cells(lines: readonly string[], set: string, name: string): string[] {
  const from = lines.findIndex(line => line.startsWith(`${set},`))
  const found = lines.slice(from).find(line => line.startsWith(`  ${name} `)) ?? ''
  return found
    .slice(2 + name.length)
    .trim()
    .split(/ {2,}/)
}

test.each(Object.keys(formats))('measures the pairs of %s over all thresholds', async name => {
  const lines = await board({ ...formats, 'LICENSE.txt': 'no pairs' }, 'recorded')
  expect(lines.find(line => line.startsWith(name))).toContain('4 pairs, 2 same; 0 read by hand, 0 labels overruled')
  // A pair with label 0 comes second, by similarity. Precision is 1, 1/2, 2/3 and 1/2, each for a quarter of the pairs.
  expect(cells(lines, name, 'proved')).toEqual(['50.0 %', '50.0 %', '0.479', '1, 0'])
  // The two pairs with label 1, of equal normal forms and of a high score, come before the others. Precision: 1, 1, 2/3, 1/2.
  const all = expect.stringMatching(/^100\.0 % \(0\.9\d\d\)$/)
  for (const risk of ['careful', 'balanced'])
    expect(cells(lines, name, `verified, ${risk}`)).toEqual([all, all, '0.604', '2, 0'])
  expect(cells(lines, name, 'threshold')).toEqual(['50.0 % (1.000)', '50.0 % (1.000)', '0.479', '2, 1'])
  // A pair with label 0 comes first. Precision: 0, 1/2, 2/3, 1/2.
  expect(cells(lines, name, 'plain cosine')).toEqual(['none', 'none', '0.354', '1, 1'])
})

test('reads quoted texts, texts over two lines, and texts that only begin with a quotation mark', async () => {
  const folder = createTemporaryDirectory()
  for (const [name, text] of Object.entries(formats)) await Bun.write(`${folder}/${name}`, text)
  const last = pairFiles(folder).map(file => [...readPairs([file])].at(-1)?.a)
  await Bun.write(`${folder}/open.tsv`, 'a\tb\tlabel\n"Yes, she said\tx\t1\nThey said no"\ty\t0\n"Yes"\tz\t0\n')
  expect([...readPairs([`${folder}/open.tsv`])].map(({ a }) => a)).toEqual(['"Yes, she said', 'They said no"', 'Yes'])
  expect(last).toEqual(['"Emma" was written by whom?', 'Who wrote "Emma",\nand when?', 'Who wrote "Emma",\nand when?'])
})

test('reads the pairs of a family with its first question', async () => {
  const file = `${createTemporaryDirectory()}/01-facts.jsonl`
  await Bun.write(
    file,
    '{"q":"x","same":"y","different":"z","kind":"k"}\n{"q":"1","same":["2","3"],"different":["4","5"]}\n',
  )
  const pair = { set: '01-facts.jsonl' }
  expect([...readPairs([file])]).toEqual([
    { ...pair, category: 'k', a: 'x', b: 'y', label: 1 },
    { ...pair, category: 'k', a: 'x', b: 'z', label: 0 },
    { ...pair, category: 'none', a: '1', b: '2', label: 1 },
    { ...pair, category: 'none', a: '1', b: '3', label: 1 },
    { ...pair, category: 'none', a: '1', b: '4', label: 0 },
    { ...pair, category: 'none', a: '1', b: '5', label: 0 },
  ])
})

test('counts what each method serves of a class', async () => {
  const lines = await board(formats, 'recorded')
  expect(cells(lines, 'pairs.jsonl', 'x')).toEqual(['2', '1', '2', '2', '2', '2', '1'])
  expect(cells(lines, 'pairs.jsonl', 'y')).toEqual(['2', '0', '0', '0', '0', '1', '1'])
})

const stream = [
  ['What is the capital of Peru?', "What's the capital of Peru?", 1],
  ['How can I bake bread?', 'What is the best way to bake bread?', 1],
  ['Is Rome older than Athens?', 'Is Athens older than Rome?', 0],
  ['What does IT mean?', 'What does it mean?', 0],
  // Asks the same as the first question, because both are labelled equal to the same second text.
  ['what is the capital of peru', "What's the capital of Peru?", 1],
  // No label compares this question with the question whose response it is served.
  ['is Athens older than Rome', 'Who wrote Emma?', 0],
]

test('looks each question of a stream up among those before it', async () => {
  const text = stream.map(([a, b, label]) => JSON.stringify({ a, b, label })).join('\n')
  const lines = await board({ 'stream.jsonl': text }, 'builtin')
  const of = (name: string) => cells(lines, 'stream.jsonl', name).at(-1)
  // Hits: both other wordings of Peru's capital, and the age of Athens, which equals a question without a label.
  expect(of('proved')).toBe('3 hits, 1 wrong (1)')
  // The additional hit is the bread.
  expect(of('verified, balanced')).toBe('4 hits, 1 wrong (1)')
  // Hits: the age of Athens twice, IT, and Peru's capital in lower case.
  expect(of('plain cosine')).toBe('4 hits, 3 wrong (1)')
  const short = await board({ 'stream.jsonl': text }, 'builtin', { streamed: 3 })
  expect(cells(short, 'stream.jsonl', 'proved').at(-1)).toBe('1 hits, 0 wrong (0)')
})

test('finds the same nearest vector as an exhaustive comparison', () => {
  let seed = 1
  const random = Float32Array.from({ length: 130 * 200 }, () => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed / 2_147_483_647 - 0.5
  })
  const vectors = Array.from({ length: 200 }, (_, at) => {
    const vector = random.slice(at * 130, (at + 1) * 130)
    const length = Math.hypot(...vector)
    return vector.map(value => value / length)
  })
  const nearest = createNearest()
  for (const [at, vector] of vectors.entries()) if (at >= 50) nearest.add(vector, at)
  const cosine = (one: Float32Array, other: Float32Array) =>
    one.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0)
  for (const [at, vector] of vectors.entries()) {
    const similarities = vectors.map((other, number) => (number >= 50 ? cosine(vector, other) : -1))
    const best = similarities.indexOf(Math.max(...similarities))
    expect(nearest.find(vector, -1)).toBe(best)
    expect(nearest.find(vector, 0.9)).toBe(at >= 50 ? at : null)
  }
})

test('for every method, a person’s verdict on a pair replaces its label', () => {
  const questions = createQuestions()
  const pair = (a: string, b: string, label: 0 | 1, hand?: 0 | 1) => ({
    ...{ a, b, label, category: '', set: '' },
    ...(hand !== undefined && { hand }),
  })
  questions.add(pair('1', '2', 1))
  questions.add(pair('2', '3', 1, 0))
  questions.add(pair('4', '1', 0, 1))
  expect(questions.verdictOf(2, 0)).toEqual({ isSame: true, isSameByHand: true, isLabelled: false })
  expect(questions.verdictOf(2, 1)).toEqual({ isSame: true, isSameByHand: false, isLabelled: true })
  questions.add(pair('3', '1', 0))
  // The label of the pair itself overrides the labels that connect its questions through others.
  expect(questions.verdictOf(2, 0)).toMatchObject({ isSame: false, isLabelled: true })
  expect(questions.verdictOf(0, 3)).toEqual({ isSame: false, isSameByHand: true, isLabelled: true })
  const method = (name: string) => ({ name, limits: [0.99, 0.98], similarities: [0.99, 0.98] })
  const measured: Measured = {
    ...{ name: 'set', categories: ['', ''], read: 1, methods: [method('one'), method('two')] },
    ...{ labels: [0, 1], byHand: [1, 1] },
  }
  const lines = setLines(measured, { threshold: 0.95, streamed: 0 }).map(line => line.split(/ {2,}/).slice(1))
  expect(lines.slice(2)).toEqual([
    ['one', 'none', 'none', '0.125', '1, 1'],
    ['by hand', '100.0 % (0.980)', '100.0 % (0.980)', '0.500', '2, 0'],
    ['two', 'none', 'none', '0.125', '1, 1'],
    ['by hand', '100.0 % (0.980)', '100.0 % (0.980)', '0.500', '2, 0'],
  ])
})

test('chooses the most permissive threshold that satisfies the bound, although a stricter one may not', () => {
  const limits = [0.99, 0.98, 0.97, 0.96, 0.96, -Infinity]
  const levels = levelsOf({ limits, similarities: [0.99, 0.98, 0.97, 0.98, 0.97, 0.95] }, [0, 1, 1, 1, 0, 1])
  expect(widestWithin(levels, 0.35)).toEqual({ limit: 0.97, count: 3, right: 2 })
  // Two pairs at the same threshold are served together or not at all. A pair that is never served does not count, whatever its similarity.
  expect(widestWithin(levels, 0.25)).toBeNull()
  expect(widestWithin(levels, 0.5)).toEqual({ limit: 0.96, count: 5, right: 3 })
  expect(areaUnderPrecision(levelsOf({ limits: [1], similarities: [1] }, [1]))).toBe(0)
})

test.each([
  ['label.csv', 'a,b,label\nx,y,1\n\nx,y,maybe\n', ':4: a pair needs two texts'],
  ['header.tsv', 'one\ttwo\tlabel\nx\ty\t1\n', ':1: a pair needs two texts (a, question1, #1 string'],
  ['columns.csv', 'a,b,label\n"x\n",y,1\nx,y,z,1\n', ':4: 4 columns, where the first line names 3'],
  ['quotes.csv', 'a,b,label\n"x,y,1\n', ':2: a quotation mark that opens a cell must be closed'],
  ['json.jsonl', '{"a":"x","b":"y","label":1}\n{"a":', ':2: each line must be a JSON object'],
  ['text.jsonl', '{"a":"x","b":3,"label":1}', ':1: a pair needs two texts'],
  ['field.jsonl', '\n{"a":"x","label":1}', ':2: a pair needs two texts'],
  [
    'family.jsonl',
    '{"q":"x","same":["y"]}',
    ':1: a family needs the text q, and same and different, each a text or several',
  ],
  ['texts.jsonl', '{"q":"x","same":["y", 2],"different":"z"}', ':1: a family needs the text q, and same and different'],
])('reports the error in %s', async (name, text, wanted) => {
  await expect(board({ [name]: text }, 'builtin')).rejects.toThrow(`${name}${wanted}`)
})

test('reports a directory without pairs', async () => {
  await expect(board({ 'README.md': '' }, 'builtin')).rejects.toThrow('a file must end in .jsonl, .csv, .tsv')
})
