/** A chat request, ready to be copied: for a shell, for Python and Node with OpenAI's own packages, and as settings of any client. */
import type { ChatBody } from './send-chat.ts'

export interface SnippetOptions {
  /** Ends in /v1. */
  baseUrl: string
  body: ChatBody
  /** Beside what every request has. */
  headers?: Record<string, string>
  /** Null: the snippet reads it from the environment, as OPENAI_API_KEY. */
  apiKey: string | null
}

/** By the name of what runs it. */
export const SNIPPET_WRITERS: Record<string, (use: SnippetOptions) => string> = {
  // From standard input: an image is longer than an argument may be.
  curl: ({ baseUrl, body, headers = {}, apiKey }) =>
    `curl ${quoted(`${baseUrl}/chat/completions`)} \\
  -H ${apiKey === null ? '"Authorization: Bearer $OPENAI_API_KEY"' : quoted(`Authorization: Bearer ${apiKey}`)} \\
  -H 'Content-Type: application/json' \\
${Object.entries(headers)
  .map(([name, value]) => `  -H ${quoted(`${name}: ${value}`)} \\\n`)
  .join('')}  --data-binary @- <<'END'
${JSON.stringify(body, null, 2)}
END`,
  Python: use => `from openai import OpenAI

client = OpenAI(${given('base_url=', 'api_key=', use)})
answer = client.chat.completions.create(
${[...Object.entries(use.body), ...(use.headers ? [['extra_headers', use.headers]] : [])]
  .map(([name, value]) => `    ${name}=${toPython(value)},\n`)
  .join('')})
${use.body.stream ? PYTHON_STREAM : 'print(answer.choices[0].message.content)'}`,
  Node: use => `import OpenAI from 'openai'

const client = new OpenAI({ ${given('baseURL: ', 'apiKey: ', use)} })
const answer = await client.chat.completions.create(
  ${JSON.stringify(use.body, null, 2).replaceAll('\n', '\n  ')},${use.headers ? `\n  { headers: ${JSON.stringify(use.headers)} },` : ''}
)
${use.body.stream ? NODE_STREAM : 'console.log(answer.choices[0].message.content)'}`,
  'Any client': ({ baseUrl, apiKey }) =>
    `export OPENAI_BASE_URL=${quoted(baseUrl)}${apiKey === null ? '' : `\nexport OPENAI_API_KEY=${quoted(apiKey)}`}`,
}

const PYTHON_STREAM = `for chunk in answer:
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="", flush=True)`
const NODE_STREAM = `for await (const chunk of answer) process.stdout.write(chunk.choices[0]?.delta.content ?? '')`

/** The arguments of a client. */
function given(base: string, key: string, { baseUrl, apiKey }: SnippetOptions): string {
  return `${base}${JSON.stringify(baseUrl)}${apiKey === null ? '' : `, ${key}${JSON.stringify(apiKey)}`}`
}

/** A JSON text is Python, but for three words. */
function toPython(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toPython).join(', ')}]`
  if (typeof value === 'object' && value !== null) {
    return `{${Object.entries(value)
      .map(([name, each]) => `${JSON.stringify(name)}: ${toPython(each)}`)
      .join(', ')}}`
  }
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  return value === null ? 'None' : JSON.stringify(value)
}

/** One word for a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
