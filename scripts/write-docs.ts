/** Writes the pages of docs/, and lists in them, that are generated from tables in the code. A test fails if one is outdated. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { listReasons } from '../src/cache/reasons.ts'
import { AGGREGATOR } from '../src/catalogue/catalogue.ts'
import { baseUrlVariableOf, type Vendor } from '../src/config/vendors.ts'
import { ADMIN_ERRORS } from '../src/errors/admin-errors.ts'
import { CLIENT_ERRORS } from '../src/errors/client-errors.ts'
import type { ErrorDefinition } from '../src/errors/error-definition.ts'
import { ROUTING_ERRORS } from '../src/errors/routing-errors.ts'
import { SERVER_ERRORS } from '../src/errors/server-errors.ts'
import { GENERATE_CONTENT_RULES, GENERATION_CONFIG_RULES } from '../src/formats/gemini/gemini-fields.ts'
import { MESSAGE_FIELD_RULES } from '../src/formats/messages/message-fields.ts'
import { RESPONSE_FIELD_RULES } from '../src/formats/responses/response-fields.ts'
import { EXPOSED_HEADERS } from '../src/http/exposed-headers.ts'
import { AUDIT_KINDS, END_USER_TABLES, VENDORS, WEBHOOK_EVENT_TYPES } from '../src/postgres/seeds.generated.ts'
import { USAGE_RECORD_COLUMNS } from '../src/postgres/usage-record.generated.ts'
import { FIELD_RULES } from '../src/providers/anthropic/field-rules.ts'
import { FAILURE_KINDS } from '../src/providers/failure-kind.ts'
import { listStorageProviders } from '../src/providers/find-storage-provider.ts'
import { PASS_THROUGH_OPERATIONS } from '../src/providers/pass-through-operations.ts'
import { SANDBOX_PASS_THROUGH_PATHS } from '../src/providers/sandbox/pass-through.ts'
import {
  STORED_OBJECT_COLLECTIONS,
  type StorageAction,
  type StoredObjectCollection,
  traitsOf,
} from '../src/providers/stored-object-collections.ts'
import { type DocumentedMetric, METRIC_DEFINITIONS } from '../src/telemetry/metric-definitions.ts'
import { SPAN_ATTRIBUTES } from '../src/telemetry/tracing/span-attributes.ts'
import { writeClientList } from '../test/clients/tested-clients.ts'
import { CASE_GROUPS, findReason } from '../test/vendors/case-groups.ts'
import { DOCUMENTED_VENDORS } from '../test/vendors/documented.ts'

/** By path from the root: a function that returns the new page from the current one. */
export const PAGES: Readonly<Record<string, (page: string) => string>> = {
  'docs/errors.md': writeErrors,
  'docs/request-fields.md': writeRequestFields,
  'docs/clients.md': page => withList(page, 'clients', writeClientList()),
  'docs/http.md': page => withList(withList(page, 'headers', writeHeaders()), 'reasons', writeReasons()),
  'docs/metrics.md': page => withList(withList(page, 'metrics', writeMetrics()), 'attributes', writeAttributes()),
  'docs/operating.md': page => withList(page, 'findings', writeFindingList()),
  'docs/pass-through.md': page =>
    withList(withList(page, 'operations', writeOperationTable()), 'collections', writeCollectionTable()),
  'docs/providers.md': page => {
    const withVendors = withList(withList(page, 'vendors', writeVendorList()), 'vendor-cases', writeVendorCases())
    return withList(withVendors, 'kinds', writeFailureKinds())
  },
  'llms.txt': writeLlms,
  '.env.example': page => withPart(page, 'as <NAME>_BASE_URL.\n', writeVendorAddresses(), '\n\n'),
  'docs/requests.md': page => withList(page, 'columns', writeRecordTable()),
  'docs/sharing.md': page => withList(page, 'end-user-data', writeEndUserTable()),
  'docs/webhooks.md': page => withList(page, 'events', writeEventList()),
}

/** Replaces the list of this name in a page: the text between its two comments. */
function withList(page: string, name: string, list: string): string {
  const [before, after] = [`<!-- ${name}: written by \`bun scripts/write-docs.ts\` -->\n\n`, `\n\n<!-- /${name} -->`]
  return withPart(page, before, list, after)
}

