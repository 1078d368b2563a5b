/**
 * Reads the rows of a file of pairs: JSON lines, or a comma-separated or tab-separated table whose first line contains the column names.
 */
import { readFileSync } from 'node:fs'
import { extname } from 'node:path'

export interface Row {
  /** By name in lower case. */
  readonly fields: Readonly<Record<string, unknown>>
  readonly line: number
  /** The line that contains the field names. */
  readonly namedAt: number
}

const separators: Readonly<Record<string, string>> = { '.csv': ',', '.tsv': '\t' }

export const tableExtensions: readonly string[] = ['.jsonl', ...Object.keys(separators)]

/** An invalid line throws an error with its position. */
export function* readRows(file: string): Generator<Row> {
  const text = readFileSync(file, 'utf8').replace(/^\uFEFF/, '')
  const separator = separators[extname(file)]
  yield* separator === undefined ? readJsonLines(file, text) : readTable(file, text, separator)
}

function* readJsonLines(file: string, text: string): Generator<Row> {
  for (const [at, line] of text.split('\n').entries()) {
    if (line.trim() !== '') yield { fields: byLowerCase(readJson(file, at + 1, line)), line: at + 1, namedAt: at + 1 }
  }
}

function readJson(file: string, at: number, line: string): object {
  try {
    const value: unknown = JSON.parse(line)
    if (typeof value === 'object' && value !== null) return value
  } catch {}
  throw new Error(`${file}:${at}: each line must be a JSON object`)
}

function byLowerCase(fields: object): Row['fields'] {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name.toLowerCase(), value]))
}

function* readTable(file: string, text: string, separator: string): Generator<Row> {
  let names: readonly string[] | undefined
  for (const { cells, line } of splitTable(file, text, separator)) {
    if (names === undefined) {
      names = cells.map(name => name.trim().toLowerCase())
    } else if (cells.length !== names.length) {
      throw new Error(`${file}:${line}: ${cells.length} columns, where the first line names ${names.length}`)
    } else {
      yield { fields: Object.fromEntries(names.map((name, at) => [name, cells[at]])), line, namedAt: 1 }
    }
  }
}

function* splitTable(file: string, text: string, separator: string): Generator<{ cells: string[]; line: number }> {
  let line = 1
  for (let from = 0; from < text.length; ) {
    const row = splitRow(text, from, separator)
    if (!row) throw new Error(`${file}:${line}: a quotation mark that opens a cell must be closed at its end`)
    if (row.cells.length > 1 || row.cells[0] !== '') yield { cells: row.cells, line }
    line += text.slice(from, row.end).split('\n').length - 1
    from = row.end
  }
}

/** The cells of the row at `from`, and the position of the next row; null if a quotation mark is misplaced. */
function splitRow(text: string, from: number, separator: string): { cells: string[]; end: number } | null {
  const cells: string[] = []
  for (let at = from; ; at += 1) {
    const quoted = endOfQuoted(text, at, separator)
    if (quoted === null && text[at] === '"' && separator === ',') return null
    const end = quoted ?? endOfPlain(text, at, separator)
    cells.push(quoted === null ? text.slice(at, end) : text.slice(at + 1, end - 1).replaceAll('""', '"'))
    at = text[end] === '\r' ? end + 1 : end
    if (text[at] !== separator) return { cells, end: at + 1 }
  }
}

function endOfPlain(text: string, from: number, separator: string): number {
  let end = from
  while (end < text.length && text[end] !== separator && text[end] !== '\n') end += 1
  return text[end - 1] === '\r' && end > from && text[end] !== separator ? end - 1 : end
}

/**
 * The end of the quoted cell; null if the cell is not quoted. In tab-separated sets a text may begin with a quotation ("Yes," she said), so
 * a quoted cell never contains a tab: otherwise it would include the rows that follow.
 */
function endOfQuoted(text: string, from: number, separator: string): number | null {
  if (text[from] !== '"') return null
  let closing = text.indexOf('"', from + 1)
  while (closing !== -1 && text[closing + 1] === '"') closing = text.indexOf('"', closing + 2)
  if (closing === -1 || ![separator, '\r', '\n', undefined].includes(text[closing + 1])) return null
  return separator === '\t' && text.slice(from, closing).includes('\t') ? null : closing + 1
}
