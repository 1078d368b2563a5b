/** Which of the catalogue's models a request is charged for, where several could have answered. */
import { type Catalogue, costUsd } from '../catalogue/catalogue.ts'
import type { JsonObject } from '../formats/json/canonical.ts'
import type { TokenUsage } from '../formats/token-usage.ts'
import type { CatalogueModel } from '../postgres/list-models.ts'
import { alternativesOf } from './parse-request.ts'

interface Asked {
  model: string
  body: JsonObject
}

/** Undefined when its price is not known. */
function findAnswering(
  { find }: Pick<Catalogue, 'find'>,
  pricedAs: string,
  { model, body }: Asked,
  { answeredAs }: Pick<TokenUsage, 'answeredAs'>,
): CatalogueModel | undefined {
  const isOther = answeredAs !== undefined && alternativesOf(body).length > 0
  return find(pricedAs, isOther ? answeredAs : model)
}

/** In US dollars, by the prices of the models that took part; null when one of them is not known. `pricedAs` is null where all is free. */
export function costOfAnswer(
  catalogue: Pick<Catalogue, 'find'>,
  pricedAs: string | null,
  asked: Asked,
  usage: TokenUsage,
): number | null {
  if (pricedAs === null) return 0
  const find = (model: string) => catalogue.find(pricedAs, model)
  // In its parts, no name stands for the model that was asked.
  const own = usage.parts ? find(asked.model) : findAnswering(catalogue, pricedAs, asked, usage)
  return costUsd(own, usage, find)
}
