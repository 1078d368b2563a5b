/** A route's name: part of everything that is cached for it. */

/** Includes the price's name, because an aggregator may be named like a direct provider. */
export function nameRoute({ name, pricedAs }: { name: string; pricedAs: string | null }): string {
  return `${pricedAs ?? ''}/${name}`
}