function withPart(page: string, before: string, part: string, after: string): string {
  const begins = page.indexOf(before) + before.length
  const ends = page.indexOf(after, begins)
  if (begins < before.length || ends < 0)
    throw new Error(`the page does not contain ${before}, or the end of that part`)
  return `${page.slice(0, begins)}${part}${page.slice(ends)}`
}

/** The pages of docs/ for language models, in the form of llmstxt.org: each with its title and its first sentence. */
function writeLlms(): string {
  const root = fileURLToPath(new URL('..', import.meta.url))
  const read = (path: string) => readFileSync(join(root, path), 'utf8')
  const describe = (path: string) => {
    const [heading = '', ...paragraphs] = read(path)
      .replaceAll(/<!--[\s\S]*?-->\n*/g, '')
      .split('\n\n')
    const text = paragraphs.find(paragraph => /^[\p{L}[`]/u.test(paragraph)) ?? ''
    const plain = text.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll('\n', ' ')
    const sentence = /^.*?[.:](?= |$)/.exec(plain)?.[0].replace(/:$/, '.') ?? plain
    return `- [${heading.replace(/^# /, '')}](${path}): ${sentence}`
  }
  const pages = [...new Bun.Glob('docs/*.md').scanSync(root)].sort()
  const [title = '', summary = ''] = read('README.md').split('\n\n')
  const [own, examples] = [
    ['SECURITY.md', 'CONTRIBUTING.md', 'ARCHITECTURE.md', 'CHANGELOG.md'],
    ['examples/README.md'],
  ]
  return page([
    title,
    `> ${summary.replaceAll('\n', ' ')}`,
    `## Docs\n\n${pages.map(describe).join('\n')}`,
    `## Examples\n\n${examples.map(describe).join('\n')}`,
    `## Optional\n\n${own.map(describe).join('\n')}`,
  ])
}

function writeHeaders(): string {
  return EXPOSED_HEADERS.map(([names, says]) => `- ${names.map(name => `\`${name}\``).join(', ')}: ${says}`).join('\n')
}

/** Kinds of failure, each with RFC 9209's type where that has another name. */
function writeFailureKinds(): string {
  const kinds = Object.entries(FAILURE_KINDS).map(([kind, type]) =>
    type === null || type === kind ? `\`${kind}\`` : `\`${kind}\` (\`${type}\`)`,
  )
  return kinds.join(',\n')
}

function writeMetrics(): string {
  const lines = Object.entries<DocumentedMetric>(METRIC_DEFINITIONS).map(([name, { labels, help, details }]) => {
    const labelled = labels.length === 0 ? '' : ` (${labels.map(label => `\`${label}\``).join(', ')})`
    return `- \`${name}\`${labelled}: ${help}${details === undefined ? '' : ` ${details}`}`
  })
  return lines.join('\n')
}

/** Attributes with the same description share a line. */
function writeAttributes(): string {
  const alike = Map.groupBy(SPAN_ATTRIBUTES, ({ of, says }) => `(${of.replaceAll(/[A-Z]+/g, '`$&`')}): ${says}`)
  return [...alike].map(([said, of]) => `- ${of.map(({ name }) => `\`${name}\``).join(', ')} ${said}`).join('\n')
}

function writeVendorList(): string {
  const lines = VENDORS.map(({ name, title, format, endpoints, base_url, key_location }: Vendor) => {
    const formed = format === 'openai' ? 'OpenAI’s format' : 'Anthropic’s'
    const address = `\`${baseUrlVariableOf(name)}\`${base_url === null ? ', which has no default' : ''}`
    const key = key_location === 'none' ? '; no key is sent' : ''
    return `- \`${name}\`: ${title}, in ${formed}: ${endpoints.join(', ')}; ${address}${key}`
  })
  return lines.join('\n')
}

