/** A map that forgets what was set longest ago, so that it stays small whoever comes by. */

export interface RecentMap<Value> {
  get(key: string): Value | undefined
  set(key: string, value: Value): void
  values(): Iterable<Value>
}

export function createRecentMap<Value>(maxSize: number): RecentMap<Value> {
  const entries = new Map<string, Value>()
  return {
    get: key => entries.get(key),
    set(key, value) {
      entries.delete(key)
      const [oldest] = entries.size >= maxSize ? entries.keys() : []
      if (oldest !== undefined) entries.delete(oldest)
      entries.set(key, value)
    },
    values: () => entries.values(),
  }
}
