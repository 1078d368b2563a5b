/** Creates the people of a test: administrators, ordinary users, their admin keys and their browsers. */
import OpenAI from 'openai'
import type { TestProxy } from '../../harness/proxy.ts'

export const PASSWORD = 'correct horse battery staple'

const passwordHash = Bun.password.hash(PASSWORD)

export async function addUser(proxy: TestProxy, email: string, role: 'owner' | 'reader'): Promise<number> {
  const [row] = await proxy.query<{ id: number }>(
    `select create_user('${email}', '${role}', '${await passwordHash}') as id`,
  )
  return row?.id ?? 0
}

export async function issueAdminKey(
  proxy: TestProxy,
  email: string,
  permissions: 'all' | 'read_only' = 'all',
  project: string | null = null,
): Promise<string> {
  const [row] = await proxy.query<{ key: string }>(
    `select key from issue_admin_key('${email}', 'tests', null, '${permissions}', ${project === null ? 'null' : `'${project}'`})`,
  )
  return row?.key ?? ''
}

/** The unmodified official client. */
export function adminClient(proxy: TestProxy, adminAPIKey: string): OpenAI.Admin.Organization {
  return new OpenAI({ adminAPIKey, baseURL: proxy.baseUrl, maxRetries: 0 }).admin.organization
}

export interface Answered {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the answer holds
  json: any
  text: string
}

/** A browser that sends its session cookie and its CSRF token. */
export interface Browser {
  cookie: string
  csrf: string
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answered>
}

export async function send(
  proxy: TestProxy,
  method: string,
  path: string,
  { body, headers = {} }: { body?: unknown; headers?: Record<string, string> } = {},
): Promise<Answered> {
  const response = await fetch(`${proxy.rootUrl}${path}`, {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  let json: unknown = null
  try {
    json = JSON.parse(text)
  } catch {
    // Some responses are not JSON.
  }
  return { status: response.status, headers: response.headers, json, text }
}

export async function logIn(proxy: TestProxy, email: string, password = PASSWORD): Promise<Browser> {
  const answer = await send(proxy, 'POST', '/dashboard/api/login', { body: { email, password } })
  if (answer.status !== 200) throw new Error(`Login failed: ${answer.text}`)
  const cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? ''
  const csrf: string = answer.json.csrf_token
  return {
    cookie,
    csrf,
    send: (method, path, body, headers = {}) =>
      send(proxy, method, path, { body, headers: { cookie, 'x-csrf-token': csrf, ...headers } }),
  }
}