/** The groups of the conformance suite that each vendor passes, and why it cannot have the others. */
function writeVendorCases(): string {
  const exercised = VENDORS.flatMap(row => {
    const documented = DOCUMENTED_VENDORS.find(({ name }) => name === row.name)
    if (!documented) return []
    const reasons = CASE_GROUPS.map(group => [group, findReason(documented, row, group)] as const)
    return [{ name: `\`${row.name}\``, reasons }]
  })
  const rows = exercised.map(({ name, reasons }) => [
    name,
    ...reasons.map(([, reason]) => (reason === null ? 'yes' : '–')),
  ])
  const byReason = Map.groupBy(
    exercised.flatMap(({ name, reasons }) =>
      reasons.flatMap(([group, reason]) => (reason === null ? [] : [{ name, why: `${group}: ${reason}` }])),
    ),
    ({ why }) => why,
  )
  const missing = [...byReason].map(([why, of]) => `- ${why}: ${of.map(({ name }) => name).join(', ')}`)
  return [writeTable(['vendor', ...CASE_GROUPS], rows), '', ...missing].join('\n')
}

function writeVendorAddresses(): string {
  return VENDORS.map(({ name, base_url }) => `# ${baseUrlVariableOf(name)}=${base_url ?? ''}`).join('\n')
}

function writeReasons(): string {
  const { hits, misses, differences } = listReasons()
  const write = (list: readonly (readonly [string, string])[]) => list.map(([name, says]) => `- \`${name}\`: ${says}`)
  const apart = differences.map(([name, says]) => `\`${name}\`${name === says ? '' : ` (${says})`}`)
  return [...write(hits), ...write(misses), '', `A difference is one of ${apart.join(', ')}.`].join('\n')
}

function writeFindingList(): string {
  return AUDIT_KINDS.map(({ kind, severity, meaning }) => {
    const marked = severity === 'notice' ? ' (notice)' : ''
    return `- \`${kind}\`${marked}: ${meaning}`
  }).join('\n')
}

function writeEventList(): string {
  return WEBHOOK_EVENT_TYPES.map(({ kind, happens, payload }) => {
    const fields = payload.map(field => `\`${field}\``).join(', ')
    return `- \`${kind}\`: ${happens}${fields && ` (${fields})`}`
  }).join('\n')
}

const UPSTREAM_ERRORS = `Clients act on the codes and messages of their vendor. If a request was translated, an upstream’s error is written in the client’s format, with the upstream’s text. Its category is recognised by its codes, its status and its message:

| Category | chat, Responses | Messages |
|---|---|---|
| The prompt is too long for the model, or leaves too little for the output | 400 \`context_length_exceeded\` | 400 \`invalid_request_error\`, which begins with Anthropic’s message (\`prompt is too long: 150000 tokens > 128000 maximum\`, or \`\` input length and \`max_tokens\` exceed context limit: 230462 + 32000 > 262144 \`\`), with the counts that the upstream reports |
| Moderation | \`content_policy_violation\`, 400 | \`invalid_request_error\`, 400 |
| Credits or quota used up | \`insufficient_quota\`, 429 or 402 | \`billing_error\`, 402 |
| Rate limit | \`rate_limit_exceeded\`, 429 | \`rate_limit_error\`, 429 |
| Unknown model | \`model_not_found\`, 404 | \`not_found_error\`, 404 |
| Overloaded | \`overloaded\`, 503 or 529 | \`overloaded_error\`, 503 or 529 |

Gemini’s clients get chat’s statuses in Google’s form, \`{"error": {"code", "message", "status", "details"}}\`; the \`reason\` in the details is the code in capitals.

An error of an upstream that has the endpoint itself is forwarded byte for byte, except that the code for an overlong prompt is always \`context_length_exceeded\`. Retries and fallbacks act on the upstream’s own status.`

