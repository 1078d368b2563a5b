/** Writes requests as a file, page by page as the client reads it: CSV for spreadsheets, or JSON. */
import { recordColumns } from '../postgres/usage-record.generated.ts'

export type ExportFormat = 'csv' | 'json'

/** One of the list's items. */
type Item = Readonly<Record<string, unknown>> & { id: string }

/** The next items after one; the first without. None at the end. */
export type ReadItems = (after: string | undefined, most: number) => Promise<readonly Item[]>

export const MOST_EXPORTED = 100_000
const PAGE = 1_000

const TYPES: Record<ExportFormat, string> = { csv: 'text/csv; charset=utf-8', json: 'application/json' }

/** As the table has them, the key by its name. The list's id stands last: it is long, and of use to programs. */
const COLUMNS = [
  ...Object.keys(recordColumns)
    .filter(column => column !== 'project_id')
    .flatMap(column => (column === 'key_id' ? ['api_key_id', 'key_name'] : [column])),
  'id',
]

/** The stream fails if a page cannot be read: a file that is cut short does not pass for a whole one. */
export function exportItems(format: ExportFormat, limit: number, read: ReadItems): Response {
  const encoder = new TextEncoder()
  let after: string | undefined
  let written = 0
  let isOver = false

  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        controller.enqueue(encoder.encode(format === 'csv' ? `\ufeff${COLUMNS.join(',')}\r\n` : '['))
      },
      async pull(controller) {
        if (isOver) return controller.close()
        const wanted = Math.min(PAGE, limit - written)
        const items = await read(after, wanted)
        const text = items.map((item, at) => writeItem(format, item, written + at === 0)).join('')
        written += items.length
        after = items.at(-1)?.id
        isOver = items.length < wanted || written >= limit
        controller.enqueue(encoder.encode(isOver && format === 'json' ? `${text}\n]\n` : text))
      },
    },
    { highWaterMark: 0 },
  )
  return new Response(body, {
    headers: {
      'content-type': TYPES[format],
      'content-disposition': `attachment; filename="requests.${format}"`,
      'cache-control': 'no-store',
    },
  })
}

function writeItem(format: ExportFormat, item: Item, isFirst: boolean): string {
  if (format === 'json') return `${isFirst ? '' : ','}\n${JSON.stringify(item)}`
  return `${COLUMNS.map(column => writeCell(item[column])).join(',')}\r\n`
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
