/** Files as Anthropic stores them: uploads, which cannot be downloaded, files created by tools, which can, and Anthropic's errors. */
import type { FileMetadata } from '@anthropic-ai/sdk/resources/files'
import type { RecordedRequest } from '../fake-provider/recording.ts'
import { JSON_HEADERS } from '../fake-provider/send.ts'
import { type ApiError, invalid } from './api-error.ts'
import type { JsonObject } from './scenario.ts'

export interface FileAnswer {
  headers: Record<string, string>
  body: string | Uint8Array
}

export interface FakeFiles {
  answer(request: RecordedRequest): Promise<FileAnswer | (ApiError & { details?: JsonObject })>
}

interface KeptFile {
  metadata: FileMetadata
  content: Uint8Array
}

const PATH = /^\/v1\/files(?:\/([\w-]+)(\/content)?)?$/
const TOLD_AT = '2026-11-21T00:00:00Z'
/** The first API version in which files are generally available. */
const GENERAL_VERSION = '2026-10-21'
const BETA_VERSION = '2023-06-01'
const BETA = /(?:^|,)\s*files-api-2025-04-14\s*(?:,|$)/
const FIELDS = new Set(['file', 'expires_in_seconds'])
const [SHORTEST_SECONDS, LONGEST_SECONDS] = [3_600, 7_776_000]
/** The ids of files that a tool created. */
const MADE = /^file_made_by_tool\w*$/

export function isFilePath(path: string): boolean {
  return PATH.test(path)
}

export function createFakeFiles(apiKey: string | undefined): FakeFiles {
  const kept = new Map<string, KeptFile>()
  let serial = 0

  async function upload(request: RecordedRequest): Promise<FileAnswer | ApiError> {
    const type = request.headers['content-type'] ?? ''
    if (!type.startsWith('multipart/form-data')) return invalid('content-type: must be multipart/form-data')
    const form = await new Response(request.bytes, { headers: { 'content-type': type } }).formData()
    const extra = [...form.keys()].find(name => !FIELDS.has(name))
    if (extra !== undefined) return invalid(`${extra}: Extra inputs are not permitted`)
    const file = form.get('file')
    if (!(file instanceof Blob)) return invalid('file: Field required')
    const seconds = form.get('expires_in_seconds')
    const isInRange = Number(seconds) >= SHORTEST_SECONDS && Number(seconds) <= LONGEST_SECONDS
    if (seconds !== null && !isInRange) return invalid('expires_in_seconds: must be between 3600 and 7776000')
    const metadata: FileMetadata = {
      id: `file_fake${++serial}`,
      type: 'file',
      filename: (file as File).name,
      mime_type: file.type,
      size_bytes: file.size,
      created_at: TOLD_AT,
      downloadable: false,
      expires_at: seconds === null ? null : new Date(Date.now() + Number(seconds) * 1_000).toISOString(),
    }
    kept.set(metadata.id, { metadata, content: await file.bytes() })
    return json(metadata)
  }

  function find(id: string): KeptFile | undefined {
    if (!MADE.test(id)) return kept.get(id)
    const content = Buffer.from(`Made: ${id}`)
    const about = { filename: 'chart.png', mime_type: 'image/png', size_bytes: content.length, created_at: TOLD_AT }
    return { metadata: { id, type: 'file', ...about, downloadable: true, expires_at: null }, content }
  }

  return {
    async answer(request) {
      const refused = refuse(request, apiKey)
      if (refused) return refused
      const [, id, part] = PATH.exec(request.path) ?? []
      if (id === undefined) return request.method === 'POST' ? upload(request) : json({ data: [], next_page: null })
      const known = find(id)
      if (!known) return { status: 404, type: 'not_found_error', message: `File not found: ${id}` }
      const { metadata, content } = known
      if (request.method === 'DELETE') {
        kept.delete(id)
        return json({ id, type: 'file_deleted' })
      }
      if (part === undefined) return json(metadata)
      if (!metadata.downloadable)
        return { ...invalid('File is not downloadable.'), details: { error_code: 'file_not_downloadable' } }
      return { headers: { 'content-type': metadata.mime_type }, body: content }
    },
  }
}

function refuse({ headers }: RecordedRequest, apiKey: string | undefined): ApiError | null {
  const { 'x-api-key': key, 'anthropic-version': version = '', 'anthropic-beta': beta = '' } = headers
  if (key === undefined || headers.authorization !== undefined || (apiKey !== undefined && key !== apiKey))
    return { status: 401, type: 'authentication_error', message: 'invalid x-api-key' }
  const isKnown = version === GENERAL_VERSION || (version === BETA_VERSION && BETA.test(beta))
  return isKnown ? null : { status: 404, type: 'not_found_error', message: 'Not Found' }
}

function json(value: object): FileAnswer {
  return { headers: JSON_HEADERS, body: JSON.stringify(value) }
}
