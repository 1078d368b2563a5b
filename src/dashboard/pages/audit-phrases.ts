/** The words of audit sentences: emphasized names, amounts, and changes of several fields. */
import { formatCount, formatPlural, formatTime, formatUsd } from './format.ts'
import { describeSettingValue, formatFieldValue } from './setting-values.ts'
import type { SettingKind } from './types.ts'

/** Part of a sentence: words, a name to emphasize, or the id of a request, for a link. */
export type Part = string | { name: string } | { request: string }
export type Details = Record<string, unknown>

/** Builds a sentence. A text is a name; other parts are inserted as they are. */
export function say(words: TemplateStringsArray, ...values: readonly (string | readonly Part[] | Part)[]): Part[] {
  return words.flatMap((text, at): Part[] => {
    const value = values[at]
    const inserted = value === undefined ? [] : typeof value === 'string' ? [{ name: value }] : [value].flat()
    return [...(text === '' ? [] : [text]), ...inserted]
  })
}

const PERIODS: Record<string, string> = { month: 'monthly ', week: 'weekly ', day: 'daily ' }

/** Describes a budget, without an article: its period, its amount and what it applies to. */
export function describeBudget(data: Details): Part[] {
  const { amount, per, unit, api_key: key, key_id: keyId, model, tag } = data
  if (amount === undefined) return ['budget']
  const shown = unit === 'tokens' ? `${formatCount(Number(amount))} tokens` : formatUsd(Number(amount))
  const scope = [
    ...(keyId === undefined ? [] : [say`the key ${text(key) ?? `key_${keyId}`}`]),
    ...(text(model) === undefined ? [] : [say`the model ${String(model)}`]),
    ...(text(tag) === undefined ? [] : [say`the tag ${String(tag)}`]),
  ]
  const all = scope.length === 0 ? ['all requests'] : joinParts(scope, ', ')
  return say`${[PERIODS[String(per)] ?? '']}budget of ${shown} for ${all}`
}

/** Joins a sentence into plain text. */
export function toText(parts: readonly Part[]): string {
  return parts.map(part => (typeof part === 'string' ? part : 'name' in part ? part.name : 'a request')).join('')
}

/** Joins lists of parts with a separator. */
export function joinParts(lists: readonly (readonly Part[])[], separator: string): Part[] {
  return lists.flatMap((parts, at) => (at === 0 ? parts : [separator, ...parts]))
}

const KEY_FIELDS: Record<string, string> = {
  requests_per_minute: 'requests per minute',
  tokens_per_minute: 'tokens per minute',
  allowed_addresses: 'allowed addresses',
  expires_at: 'expiry',
}

/** Describes the changed fields of a key. Fields that are also settings of projects have the titles and choices of these. */
export function describeKeyChange(name: string, data: Details, kinds: readonly SettingKind[]): Part[] {
  const { was, name: newName, removed, ...set } = data
  const fields = { ...set, ...Object.fromEntries((Array.isArray(removed) ? removed : []).map(field => [field, null])) }
  const renamed = newName === undefined ? [] : [['renamed it', ...fromTo(text(was), String(newName))]]
  const changes = Object.entries(fields).map(([field, value]): Part[] => {
    const kind = kinds.find(each => each.name === field)
    const shown = kind && value !== null ? describeSettingValue(kind, value) : describeLimit(field, value)
    return say`set ${[kind?.title ?? KEY_FIELDS[field] ?? field]} to ${shown}`
  })
  return say`changed the key ${name}: ${joinParts([...renamed, ...changes], ', ')}`
}

function describeLimit(field: string, value: unknown): string {
  if (value === null) return field === 'expires_at' ? 'never' : 'the default'
  if (field === 'expires_at') return formatTime(String(value))
  return typeof value === 'number' ? formatCount(value) : formatFieldValue(value)
}

export function describePlanChange(name: string, { was, ...limits }: Details): Part[] {
  const former = (was ?? {}) as Record<string, unknown>
  const changes = Object.entries(limits).map(([field, value]) => [
    field.replaceAll('_', ' '),
    ...fromTo(
      former[field] === undefined ? undefined : describeLimit(field, former[field]),
      describeLimit(field, value),
    ),
  ])
  return say`changed the plan ${name}: ${joinParts(changes, ', ')}`
}

export function describeProviderKey(provider: string, data: Details): Part[] {
  const name = text(data.name)
  return say`key${name === undefined || name === 'default' ? [] : say` ${name}`}${lastFour(data)} of the provider ${provider}`
}

/** Describes the amount of a spend alert. */
export function describeAlertAmount({ amount }: Details): Part[] {
  return amount === undefined ? [] : say` at ${formatUsd(Number(amount))} a month`
}

export function lastFour({ last_four }: Details): Part[] {
  return typeof last_four === 'string' ? [` ending in ${last_four}`] : []
}

export function expiry({ expires_at }: Details): Part[] {
  return typeof expires_at === 'string' ? say`, valid until ${formatTime(expires_at)}` : []
}

export function fromTo(from: string | undefined, to: string): Part[] {
  return from === undefined || from === to ? say` to ${to}` : say` from ${from} to ${to}`
}

export function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

export function count(value: unknown): number {
  return Number(value ?? 0)
}

export function plural(value: unknown, noun: string): string {
  return formatPlural(count(value), noun)
}
