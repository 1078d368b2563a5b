/** Exports items as a CSV or JSON file. Pages are read as the client reads the file. */
import { USAGE_RECORD_COLUMNS } from '../postgres/usage-record.generated.ts'

export type ExportFormat = 'csv' | 'json'

/** An item of a list. */
export type ExportItem = Readonly<Record<string, unknown>>

export interface ExportOptions {
  format: ExportFormat
  /** The name of the file, without its extension. */
  name: string
  /** The columns of a CSV file. */
  columns: readonly string[]
}

export const MAX_EXPORTED_ITEMS = 100_000
const PAGE_SIZE = 1_000

const TYPES: Record<ExportFormat, string> = { csv: 'text/csv; charset=utf-8', json: 'application/json' }

/** The columns of requests: those of the table, with the name of the key. The id of the list is last, because it is long and only useful to programs. */
export const REQUEST_EXPORT_COLUMNS = [
  ...Object.keys(USAGE_RECORD_COLUMNS)
    .filter(column => column !== 'project_id')
    .flatMap(column => (column === 'key_id' ? ['api_key_id', 'key_name'] : [column])),
  'id',
]

/** Reads pages of up to `limit` items in total. `read` returns the items after an item, or the first ones. */
export async function* readPages(
  limit: number,
  read: (after: string | undefined, size: number) => Promise<readonly (ExportItem & { id: string })[]>,
): AsyncGenerator<readonly ExportItem[], void> {
  let after: string | undefined
  for (let remaining = limit; remaining > 0; ) {
    const size = Math.min(PAGE_SIZE, remaining)
    const items = await read(after, size)
    yield items
    if (items.length < size) return
    remaining -= items.length
    after = items.at(-1)?.id
  }
}

/** Creates a response with the file. Its stream fails if a page cannot be read, so that a truncated file is not mistaken for a complete one. */
export function exportItems(
  { format, name, columns }: ExportOptions,
  pages: AsyncGenerator<readonly ExportItem[], void>,
): Response {
  const encoder = new TextEncoder()
  let isFirst = true

  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        controller.enqueue(encoder.encode(format === 'csv' ? `\ufeff${columns.join(',')}\r\n` : '['))
      },
      async pull(controller) {
        const { done, value = [] } = await pages.next()
        const texts = value.map((item, at) => writeItem({ format, columns }, item, isFirst && at === 0))
        isFirst &&= texts.length === 0
        if (done && format === 'json') texts.push('\n]\n')
        controller.enqueue(encoder.encode(texts.join('')))
        if (done) controller.close()
      },
      async cancel() {
        await pages.return()
      },
    },
    { highWaterMark: 0 },
  )
  return new Response(body, {
    headers: {
      'content-type': TYPES[format],
      'content-disposition': `attachment; filename="${name}.${format}"`,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    },
  })
}

function writeItem(
  { format, columns }: Pick<ExportOptions, 'format' | 'columns'>,
  item: ExportItem,
  isFirst: boolean,
): string {
  if (format === 'json') return `${isFirst ? '' : ','}\n${JSON.stringify(item)}`
  return `${columns.map(column => writeCell(item[column])).join(',')}\r\n`
}

/** Matches text that a spreadsheet would run as a formula. https://owasp.org/www-community/attacks/CSV_Injection */
const FORMULA = /^(?:\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r])/

function writeCell(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const escaped = FORMULA.test(text) ? `'${text}` : text
  return /[",\r\n']/.test(escaped) ? `"${escaped.replaceAll('"', '""')}"` : escaped
}
