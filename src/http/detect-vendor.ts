/** Detects whose API a client uses when several vendors share a path: from the base path, else from headers that only one vendor's clients send. */
import { VENDORS } from '../config/vendors.ts'
import type { ClientVendor } from '../providers/pass-through-operations.ts'

/**
 * Base paths of vendors' APIs. A client of which only the host was changed keeps the rest of its base URL. The value is null for a base
 * that identifies no vendor.
 */
const VENDOR_BASES: ReadonlyMap<string, ClientVendor | null> = new Map([
  // Groq and others have a base before /v1. They use OpenAI's format, so the base identifies no vendor.
  ...VENDORS.map(({ base_url }): [string, null] => [base_url === null ? '' : basePathOf(base_url), null]).filter(
    ([base]) => base !== '',
  ),
  // Azure.
  ['openai', null],
  // Gateways use this base for Anthropic's clients.
  ['anthropic', 'anthropic'],
  // Gemini uses this base for OpenAI's clients.
  ['v1beta/openai', 'google'],
  // OpenRouter has this base before /v1.
  ['api', 'aggregator'],
])
/** The longest first: one may begin with another. */
const BASES = [...VENDOR_BASES.keys()].sort((a, b) => b.length - a.length)
const VENDOR_BASE = new RegExp(`^(?:/v1)?/(${BASES.map(RegExp.escape).join('|')})(?=/)`)

function basePathOf(address: string): string {
  return new URL(address).pathname.replace(/^\//, '').replace(/\/?v1$/, '')
}

/** Headers that Anthropic's API requires, or that turn on features that only it has. */
const ANTHROPIC_HEADERS = ['anthropic-version', 'anthropic-beta']
/** User agents of vendors' packages that send no header of their own. */
const USER_AGENTS: readonly (readonly [ClientVendor, RegExp])[] = [
  ...VENDORS.flatMap(({ name, client_agent }) =>
    client_agent === null ? [] : [[name, new RegExp(client_agent)] as const],
  ),
  ['aggregator', /\bai-sdk\/openrouter\/|@openrouter\//],
]

/** Splits a path into the vendor's base and the rest. `vendor` is null when the base identifies none. */
export function splitVendorBase(path: string): { rest: string; vendor: ClientVendor | null } {
  const [base = '', name = ''] = VENDOR_BASE.exec(path) ?? []
  return { rest: path.slice(base.length), vendor: VENDOR_BASES.get(name) ?? null }
}

/** Returns the vendor that the headers identify; null for none. */
export function detectVendor(headers: Headers): ClientVendor | null {
  if (ANTHROPIC_HEADERS.some(name => headers.has(name))) return 'anthropic'
  const agent = headers.get('user-agent') ?? ''
  return USER_AGENTS.find(([, pattern]) => pattern.test(agent))?.[0] ?? null
}