function writeErrors(): string {
  return page([
    '# Errors',
    'Errors have OpenAI’s envelope, so its clients raise their own typed errors:',
    '```json\n{ "error": { "message": "Invalid API key", "type": "authentication_error", "param": null, "code": "invalid_api_key" } }\n```',
    'Under `/v1/messages` they have Anthropic’s: `type`, `message` and `request_id`, with the same status.',
    'Each line below has a `code` and its cause; the message says what is wrong and what to change. In a code, `refused` means rejected, and `answer` a response. `param` names the field or header at fault; `X-Request-Id` identifies the request in the log. With `x-should-retry: false`, OpenAI’s clients do not retry: a retry would not help soon, or the first attempt may still cost money.',
    'An upstream’s own error keeps its status, body and `Retry-After`; if the provider rejects the operator’s API key, the client gets a 502. Below 500, the client can change what is wrong; from 500 on, the operator, a store or a provider must.',
    UPSTREAM_ERRORS,
    writeErrorLists({ ...CLIENT_ERRORS, ...ROUTING_ERRORS, ...SERVER_ERRORS }),
    '## Errors of the admin API and the dashboard',
    writeErrorLists(ADMIN_ERRORS),
  ])
}

/** Grouped by status. */
function writeErrorLists(entries: Readonly<Record<string, ErrorDefinition>>): string {
  const byStatus = Map.groupBy(Object.values(entries), ({ status }) => status)
  return [...byStatus]
    .sort(([a], [b]) => a - b)
    .map(([status, of]) => `<details><summary>${status}</summary>\n\n${of.map(errorLine).join('\n')}\n\n</details>`)
    .join('\n\n')
}

function errorLine({ code, description, param, headers = {} }: ErrorDefinition): string {
  const also = [
    ...(param === undefined || param === '{param}' ? [] : [`param \`${param}\``]),
    ...Object.entries(headers).map(([name, value]) => `\`${name}: ${value}\``),
  ]
  return `- \`${code}\`: ${description}${also.length === 0 ? '' : ` (${also.join(', ')})`}`
}

function writeRequestFields(): string {
  return page([
    '# Request fields',
    '[Clients](clients.md) lists which endpoint is translated for which provider. A field that cannot be translated is rejected with a 400 that names it, or omitted where that does not change the response.',
    '## `/v1/chat/completions`, at Anthropic',
    'OpenAI, Groq and the aggregator get each field as sent, except that `include_usage` of `stream_options` is on. The aggregator also gets the output limit under [the field name that it accepts](providers.md) and, under a [budget](budgets.md), `provider.max_price`. Usage is sent to clients that request it there or by OpenRouter’s `usage: {include: true}`, or that use its packages or `/api/v1`. At Anthropic:',
    writeFieldLists(FIELD_RULES),
    'Anthropic’s own fields are sent; any other field is rejected with its name.',
    '## `/v1/responses`, where it is translated',
    'To chat completions first; for Anthropic’s models, the list above then applies. Any other field is sent as it is.',
    writeFieldLists(RESPONSE_FIELD_RULES),
    '## `/v1/messages`, where it is translated',
    'To Responses if the provider has that endpoint, else to chat completions. At Responses nothing is stored (`store: false`), and reasoning returns encrypted (`include`) if the request has tools or `thinking`. Any other field is sent as it is.',
    writeFieldLists(MESSAGE_FIELD_RULES),
    '## Gemini’s `generateContent`',
    'It is always translated to chat completions; for Anthropic’s models, the list above then applies. Names may be in camel case or snake case. Any other field is rejected with its name, as Google does. Of a part, `videoMetadata` and `mediaResolution` are omitted.',
    writeFieldLists({ ...GENERATE_CONTENT_RULES, ...GENERATION_CONFIG_RULES }),
    'A `functionResponse` belongs to the call with its `id`; without one, to the first call of its name that has no response. Files must be in `inlineData`, or at an `http` address that the provider can read. At `embedContent` and `batchEmbedContents`, `outputDimensionality` becomes `dimensions`, and `taskType` and `title` are omitted.',
  ])
}

/** One list per treatment; fields with the same description share a line. */
export function writeFieldLists(rules: Readonly<Record<string, { treatment: string; reason: string }>>): string {
  const byTreatment = Map.groupBy(Object.entries(rules), ([, { treatment }]) => treatment)
  return [...byTreatment]
    .map(([treatment, fields]) => {
      const byReason = Map.groupBy(fields, ([, { reason }]) => reason)
      const lines = [...byReason].map(
        ([reason, alike]) => `- ${alike.map(([field]) => `\`${field}\``).join(', ')}: ${reason}`,
      )
      return `### ${treatment[0]?.toUpperCase()}${treatment.slice(1)}\n\n${lines.join('\n')}`
    })
    .join('\n\n')
}

