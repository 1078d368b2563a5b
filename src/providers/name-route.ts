/** A route's name: part of everything that is cached under it. */

/** Who would answer, and as what: an aggregator may be called what a direct provider is called. */
export function nameRoute({ name, pricedAs }: { name: string; pricedAs: string | null }): string {
  return `${pricedAs ?? ''}/${name}`
}
