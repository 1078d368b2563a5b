/** A hostile text in one place of a request takes time in proportion to its length: all places, each with several shapes. */
import { tryPlaces } from '../harness/try-places.ts'

tryPlaces('hostile texts in every place', { everyPlace: 1, shapes: 3, limitMs: 300_000 })
