/**
 * Parses a multipart/form-data body (RFC 7578) in place: each part's name and the position of its value. The parser is strict, so that the
 * provider cannot read another form in the same bytes.
 */
import { invalidRequestError } from '../errors/errors.ts'

export interface FormPart {
  name: string
  isFile: boolean
  /** Position of the value in the body. */
  start: number
  end: number
}

export interface MultipartForm {
  bytes: Uint8Array
  boundary: string
  parts: readonly FormPart[]
}

const MAX_PARTS = 1_000
const MAX_HEAD_BYTES = 16_384
/** The characters of a boundary: RFC 2046, 5.1.1. */
const BOUNDARY = /^[\w'()+,\-./:=? ]{0,69}[\w'()+,\-./:=?]$/

/** Parses a form. Throws a 400 for a body that is not a form or is ambiguous. */
export function parseMultipartForm(bytes: Uint8Array, contentType: string): MultipartForm {
  const boundary = readBoundary(contentType)
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const delimiter = `--${boundary}`
  const parts: FormPart[] = []
  let at = 0
  if (body.indexOf(delimiter) !== 0) throw notAForm('it must begin with its boundary')
  for (;;) {
    at += delimiter.length
    if (body.toString('latin1', at, at + 2) === '--') break
    const end = body.indexOf(delimiter, at)
    if (end < 0) throw notAForm('it must end with its boundary')
    parts.push(readPart(body, at, end))
    if (parts.length > MAX_PARTS) throw notAForm(`it has more than ${MAX_PARTS} parts`)
    at = end
  }
  if (
    body
      .subarray(at + 2)
      .toString('latin1')
      .trim() !== ''
  )
    throw notAForm('it has data after its closing boundary')
  return { bytes, boundary, parts }
}

/** Whether some providers would decode a value of the part to other text than UTF-8 (RFC 7578, 4.7 and 5.1.2). */
function isEncoded(head: string, { isFile }: Pick<FormPart, 'isFile'>): boolean {
  return head.split('\r\n').some(line => {
    const [name = '', ...value] = line.toLowerCase().split(':')
    if (name.trim() === 'content-transfer-encoding') return !IDENTITY_ENCODINGS.has(value.join(':').trim())
    if (isFile || name.trim() !== 'content-type') return false
    const charsets = value.flatMap(each => each.split(';')).filter(each => each.trim().startsWith('charset'))
    return charsets.some(each => !UTF8_CHARSETS.has(each.replace(/[\s"']|charset\*?\s*=/g, '')))
  })
}

const IDENTITY_ENCODINGS: ReadonlySet<string> = new Set(['7bit', '8bit', 'binary'])
const UTF8_CHARSETS: ReadonlySet<string> = new Set(['utf-8', 'utf8', 'us-ascii'])

/** Reads a part between two delimiters: line end, header, empty line, value, line end. */
function readPart(body: Buffer, start: number, next: number): FormPart {
  const headEnd = body.indexOf('\r\n\r\n', start)
  const isFramed =
    body.toString('latin1', start, start + 2) === '\r\n' && body.toString('latin1', next - 2, next) === '\r\n'
  if (!isFramed || headEnd < 0 || headEnd + 4 > next - 2) throw notAForm('its boundary must not occur within a part')
  if (headEnd - start > MAX_HEAD_BYTES) throw notAForm(`the header of a part must have at most ${MAX_HEAD_BYTES} bytes`)
  const head = body.toString('utf8', start + 2, headEnd)
  const disposition = readDisposition(head)
  if (isEncoded(head, disposition)) throw notAForm('its texts must be UTF-8, without a Content-Transfer-Encoding')
  return { ...disposition, start: headEnd + 4, end: next - 2 }
}

function readDisposition(head: string): Pick<FormPart, 'name' | 'isFile'> {
  const lines = head.split('\r\n').filter(line => /^content-disposition\s*:/i.test(line))
  const [line] = lines
  // Parsers disagree about folded lines and bare line feeds.
  if (line === undefined || lines.length > 1 || /[\r\n][\t ]|[^\r]\n|\r[^\n]/.test(head)) throw unclearPart()
  const [, parameters = ''] = /^content-disposition\s*:\s*form-data\s*((?:;.*)?)$/i.exec(line) ?? [undefined, undefined]
  const given = [...parameters.matchAll(/;\s*([\w*]+)\s*=\s*("(?:[^"\\]|\\.)*"|[^\s";]+)\s*/g)]
  const isWhole = given.map(([text]) => text).join('') === parameters
  const names = given.filter(([, key]) => key?.toLowerCase() === 'name').map(([, , value = '']) => value)
  const [name] = names
  // name* (RFC 5987) and name*0 (RFC 2231) are a second name for parsers that know them.
  const isNamedTwice = names.length > 1 || given.some(([, key = '']) => /^name\*/i.test(key))
  if (!isWhole || name === undefined || isNamedTwice || name.includes('\\')) throw unclearPart()
  const isFile = given.some(([, key = '']) => /^filename\*?$/i.test(key))
  return { name: name.replace(/^"|"$/g, ''), isFile }
}

/** Returns the Content-Type for the provider, without a charset that would change the decoding. */
export function contentTypeOfForm({ boundary }: Pick<MultipartForm, 'boundary'>): string {
  return `multipart/form-data; boundary=${/^[\w'+.-]+$/.test(boundary) ? boundary : `"${boundary}"`}`
}

/** Returns the parts with this name that are not files. */
export function findFormFields({ parts }: MultipartForm, name: string): FormPart[] {
  return parts.filter(part => part.name === name && !part.isFile)
}

export function readFormValue({ bytes }: MultipartForm, { start, end }: FormPart): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8')
}

/** Returns the form with a new value for this name, which occurs at most once. */
export function setFormValue(form: MultipartForm, name: string, value: string): Uint8Array {
  const [part] = findFormFields(form, name)
  if (part)
    return Buffer.concat([form.bytes.subarray(0, part.start), Buffer.from(value), form.bytes.subarray(part.end)])
  const head = `--${form.boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
  return Buffer.concat([Buffer.from(head), form.bytes])
}

function readBoundary(contentType: string): string {
  const given = [...contentType.matchAll(/;\s*boundary\s*=\s*("[^"]*"|[^\s;"]+)/gi)].map(([, value = '']) => value)
  const boundary = given[0]?.replace(/^"|"$/g, '') ?? ''
  if (given.length === 1 && BOUNDARY.test(boundary)) return boundary
  throw invalidRequestError('Content-Type: multipart/form-data must name one boundary.', 'Content-Type')
}

function unclearPart() {
  return notAForm('each part must have one Content-Disposition: form-data with one name')
}

function notAForm(why: string) {
  return invalidRequestError(`The body of your request is not a multipart form: ${why}.`)
}