/** The table of pass-through endpoints. */
function writeCollectionTable(): string {
  const titles = new Map<string, string>(VENDORS.map(({ name, title }) => [name, title]))
  const rows = (Object.keys(STORED_OBJECT_COLLECTIONS) as StoredObjectCollection[]).map(name => {
    const { path, ownership, actions } = traitsOf(name)
    const stored =
      ownership === 'recorded'
        ? listStorageProviders(VENDORS, name)
        : ['openai', ...(name === 'responses' ? ['the proxy'] : [])]
    const paths = Object.entries(actions).map(([part, methods]) => {
      const below = part === '' ? '' : `\`${part.replaceAll('*', '<id>')}\`: `
      return below + Object.entries<StorageAction>(methods).map(writeStorageMethod).join(', ')
    })
    return [
      `\`/v1${path}\``,
      stored.map(each => (each === AGGREGATOR ? 'the aggregator' : (titles.get(each) ?? each))).join(', '),
      paths.join('; '),
    ]
  })
  const head = ['collection', 'stored by', 'methods, and paths below it']
  return [head, head.map(() => '---'), ...rows].map(cells => `| ${cells.join(' | ')} |`).join('\n')
}

function writeStorageMethod([method, { isCounted, costs }]: [string, StorageAction]): string {
  return `${method}${isCounted ? '*' : ''}${costs ? '$' : ''}`
}

function writeOperationTable(): string {
  const operations = Object.entries(PASS_THROUGH_OPERATIONS)
  const has = ({ passes }: Vendor, operation: string) =>
    passes?.some(known => `/${operation}`.startsWith(known)) ?? false
  const some = VENDORS.filter((vendor: Vendor) => operations.some(([operation]) => has(vendor, operation)))
  const rows = operations.map(([operation, { acceptsForms, defaultModel, isCacheable }]) => {
    const path = `/${operation}`
    return [
      `\`POST /v1${path}\``,
      acceptsForms ? 'form or JSON' : 'JSON',
      defaultModel === null ? 'needed' : `\`${defaultModel}\``,
      isCacheable ? 'exactly' : 'no',
      ...some.map(vendor => (has(vendor, operation) ? 'yes' : '–')),
      SANDBOX_PASS_THROUGH_PATHS.includes(path) ? 'sandbox' : 'rejected',
    ]
  })
  const vendors = some.map(({ title }) => `with ${title}’s key`)
  return writeTable(['endpoint', 'body', 'default model', 'cached', ...vendors, 'test keys'], rows)
}

function writeTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map(cells => `| ${cells.join(' | ')} |`).join('\n')
}

function writeEndUserTable(): string {
  const code = (name: string) => (name === 'tags' ? 'tag `user_id`' : `\`${name}\``)
  const rows = [...Map.groupBy(END_USER_TABLES, ({ kind }) => kind)].flatMap(([kind, [one, ...others]]) => {
    if (one === undefined) return []
    const { title, user_column, exported, cleared } = one
    const tables = [one, ...others].map(({ table_name }) => code(table_name)).join(', ')
    const deletion = cleared === null ? 'the row' : cleared.map(code).join(', ')
    return [[title, code(kind), tables, code(user_column), exported ?? 'id', deletion]]
  })
  return writeTable(['data', 'kind', 'table', 'found by', 'exported', 'deleted'], rows)
}

/** The fields of a request record; part of docs/requests.md. */
function writeRecordTable(): string {
  const rows = Object.entries(USAGE_RECORD_COLUMNS).map(([name, { description }]) => [`\`${name}\``, description ?? ''])
  return writeTable(['column', 'description'], rows)
}

function page(parts: readonly string[]): string {
  const [title, ...rest] = parts
  return `${[title, '<!-- Written by `bun scripts/write-docs.ts`: change the table in the code. -->', ...rest].join('\n\n')}\n`
}

if (import.meta.main) {
  for (const [path, write] of Object.entries(PAGES)) {
    const file = Bun.file(new URL(`../${path}`, import.meta.url))
    await file.write(write(await file.text()))
  }
}
