/** Writes items as a file, page by page as the client reads it: CSV for spreadsheets, or JSON. */
import { USAGE_RECORD_COLUMNS } from '../postgres/usage-record.generated.ts'

export type ExportFormat = 'csv' | 'json'

/** One of the list's items. */
export type ExportItem = Readonly<Record<string, unknown>> & { id: string }

export interface ExportOptions {
  format: ExportFormat
  /** The file's, without its ending. */
  name: string
  /** Of a CSV. */
  columns: readonly string[]
}

export const MAX_EXPORTED_ITEMS = 100_000
const PAGE = 1_000

const TYPES: Record<ExportFormat, string> = { csv: 'text/csv; charset=utf-8', json: 'application/json' }

/** Of requests: as the table has them, the key by its name. The list's id stands last: it is long, and of use to programs. */
export const REQUEST_EXPORT_COLUMNS = [
  ...Object.keys(USAGE_RECORD_COLUMNS)
    .filter(column => column !== 'project_id')
    .flatMap(column => (column === 'key_id' ? ['api_key_id', 'key_name'] : [column])),
  'id',
]

/** Pages of up to so many items. `read` gives the next ones after an item; the first without. */
export async function* readPages(
  limit: number,
  read: (after: string | undefined, most: number) => Promise<readonly ExportItem[]>,
): AsyncGenerator<readonly ExportItem[], void> {
  let after: string | undefined
  for (let left = limit; left > 0; ) {
    const most = Math.min(PAGE, left)
    const items = await read(after, most)
    yield items
    if (items.length < most) return
    left -= items.length
    after = items.at(-1)?.id
  }
}

/** The stream fails if a page cannot be read: a file that is cut short does not pass for a whole one. */
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

/** Text that a spreadsheet would take for a formula. https://owasp.org/www-community/attacks/CSV_Injection */
const FORMULA = /^(?:\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r])/

function writeCell(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const harmless = FORMULA.test(text) ? `'${text}` : text
  return /[",\r\n']/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}
