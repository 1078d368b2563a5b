/** The first request, ready to be copied: for a shell, for Python and Node with OpenAI's own packages, and as settings of any client. */

export interface Use {
  /** Ends in /v1. */
  baseUrl: string
  model: string
  /** Null: the snippet reads it from the environment, as OPENAI_API_KEY. */
  apiKey: string | null
}

const QUESTION = 'Hello'

/** By the name of what runs it. */
export const SNIPPETS: Record<string, (use: Use) => string> = {
  curl: ({ baseUrl, model, apiKey }) =>
    `curl ${quoted(`${baseUrl}/chat/completions`)} \\
  -H ${apiKey === null ? '"Authorization: Bearer $OPENAI_API_KEY"' : quoted(`Authorization: Bearer ${apiKey}`)} \\
  -H 'Content-Type: application/json' \\
  -d ${quoted(JSON.stringify({ model, messages: [{ role: 'user', content: QUESTION }] }))}`,
  Python: use => `from openai import OpenAI

client = OpenAI(${given('base_url=', 'api_key=', use)})
answer = client.chat.completions.create(
    model=${JSON.stringify(use.model)},
    messages=[{"role": "user", "content": "${QUESTION}"}],
)
print(answer.choices[0].message.content)`,
  Node: use => `import OpenAI from 'openai'

const client = new OpenAI({ ${given('baseURL: ', 'apiKey: ', use)} })
const answer = await client.chat.completions.create({
  model: ${JSON.stringify(use.model)},
  messages: [{ role: 'user', content: '${QUESTION}' }],
})
console.log(answer.choices[0].message.content)`,
  'Any client': ({ baseUrl, apiKey }) =>
    `export OPENAI_BASE_URL=${quoted(baseUrl)}${apiKey === null ? '' : `\nexport OPENAI_API_KEY=${quoted(apiKey)}`}`,
}

/** The arguments of a client. */
function given(base: string, key: string, { baseUrl, apiKey }: Use): string {
  return `${base}${JSON.stringify(baseUrl)}${apiKey === null ? '' : `, ${key}${JSON.stringify(apiKey)}`}`
}

/** One word for a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
