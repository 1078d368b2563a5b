/** Writes a chat request as code: for curl, for Python and Node with OpenAI's packages, and as environment variables of any client. */
import type { ChatBody } from './send-chat.ts'

export interface SnippetOptions {
  /** The base URL of the proxy, which ends in /v1. */
  baseUrl: string
  body: ChatBody
  /** Headers in addition to those of every request. */
  headers?: Record<string, string>
  /** If null, the code reads the key from the environment variable OPENAI_API_KEY. */
  apiKey: string | null
}

/** The writers by language. */
export const SNIPPET_WRITERS: Record<string, (use: SnippetOptions) => string> = {
  // The body is read from standard input, because images exceed the maximum length of an argument.
  curl: ({ baseUrl, body, headers = {}, apiKey }) =>
    `curl ${quote(`${baseUrl}/chat/completions`)} \\
  -H ${apiKey === null ? '"Authorization: Bearer $OPENAI_API_KEY"' : quote(`Authorization: Bearer ${apiKey}`)} \\
  -H 'Content-Type: application/json' \\
${Object.entries(headers)
  .map(([name, value]) => `  -H ${quote(`${name}: ${value}`)} \\\n`)
  .join('')}  --data-binary @- <<'END'
${JSON.stringify(body, null, 2)}
END`,
  Python: use => `from openai import OpenAI

client = OpenAI(${clientArguments('base_url=', 'api_key=', use)})
response = client.chat.completions.create(
${[...Object.entries(use.body), ...(use.headers ? [['extra_headers', use.headers]] : [])]
  .map(([name, value]) => `    ${name}=${toPython(value)},\n`)
  .join('')})
${use.body.stream ? PYTHON_STREAM : 'print(response.choices[0].message.content)'}`,
  Node: use => `import OpenAI from 'openai'

const client = new OpenAI({ ${clientArguments('baseURL: ', 'apiKey: ', use)} })
const response = await client.chat.completions.create(
  ${JSON.stringify(use.body, null, 2).replaceAll('\n', '\n  ')},${use.headers ? `\n  { headers: ${JSON.stringify(use.headers)} },` : ''}
)
${use.body.stream ? NODE_STREAM : 'console.log(response.choices[0].message.content)'}`,
  'Any client': ({ baseUrl, apiKey }) =>
    `export OPENAI_BASE_URL=${quote(baseUrl)}${apiKey === null ? '' : `\nexport OPENAI_API_KEY=${quote(apiKey)}`}`,
}

const PYTHON_STREAM = `for chunk in response:
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="", flush=True)`
const NODE_STREAM = `for await (const chunk of response) process.stdout.write(chunk.choices[0]?.delta.content ?? '')`

/** Writes the arguments of a client's constructor. */
function clientArguments(base: string, key: string, { baseUrl, apiKey }: SnippetOptions): string {
  return `${base}${JSON.stringify(baseUrl)}${apiKey === null ? '' : `, ${key}${JSON.stringify(apiKey)}`}`
}

/** Writes a JSON value as Python. Only true, false and null differ. */
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

/** Quotes text as one word for a POSIX shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
