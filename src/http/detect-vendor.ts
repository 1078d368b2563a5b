/** Reads whose API a client speaks where several vendors have one path: from the path before it, else from headers of one vendor's clients. */
import { VENDORS } from '../config/vendors.ts'
import type { ClientVendor } from '../providers/pass-through-operations.ts'

/**
 * Where vendors have the paths that they share with ours: a client whose host alone was changed keeps the rest of its base address. Null
 * where it names none of them.
 */
const VENDOR_BASES: ReadonlyMap<string, ClientVendor | null> = new Map([
  // Before their /v1: Groq, and others in OpenAI's format, which names nobody.
  ...VENDORS.map(({ base_url }): [string, null] => [basePathOf(base_url), null]).filter(([base]) => base !== ''),
  // Azure.
  ['openai', null],
  // Gateways, for Anthropic's clients.
  ['anthropic', 'anthropic'],
  // Gemini, for OpenAI's clients.
  ['v1beta/openai', 'google'],
  // OpenRouter, before its /v1.
  ['api', 'aggregator'],
])
const VENDOR_BASE = new RegExp(`^(?:/v1)?/(${[...VENDOR_BASES.keys()].map(RegExp.escape).join('|')})(?=/)`)

function basePathOf(address: string): string {
  return new URL(address).pathname.replace(/^\//, '').replace(/\/?v1$/, '')
}

/** Headers without which Anthropic's API answers nothing, or which turn on what it alone has. */
const ANTHROPICS_HEADERS = ['anthropic-version', 'anthropic-beta']
/** Packages of vendors that send no header of their own. */
const AGENTS: readonly (readonly [ClientVendor, RegExp])[] = [
  ...VENDORS.flatMap(({ name, client_agent }) =>
    client_agent === null ? [] : [[name, new RegExp(client_agent)] as const],
  ),
  ['aggregator', /\bai-sdk\/openrouter\/|@openrouter\//],
]

/** What follows the vendor's base address, and whom that names. */
export function splitVendorBase(path: string): { behind: string; vendor: ClientVendor | null } {
  const [base = '', name = ''] = VENDOR_BASE.exec(path) ?? []
  return { behind: path.slice(base.length), vendor: VENDOR_BASES.get(name) ?? null }
}

/** Whom the headers name. */
export function detectVendor(headers: Headers): ClientVendor | null {
  if (ANTHROPICS_HEADERS.some(name => headers.has(name))) return 'anthropic'
  const agent = headers.get('user-agent') ?? ''
  return AGENTS.find(([, pattern]) => pattern.test(agent))?.[0] ?? null
}
