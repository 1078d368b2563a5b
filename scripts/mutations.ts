/** Reads the list of mutations in `test/fixtures/mutations.txt`, whose header describes the format. */
import { readFileSync } from 'node:fs'

export interface Mutation {
  file: string
  /** Occurs once in the file. */
  line: string
  becomes: string
  noticedBy: readonly string[]
  /** Title of the test that must fail, if its file runs for long. */
  test?: string
}

export const MUTATIONS = readMutations(readFileSync(new URL('../test/fixtures/mutations.txt', import.meta.url), 'utf8'))

function readMutations(text: string): readonly Mutation[] {
  const mutations: Mutation[] = []
  let file = ''
  let by: Pick<Mutation, 'noticedBy' | 'test'> = { noticedBy: [] }
  for (const row of text.split('\n')) {
    if (row === '' || row.startsWith('#')) continue
    const [, indent = '', told = ''] = /^( *)(.*)$/.exec(row) ?? []
    if (indent.length === 0) file = told
    else if (indent.length === 2) by = readTests(told)
    else mutations.push({ file, ...readBreak(row), ...by })
  }
  return mutations
}

function readTests(told: string): Pick<Mutation, 'noticedBy' | 'test'> {
  const [, files = '', test] = /^([^:]+)(?:: (.+))?$/.exec(told) ?? []
  return { noticedBy: files.split(', '), ...(test !== undefined && { test }) }
}

function readBreak(row: string): Pick<Mutation, 'line' | 'becomes'> {
  const [, line, becomes = ''] = /^ {4}(.+?) →(?: (.+))?$/.exec(row) ?? []
  if (line === undefined) throw new Error(`a row must have the form "line → replacement": ${row}`)
  const read = (shown: string) => shown.replaceAll('⏎', '\n').replaceAll('␣', ' ')
  return { line: read(line), becomes: read(becomes) }
}
