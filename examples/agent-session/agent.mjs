/** An agent that reads files of the documentation to answer a question. Prints what each turn read from the provider's prompt cache. */
import { readFile } from 'node:fs/promises'
import OpenAI from 'openai'

const { PROXY_URL, PROXY_KEY, ADMIN_KEY } = process.env
const session = crypto.randomUUID()
const startedAt = Math.floor(Date.now() / 1000) - 60
// The header makes all requests of this run one session of the usage records.
const client = new OpenAI({
  baseURL: `${PROXY_URL}/v1`,
  apiKey: PROXY_KEY,
  defaultHeaders: { 'X-Session-Id': session },
})

const PAGES = ['budgets', 'clients', 'providers']
const read_page = {
  name: 'read_page',
  description: 'Returns a page of the documentation.',
  parameters: { type: 'object', properties: { page: { enum: PAGES } }, required: ['page'] },
}
// Long instructions, as agents have. Models cache prompts only from some thousand tokens on.
const instructions = `You answer questions about this proxy.\n\n${await readFile('docs/http.md', 'utf8')}`
const messages = [
  { role: 'system', content: instructions },
  { role: 'user', content: 'What happens to a request that does not fit into a budget?' },
]

for (let turn = 1; turn <= 8; turn++) {
  const { choices, usage } = await client.chat.completions.create({
    model: 'claude-haiku-4-5',
    max_tokens: 1_000,
    messages,
    tools: [{ type: 'function', function: read_page }],
  })
  const cached = usage.prompt_tokens_details?.cached_tokens ?? 0
  process.stdout.write(`turn ${turn}: ${usage.prompt_tokens} prompt tokens, ${cached} from the prompt cache\n`)
  const [{ message }] = choices
  messages.push(message)
  if (!message.tool_calls) break
  for (const { id, function: call } of message.tool_calls) {
    const { page } = JSON.parse(call.arguments)
    // The model's arguments are checked before they name a file.
    const content = PAGES.includes(page) ? await readFile(`docs/${page}.md`, 'utf8') : `There is no page ${page}.`
    messages.push({ role: 'tool', tool_call_id: id, content })
  }
}

/** Usage records are written within a second after their requests. */
async function findSession() {
  const url = `${PROXY_URL}/v1/usage/sessions?project_id=${await findProject()}&start_time=${startedAt}&end_time=${startedAt + 3_600}`
  for (let attempt = 0; attempt < 20; attempt++) {
    const { data } = await get(url)
    const found = data.find(({ requests }) => requests === messages.filter(({ role }) => role === 'assistant').length)
    if (found) return found
    await new Promise(resolve => setTimeout(resolve, 250))
  }
  throw new Error('The usage records of the session were not written within five seconds.')
}

async function findProject() {
  const { data } = await get(`${PROXY_URL}/v1/organization/projects`)
  return data.find(({ name }) => name === 'acme').id
}

async function get(url) {
  const response = await fetch(url, { headers: { authorization: `Bearer ${ADMIN_KEY}` } })
  if (!response.ok) throw new Error(await response.text())
  return response.json()
}

const { requests, cost_usd, prompt_cache_saved_usd } = await findSession()
process.stdout.write(
  `session: ${requests} requests, $${cost_usd.toFixed(6)}, prompt cache saved $${prompt_cache_saved_usd.toFixed(6)}\n`,
)
