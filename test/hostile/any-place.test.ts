/** A hostile text in one place of a request takes time in proportion to its length: a part of the places, each with another shape. */
import { tryPlaces } from '../harness/try-places.ts'

tryPlaces('hostile texts in some places', { everyPlace: 3, shapes: 1, limitMs: 60_000 })
