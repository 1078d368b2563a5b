/** Owns building arrays for a schema: how many items, and what each must be. */
import type { JsonObject } from '../../../json/json-object.ts'
import { jsonEquals, sizeOfValue } from './json-equals.ts'
import { countOf, type Schema, schemaOf } from './keywords.ts'
import { leadsBack, type Maker } from './maker.ts'
import { containsOf, firstItems, itemSchema } from './satisfies-array.ts'

/** Arrays whose items satisfy all that is said of them; of different lengths, the likeliest first. */
export function* writeArrays(parts: JsonObject[], maker: Maker): Generator<unknown[]> {
  for (const length of likelyLengths(parts, maker)) {
    const items = fillItems(parts, length, maker)
    if (items === undefined) continue
    yield items
    yield* varyLastItem(parts, items, maker)
  }
}

function* likelyLengths(parts: JsonObject[], { place, shop }: Maker): Generator<number> {
  const least = Math.max(0, ...parts.map(part => countOf(part, 'minItems') ?? 0))
  const most = Math.min(...parts.map(part => countOf(part, 'maxItems') ?? Infinity))
  const first = Math.max(0, ...parts.map(part => firstItems(part).length))
  const found = listWanted(parts).length
  const recurses = itemParts(parts, first).some(schema => leadsBack(schema, place, shop))
  const liked = place.compact || recurses ? Math.max(least, found) : Math.max(least, found, first, 1)
  const lengths = [Math.min(liked, most), least, first + found, Math.max(least, found), least + 1, least + 2]
  yield* new Set(lengths.filter(length => length >= least && length <= most))
}

/** What `contains` wants to find, once for each item it wants. */
function listWanted(parts: JsonObject[]): Schema[] {
  return parts.flatMap(part => {
    const contains = containsOf(part)
    return contains === undefined ? [] : Array<Schema>(Math.min(contains.least, 10_000)).fill(contains.wanted)
  })
}

/** What the other items must not be, where only so many may be found. */
function listUnwanted(parts: JsonObject[]): Schema[] {
  const bounded = parts.map(containsOf).filter(contains => contains !== undefined && contains.most < Infinity)
  return bounded.map(contains => ({ not: contains?.wanted ?? false }))
}

/** All that is said of the item at an index. */
function itemParts(parts: JsonObject[], index: number): Schema[] {
  const said = parts.map(part => itemSchema(part, index)).filter(schema => schema !== undefined)
  if (said.length > 0) return said
  return parts.map(part => schemaOf(part, 'unevaluatedItems')).filter(schema => schema !== undefined)
}

function fillItems(parts: JsonObject[], length: number, maker: Maker): unknown[] | undefined {
  const unique = parts.some(part => part.uniqueItems === true)
  const wanted = listWanted(parts)
  const unwanted = listUnwanted(parts)
  const alikeFrom = Math.max(0, ...parts.map(part => firstItems(part).length))
  const solveItem = (index: number, also: Schema[]) =>
    maker.solve([...itemParts(parts, index), ...also], { variety: maker.place.variety + (unique ? length : 0) })
  // Past the tuple nothing tells items apart: one search serves for all of them.
  const alike = solveItem(alikeFrom, unwanted)
  const items: unknown[] = []
  for (let index = 0; index < length; index++) {
    const wantedHere = wanted[index - (length - wanted.length)]
    const isAlike = wantedHere === undefined && index >= alikeFrom
    const mayRepeat = isAlike && !unique && index > alikeFrom
    const candidates = isAlike ? alike : solveItem(index, wantedHere === undefined ? unwanted : [wantedHere])
    const item = mayRepeat ? items[index - 1] : takeItem(candidates, unique ? items : [], maker)
    if (item === undefined) return undefined
    maker.shop.budget.spend(sizeOfValue(item))
    items.push(item)
  }
  return items
}

/** The next candidate that equals none of the others; undefined where there is none. */
function takeItem(candidates: Generator<unknown>, others: unknown[], maker: Maker): unknown {
  for (let next = candidates.next(); !next.done; next = candidates.next()) {
    const item = next.value
    maker.shop.budget.spend(others.length / 64)
    if (!others.some(other => jsonEquals(item, other))) return item
  }
  return undefined
}

/** For those who need another array: the same with another last item. */
function* varyLastItem(parts: JsonObject[], items: unknown[], maker: Maker): Generator<unknown[]> {
  const last = items.length - 1
  if (last < 0) return
  let left = maker.place.variety
  for (const item of maker.solve(itemParts(parts, last))) {
    if (left-- <= 0) return
    if (!items.some(other => jsonEquals(item, other))) yield [...items.slice(0, last), item]
  }
}
